package portal_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"quartermaster/db/dbtest"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/soak"
)

// pushed is a yard on which a request was granted and enforced, and everything signed.
func pushed(t *testing.T) (*yard, *sqlx.DB) {
	t.Helper()
	y := newYard(t)
	_, out := y.granted(ask("h100", 16))
	y.apply(out.Changes[0])
	require.NoError(t, y.Include(t.Context()))
	y.intact()
	return y, dbtest.Open(t, y.owner)
}

// behind changes something as a superuser who switched the guards off.
func behind(t *testing.T, owner *sqlx.DB, table, statement string, args ...any) {
	t.Helper()
	tx := owner.MustBegin()
	defer tx.Rollback()
	tx.MustExec(`ALTER TABLE ` + table + ` DISABLE TRIGGER USER`)
	tx.MustExec(statement, args...)
	tx.MustExec(`ALTER TABLE ` + table + ` ENABLE TRIGGER USER`)
	require.NoError(t, tx.Commit())
}

func (d *desk) problems(in portal.VerifyInput) string {
	d.t.Helper()
	v, err := d.VerifyRecord(d.t.Context(), in)
	require.NoError(d.t, err)
	var out []string
	for _, p := range v.Problems {
		out = append(out, p.String())
	}
	return strings.Join(out, "\n")
}

// Whatever a superuser changes behind the portal, verify says which row it was.
func TestVerifyNamesWhatASuperuserChanged(t *testing.T) {
	y, owner := pushed(t)
	var entry string
	require.NoError(t, owner.Get(&entry, `SELECT id FROM ledger_entry WHERE type = 'request.decided' ORDER BY ordinal LIMIT 1`))
	for _, c := range []struct{ table, change, back, says string }{
		{"decision", `UPDATE decision SET stage_key = 'tean' WHERE stage_key = 'team'`, `UPDATE decision SET stage_key = 'team' WHERE stage_key = 'tean'`, "stage_key is not what its entry says"},
		{"decision", `UPDATE decision SET granted = replace(granted::text, '"16"', '"17"')::jsonb`, `UPDATE decision SET granted = replace(granted::text, '"17"', '"16"')::jsonb`, "granted is not what its entry says"},
		{"ledger_entry", `UPDATE ledger_entry SET canonical = set_byte(canonical, 40, get_byte(canonical, 40) # 1) WHERE id = '` + entry + `'`, `UPDATE ledger_entry SET canonical = set_byte(canonical, 40, get_byte(canonical, 40) # 1) WHERE id = '` + entry + `'`, entry + ": the content does not match its digest"},
		{"ledger_leaf", `UPDATE ledger_leaf SET hashes = set_byte(hashes, 3, get_byte(hashes, 3) # 1) WHERE index = 4`, `UPDATE ledger_leaf SET hashes = set_byte(hashes, 3, get_byte(hashes, 3) # 1) WHERE index = 4`, "leaf 4 of the tree is not the hash of its entry"},
		{"ledger_leaf", `UPDATE ledger_leaf SET hashes = set_byte(hashes, 40, get_byte(hashes, 40) # 1) WHERE index = 3`, `UPDATE ledger_leaf SET hashes = set_byte(hashes, 40, get_byte(hashes, 40) # 1) WHERE index = 3`, "the stored nodes of the tree at leaf 3 do not follow"},
		{"ledger_checkpoint", `UPDATE ledger_checkpoint SET note = replace(note, 'quartermaster/', 'quartermastar/')`, `UPDATE ledger_checkpoint SET note = replace(note, 'quartermastar/', 'quartermaster/')`, "is signed by no trusted key"},
		{"grant_line", `UPDATE grant_line SET amount = '17'`, `UPDATE grant_line SET amount = '16'`, "amount is not what its entry says"},
		{"change", `UPDATE change SET state = 'stopped'`, `UPDATE change SET state = 'verified'`, "state is not what its entry says"},
		{"change", `UPDATE change SET readback = replace(readback::text, '"16"', '"17"')::jsonb`, `UPDATE change SET readback = replace(readback::text, '"17"', '"16"')::jsonb`, "readback is not what its entry says"},
		{"ledger_opening", `UPDATE ledger_opening SET text = text || '.' WHERE name = 'actor'`, `UPDATE ledger_opening SET text = left(text, -1) WHERE name = 'actor'`, "table ledger_opening"},
	} {
		behind(t, owner, c.table, c.change)
		found := y.problems(portal.VerifyInput{})
		require.Contains(t, found, c.says, c.change)
		if c.table != "ledger_entry" && !strings.HasPrefix(c.table, "ledger_") {
			require.Contains(t, found, "table "+c.table+", row ")
		}
		behind(t, owner, c.table, c.back)
		require.Empty(t, y.problems(portal.VerifyInput{}), "put back, it is whole again: %s", c.back)
	}
	behind(t, owner, "decision", `DELETE FROM decision WHERE stage_key = 'capacity'`)
	require.Contains(t, y.problems(portal.VerifyInput{}), "the row is gone; its entry is there")
}

// With the key stolen and everything made up anew, the database fits itself. Whoever
// kept an older checkpoint sees it all the same.
func TestAnOlderCheckpointCatchesAStolenKey(t *testing.T) {
	y, owner := pushed(t)
	kept, found, err := y.store.LastCheckpoint(t.Context())
	require.NoError(t, err)
	require.True(t, found)
	old, err := ledger.OpenCheckpoint(kept.Note, y.record.Trusted, "")
	require.NoError(t, err)
	since := portal.VerifyInput{Since: []ledger.Signed{{Checkpoint: old, Name: "the older checkpoint"}}}
	require.Empty(t, y.problems(since))

	var forged struct {
		Ordinal   int64  `db:"ordinal"`
		Canonical []byte `db:"canonical"`
		Kind      string `db:"object_kind"`
		ID        string `db:"object_id"`
	}
	require.NoError(t, owner.Get(&forged, `SELECT e.ordinal, e.canonical, e.object_kind, e.object_id FROM ledger_entry e JOIN ledger_head h USING (object_kind, object_id, digest) ORDER BY e.ordinal LIMIT 1`))
	e, err := ledger.Parse(forged.Canonical)
	require.NoError(t, err)
	e.Via = "forged"
	raw, err := e.Canonical()
	require.NoError(t, err)
	behind(t, owner, "ledger_entry", `UPDATE ledger_entry SET canonical = $1, digest = $2 WHERE ordinal = $3`, raw, ledger.Digest(raw), forged.Ordinal)
	owner.MustExec(`UPDATE ledger_head SET digest = $1 WHERE object_kind = $2 AND object_id = $3`, ledger.Digest(raw), forged.Kind, forged.ID)
	behind(t, owner, "ledger_leaf", `DELETE FROM ledger_leaf`)
	behind(t, owner, "ledger_checkpoint", `DELETE FROM ledger_checkpoint`)
	_, err = y.NewSequencer().Run(t.Context(), false)
	require.NoError(t, err)
	thief := y.NewSigner(y.record.Store, y.record.Key, y.record.Trusted)
	signed, err := thief.Sign(t.Context())
	require.NoError(t, err)
	require.True(t, signed)

	require.Empty(t, y.problems(portal.VerifyInput{}), "inside the database nothing shows")
	require.Contains(t, y.problems(since), "the older checkpoint (size "+fmt.Sprint(old.Size)+") has another root than the entries give")
	_, err = y.record.Signer.Sign(t.Context())
	var broken *portal.Broken
	require.ErrorAs(t, err, &broken, "the signer that was there remembers what it signed")
}

// An entry that got its ordinal early and was committed late is not lost, however
// often the sequencer ran in between.
func TestWhatIsCommittedLateIsSequenced(t *testing.T) {
	d := newDesk(t)
	s := d.NewSequencer()
	run := func() int {
		n, err := s.Run(t.Context(), false)
		require.NoError(t, err)
		return n
	}
	run()
	append1 := func(ctx context.Context, tx portal.Tx, id string) error {
		_, err := tx.Append(ctx, ledger.Entry{Type: ledger.JobAction, At: ledger.Time(noon), Outcome: ledger.Done, Via: "job", Actor: ledger.Actor{ID: "job:x"}, Object: ledger.Object{Kind: "test", ID: id}}, portal.EntryRefs{}, nil)
		return err
	}
	held, letGo, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- d.store.InTx(context.Background(), func(ctx context.Context, tx portal.Tx) error {
			if err := append1(ctx, tx, "late"); err != nil {
				return err
			}
			close(held)
			<-letGo
			return nil
		})
	}()
	<-held
	for i := range 5 {
		d.tx(func(ctx context.Context, tx portal.Tx) error { return append1(ctx, tx, fmt.Sprint("early", i)) })
		require.Equal(t, 1, run())
		require.Zero(t, run())
	}
	close(letGo)
	require.NoError(t, <-done)
	require.Equal(t, 1, run(), "the late one")
	require.NoError(t, d.Include(t.Context()))
	d.intact()
	size, err := d.store.TreeSize(t.Context())
	require.NoError(t, err)
	var entries int64
	require.NoError(t, dbtest.Open(t, d.owner).Get(&entries, `SELECT count(*) FROM ledger_entry`))
	require.Equal(t, entries, size)
}

// Two sequencers and two signers at once, without the lock that keeps them apart: no
// gap, no entry twice, no two roots of one size.
func TestTwoReplicasRaceAndNothingIsDoubled(t *testing.T) {
	d := newDesk(t)
	entries := soak.Count(120, 3000)
	var writers, keepers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		keepers.Go(func() {
			s, signer := d.NewSequencer(), d.NewSigner(d.record.Store, d.record.Key, d.record.Trusted)
			for {
				if _, err := s.Run(context.Background(), true); err != nil && !portal.Raced(err) {
					t.Error(err)
					return
				}
				if _, err := signer.Sign(context.Background()); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for w := range 3 {
		writers.Go(func() {
			for i := range entries / 3 {
				err := d.store.InTx(context.Background(), func(ctx context.Context, tx portal.Tx) error {
					_, err := tx.Append(ctx, ledger.Entry{Type: ledger.JobAction, At: ledger.Time(noon), Outcome: ledger.Done, Via: "job", Actor: ledger.Actor{ID: "job:x"}, Object: ledger.Object{Kind: "test", ID: fmt.Sprint(w, i%7)}}, portal.EntryRefs{}, nil)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	keepers.Wait()
	require.NoError(t, d.Include(t.Context()))
	d.intact()
	owner := dbtest.Open(t, d.owner)
	var left int
	require.NoError(t, owner.Get(&left, `SELECT (SELECT count(*) FROM ledger_entry) - (SELECT count(*) FROM ledger_leaf) + (SELECT max(index) + 1 - count(*) FROM ledger_leaf)`))
	require.Zero(t, left, "each entry has one leaf, and no leaf is missing")
}

// A record that is not as it was written stops signing and pushing, until a check
// finds it whole again or somebody lifts the stop on record.
func TestABrokenRecordStopsThePush(t *testing.T) {
	y := newYard(t)
	owner := dbtest.Open(t, y.owner)
	_, out := y.granted(ask("h100", 16))
	const flip = `UPDATE ledger_entry SET canonical = set_byte(canonical, 40, get_byte(canonical, 40) # 1) WHERE type = 'org.imported'`
	behind(t, owner, "ledger_entry", flip)

	res, err := y.ApplyChange(t.Context(), out.Changes[0])
	require.NoError(t, err)
	require.NotEqual(t, portal.ChangeVerified, res.State)
	state, err := y.RecordState(t.Context())
	require.NoError(t, err)
	require.False(t, state.OK)
	require.Contains(t, state.Problem, "its content does not match its digest")
	res, err = y.ApplyChange(t.Context(), out.Changes[0])
	require.NoError(t, err)
	require.Equal(t, portal.ChangePlanned, res.State)
	require.Contains(t, res.Problem, "The record failed its check")
	require.Positive(t, res.Again, "it waits, and uses up no attempt")
	_, signed, err := y.store.LastCheckpoint(t.Context())
	require.NoError(t, err)
	require.False(t, signed)

	require.Error(t, y.ClearRecord(t.Context(), portal.Actor{System: "operator:x", Via: "cli"}, " "), "without a reason nothing is lifted")
	behind(t, owner, "ledger_entry", flip)
	v, err := y.CheckRecord(t.Context(), portal.Actor{System: "operator:x", Via: "cli"})
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	y.apply(out.Changes[0])
	c, err := y.store.Change(t.Context(), out.Changes[0])
	require.NoError(t, err)
	require.Equal(t, portal.ChangeVerified, c.State)
	y.intact()
}

// Whoever decided takes a receipt away, and it verifies with the public key alone.
func TestWhoDecidesGetsAReceipt(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	out := d.decide("ben", approve(ref, "team"))
	receipt, err := d.Receipt(t.Context(), d.as("ben"), out.EntryID)
	if err != nil { // asked for; there the next time
		require.ErrorContains(t, err, "not signed yet")
		receipt, err = d.Receipt(t.Context(), d.as("ben"), out.EntryID)
	}
	require.NoError(t, err)
	e, _, _, err := receipt.Check(d.record.Trusted)
	require.NoError(t, err)
	require.Equal(t, out.EntryID, e.ID)
	require.Equal(t, d.people["ben"].ID, e.Actor.ID)
	_, err = d.Receipt(t.Context(), d.as("tom"), out.EntryID)
	require.ErrorContains(t, err, "no such entry that you may see")
}
