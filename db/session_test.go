package db_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/portal"
)

func TestSessionsOpenAndEndOnce(t *testing.T) {
	w := newWorld(t)
	ids := map[string]string{}
	open := func(name, subject, sid string) {
		ids[name] = uuid.NewString()
		w.tx(func(ctx context.Context, tx portal.Tx) error {
			return tx.InsertSession(ctx, ids[name], w.id(subject), sid, noon)
		})
	}
	open("one", "ada", "s1")
	open("two", "ada", "s2")
	open("other", "mia", "s1")
	end := func(issuer, subject, sid string) (ended []portal.EndedSession) {
		w.tx(func(ctx context.Context, tx portal.Tx) (err error) {
			ended, err = tx.EndSessionsOf(ctx, issuer, subject, sid, noon)
			return err
		})
		return ended
	}
	is := func(name string) bool {
		_, open, err := w.SessionPerson(t.Context(), ids[name])
		require.NoError(t, err)
		return open
	}
	who, isOpen, err := w.SessionPerson(t.Context(), ids["one"])
	require.NoError(t, err)
	require.True(t, isOpen)
	require.Equal(t, w.id("ada"), who)

	require.Empty(t, end(issuer, "", ""), "naming nobody ends nothing")
	require.Empty(t, end("https://other.example", "ada", "s1"), "another provider has no say")
	ended := end(issuer, "ada", "s1")
	require.Len(t, ended, 1)
	require.Equal(t, ids["one"], ended[0].ID)
	require.Equal(t, "Ada", ended[0].Person.Name)
	require.False(t, is("one"))
	require.True(t, is("two"))
	require.True(t, is("other"))
	require.Len(t, end(issuer, "", "s1"), 1, "of the provider's session, whoever it is")
	require.Len(t, end(issuer, "ada", ""), 1)
	require.Empty(t, end(issuer, "ada", ""))

	open("three", "ada", "")
	for _, want := range []bool{true, false} {
		w.tx(func(ctx context.Context, tx portal.Tx) error {
			was, err := tx.EndSession(ctx, ids["three"], noon)
			require.Equal(t, want, was)
			return err
		})
	}
}

func TestALogoutTokenCountsOnce(t *testing.T) {
	w := newWorld(t)
	first := func(id string, until time.Time) (first bool) {
		w.tx(func(ctx context.Context, tx portal.Tx) (err error) {
			first, err = tx.FirstLogout(ctx, id, until)
			return err
		})
		return first
	}
	require.True(t, first("a", time.Now().Add(time.Hour)))
	require.False(t, first("a", time.Now().Add(time.Hour)))
	require.True(t, first("b", time.Now().Add(-48*time.Hour)))
	require.False(t, first("b", time.Now().Add(-48*time.Hour)))
	require.True(t, first("c", time.Now()))
	var kept []string
	require.NoError(t, w.owner.Select(&kept, `SELECT jti FROM logout_token ORDER BY jti`))
	require.Equal(t, []string{"a", "c"}, kept, "long expired ones are forgotten")
}

func TestASecondFactorIsProposedConfirmedAndSpentOnce(t *testing.T) {
	w := newWorld(t)
	ada := w.id("ada")
	var kept []byte
	propose := func(key string) {
		w.tx(func(ctx context.Context, tx portal.Tx) (err error) {
			kept, err = tx.ProposeTOTP(ctx, ada, []byte(key))
			return err
		})
	}
	confirm := func(step int64) (ok bool) {
		w.tx(func(ctx context.Context, tx portal.Tx) (err error) {
			ok, err = tx.ConfirmTOTP(ctx, ada, step)
			return err
		})
		return ok
	}
	require.False(t, confirm(1), "nothing is proposed")
	propose("first")
	propose("second")
	require.Equal(t, "first", string(kept), "two open tabs show one key")
	sealed, pending, last, err := w.TOTP(t.Context(), ada)
	require.NoError(t, err)
	require.Nil(t, sealed)
	require.Equal(t, "first", string(pending))
	require.Zero(t, last)
	require.True(t, confirm(100))
	require.False(t, confirm(101))
	sealed, pending, last, err = w.TOTP(t.Context(), ada)
	require.NoError(t, err)
	require.Equal(t, "first", string(sealed))
	require.Nil(t, pending)
	require.EqualValues(t, 100, last)
	propose("thief's")
	require.False(t, confirm(101), "a key in use is not replaced")

	var ok atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := w.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
				spent, err := tx.SpendTOTP(ctx, ada, 101)
				if spent {
					ok.Add(1)
				}
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, ok.Load(), "a code opens once")
}
