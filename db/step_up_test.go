package db_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"quartermaster/db/dbtest"
	"quartermaster/internal/fault"
	"quartermaster/internal/portal"
	"quartermaster/internal/signin"
)

func TestAProofIsKeptForItsSessionAndSpentOnce(t *testing.T) {
	w := newWorld(t)
	ada, at := w.id("ada"), time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	proof := func(session string, at time.Time, digests ...string) portal.StepUp {
		s := portal.StepUp{ID: uuid.NewString(), SessionID: session, PersonID: ada, By: signin.ProofTOTP, Digests: digests, At: at}
		w.tx(func(ctx context.Context, tx portal.Tx) error { return tx.InsertStepUp(ctx, s) })
		return s
	}
	old, first, second := proof("one", at.Add(-time.Hour), "a"), proof("one", at, "a", "b"), proof("one", at.Add(time.Second), "c")
	proof("two", at, "a")
	found, err := w.StepUpsOf(t.Context(), ada, "one", at)
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, []string{second.ID, first.ID}, []string{found[0].ID, found[1].ID}, "newest first, not the old one")
	require.Equal(t, []string{"a", "b"}, found[1].Digests)

	spend := func(id string) (ok bool) {
		w.tx(func(ctx context.Context, tx portal.Tx) (err error) {
			ok, err = tx.SpendStepUp(ctx, id, at)
			return err
		})
		return ok
	}
	require.True(t, spend(first.ID))
	require.False(t, spend(first.ID))
	kept, err := w.StepUp(t.Context(), first.ID)
	require.NoError(t, err)
	require.True(t, kept.Spent.Equal(at))
	found, err = w.StepUpsOf(t.Context(), ada, "one", old.At)
	require.NoError(t, err)
	require.Len(t, found, 2, "what is spent serves nothing")
	for _, id := range []string{"", "no id", uuid.NewString()} {
		_, err = w.StepUp(t.Context(), id)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
	}
}

// Not even the portal's own role can widen a proof, make it younger or use a code again.
func TestAProofAndARecoveryCodeStayWhatTheyAre(t *testing.T) {
	address := dbtest.URL(t)
	owner, app := dbtest.Open(t, address), dbtest.Open(t, dbtest.AppURL(t, address))
	var person string
	require.NoError(t, owner.Get(&person, `INSERT INTO person (issuer, subject, name) VALUES ('i', 's', 'n') RETURNING id`))
	insert := func(digests []string, by string) error {
		_, err := app.Exec(`INSERT INTO step_up (id, session_id, person_id, proven_by, digests, at) VALUES (gen_random_uuid(), 's', $1, $2, $3, now())`, person, by, pq.Array(digests))
		return err
	}
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	require.NoError(t, insert(many[:100], "totp"))
	require.Error(t, insert(many, "totp"), "at most a hundred")
	require.Error(t, insert([]string{}, "totp"), "a proof of nothing")
	require.Error(t, insert([]string{"a"}, "smile"))
	_, err := app.Exec(`INSERT INTO recovery_code (person_id, digest, made_at) VALUES ($1, 'd', now())`, person)
	require.NoError(t, err)
	for _, statement := range []string{
		`UPDATE step_up SET digests = '{everything}'`, `UPDATE step_up SET at = now() + interval '1 hour'`, `UPDATE step_up SET session_id = 'mine'`, `UPDATE step_up SET person_id = person_id`,
		`DELETE FROM step_up`, `TRUNCATE step_up`, `UPDATE recovery_code SET digest = 'mine'`, `UPDATE recovery_code SET made_at = now()`, `DELETE FROM recovery_code`, `TRUNCATE recovery_code`,
	} {
		_, err := app.Exec(statement)
		var e *pq.Error
		require.ErrorAs(t, err, &e, statement)
		require.Equal(t, "insufficient_privilege", e.Code.Name(), statement)
	}
	for _, statement := range []string{`UPDATE step_up SET spent_at = now()`, `UPDATE recovery_code SET used_at = now(), retired_at = now()`} {
		_, err := app.Exec(statement)
		require.NoError(t, err, statement)
	}
}
