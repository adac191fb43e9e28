package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/policy"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
)

func TestARequestComesBackAsItWasSaved(t *testing.T) {
	w := newWorld(t)
	start, end := noon.Add(time.Hour), noon.Add(48*time.Hour)
	c := request.Content{Kind: request.Quota, ProjectID: "cv", Environment: "production", DataClass: "internal", WorkloadType: "training",
		Purpose: "träin \"models\" \\ <b>", Justification: "line\nbreak", RuntimeHours: 12, BeneficiaryID: w.id("mia"), Lines: []request.Line{
			{PoolID: "east-h100", Current: fleet.Known(fleet.Count(0)), InUse: fleet.Unknown, Asked: fleet.MustQuantity("12000m"), Kind: request.Burst, Start: &start, End: &end},
			{PoolID: "west-h100", Current: fleet.Unknown, Asked: fleet.Count(8), Kind: request.Soft},
		}}
	r := w.draftOf("ada", c)
	require.EqualValues(t, 1, r.Number)
	require.Equal(t, 1, r.Version)
	require.Equal(t, noon, r.CreatedAt)
	require.Equal(t, []string{w.id("ada")}, r.EditorIDs)
	require.Equal(t, request.Draft, r.State)
	require.Empty(t, r.Route.Stages)
	digest, err := r.Revision.Content.Digest()
	require.NoError(t, err)
	require.Equal(t, r.Revision.Digest, digest, "what was stored has the digest it was stored under")
	require.Equal(t, fleet.Unknown, r.Revision.Content.Lines[0].InUse)
	require.True(t, r.Revision.Content.Lines[0].Current.Known, "a known 0 is not unknown")

	byNumber, err := w.RequestByNumber(t.Context(), r.Number)
	require.NoError(t, err)
	require.Equal(t, r, byNumber)
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		locked, err := tx.RequestForUpdate(ctx, r.ID)
		require.Equal(t, r, locked)
		return err
	})

	submitted := w.submit(r, noon.Add(time.Minute))
	require.Equal(t, request.Submitted, submitted.State)
	require.Equal(t, 2, submitted.Version)
	require.Equal(t, 48*time.Hour, submitted.Route.Stages[0].RespondWithin)
	require.Equal(t, "research", submitted.Route.Stages[0].Places[0].UnitID)

	decided := w.decide(submitted, "mia", approval.Approve, noon.Add(time.Hour))
	require.Equal(t, request.InReview, decided.State)
	require.Len(t, decided.Decisions, 1)
	d := decided.Decisions[0]
	require.Equal(t, "reason of mia", d.Reason, "read from its opening")
	require.Equal(t, []string{"otp"}, d.Factors)
	require.Equal(t, noon.Add(time.Hour), d.At)
	require.True(t, d.Granted[0].Amount.Equal(fleet.Count(12)))
	require.Equal(t, end, *d.Granted[0].End)
}

func TestSavingOverSomebodyElsesSaveIsStale(t *testing.T) {
	w := newWorld(t)
	r := w.draft("ada", "cv", line("east-h100", 4))
	mine, theirs := r, r
	withdrawn, err := theirs.Withdraw(noon)
	require.NoError(t, err)
	w.save(withdrawn)
	w.fails(fault.Stale, func(ctx context.Context, tx portal.Tx) error { return tx.SaveRequest(ctx, mine) })
	require.Equal(t, request.Withdrawn, w.load(r.ID).State)
	require.Equal(t, noon, *w.load(r.ID).ClosedAt)

	r.ID = uuid.NewString()
	w.fails(fault.NotFound, func(ctx context.Context, tx portal.Tx) error { return tx.SaveRequest(ctx, r) })
}

func TestRevisionsKeepEachWordingAndTheLastOfEachNumber(t *testing.T) {
	w := newWorld(t)
	r := w.draft("ada", "cv", line("east-h100", 4))
	edit := func(subject, purpose string, n int64) {
		c := r.Revision.Content
		c.Purpose, c.Lines = purpose, []request.Line{line("east-a100", n)}
		next, err := r.Edit(c, w.id(subject), noon)
		require.NoError(t, err)
		w.save(next)
		r = w.load(r.ID)
	}
	edit("ada", "a better draft", 5)
	r = w.submit(r, noon)
	r = w.decide(r, "mia", approval.Return, noon.Add(time.Minute))
	edit("sol", "after the questions", 6)

	revisions, err := w.Revisions(t.Context(), r.ID)
	require.NoError(t, err)
	require.Len(t, revisions, 2)
	require.Equal(t, "a better draft", revisions[0].Content.Purpose)
	require.Equal(t, 2, revisions[1].Number)
	require.Equal(t, w.id("sol"), revisions[1].EditorID)
	require.Equal(t, []string{w.id("ada"), w.id("sol")}, r.EditorIDs)
	var kept int
	require.NoError(t, w.owner.Get(&kept, `SELECT count(*) FROM request_revision WHERE request_id = $1`, r.ID))
	require.Equal(t, 3, kept, "the first draft is kept too")

	w.save(r) // nothing new
	require.NoError(t, w.owner.Get(&kept, `SELECT count(*) FROM request_revision WHERE request_id = $1`, r.ID))
	require.Equal(t, 3, kept)
}

func TestOnePersonDecidesOnceOnARevision(t *testing.T) {
	w := newWorld(t)
	r := w.submit(w.draft("ada", "cv", line("east-h100", 4)), noon)
	r = w.decide(r, "mia", approval.Approve, noon)
	d := r.Decisions[0]
	for _, who := range []string{"mia", "cap"} { // cap claims mia's identity
		d.ID, d.PersonID, d.StageKey = uuid.NewString(), w.id(who), "capacity"
		w.fails(fault.Conflict, func(ctx context.Context, tx portal.Tx) error { return tx.InsertDecision(ctx, d, uuid.NewString()) })
	}
}

func TestCommentsAndChecksComeBackInOrder(t *testing.T) {
	w := newWorld(t)
	r := w.draft("ada", "cv", line("east-h100", 4))
	for i, text := range []string{"first", "secönd"} {
		w.tx(func(ctx context.Context, tx portal.Tx) error {
			row, err := tx.Append(ctx, w.entry("mia", "request.commented", "request", r.ID), portal.EntryRefs{RequestID: r.ID}, map[string]string{portal.OpeningText: text})
			if err != nil {
				return err
			}
			return tx.InsertComment(ctx, uuid.NewString(), r.ID, w.id("mia"), row.Entry.ID, noon.Add(time.Duration(i)*time.Second))
		})
	}
	comments, err := w.Comments(t.Context(), r.ID)
	require.NoError(t, err)
	require.Len(t, comments, 2)
	require.Equal(t, "secönd", comments[1].Text)
	require.Equal(t, "Mia", comments[1].PersonName)
	require.False(t, comments[1].Erased)

	// The owner erases a text on a person's request; the app never can.
	w.owner.MustExec(`ALTER TABLE ledger_opening DISABLE TRIGGER refuse_change; UPDATE ledger_opening SET text = NULL; ALTER TABLE ledger_opening ENABLE ALWAYS TRIGGER refuse_change`)
	comments, err = w.Comments(t.Context(), r.ID)
	require.NoError(t, err)
	require.True(t, comments[0].Erased)
	require.Empty(t, comments[0].Text)

	results := []policy.Result{
		{ID: "fits", Version: "1", Title: "Fits", Severity: policy.Deny, Outcome: policy.Pass, Message: "4 of 64", PoolID: "east-h100"},
		{ID: "use", Version: "2", Title: "Use", Severity: policy.Warn, Outcome: policy.Unknown, Message: "not read"},
	}
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		return tx.InsertChecks(ctx, r.ID, r.Revision.Digest, "submission", results, noon)
	})
	kept, err := w.Checks(t.Context(), r.ID)
	require.NoError(t, err)
	require.Len(t, kept, 2)
	for i := range kept {
		require.Equal(t, results[i], kept[i].Result)
		require.Equal(t, noon, kept[i].At)
		require.Equal(t, r.Revision.Digest, kept[i].Digest)
	}
	rows, err := w.RequestList(t.Context(), portal.RequestQuery{})
	require.NoError(t, err)
	require.Equal(t, 1, rows[0].Warnings)
}

func TestGrantsAndTheirEnds(t *testing.T) {
	w := newWorld(t)
	start, end := noon.Add(time.Hour), noon.Add(3*time.Hour)
	var grants []portal.GrantRow
	for i, g := range []fleet.Grant{
		{PoolID: "east-h100", Kind: fleet.HardGrant, Amount: fleet.MustQuantity("8")},
		{PoolID: "east-h100", Kind: fleet.BurstGrant, Amount: fleet.MustQuantity("1500m"), Start: &start, End: &end},
		{PoolID: "east-a100", Kind: fleet.SoftGrant, Amount: fleet.MustQuantity("0"), End: &end},
	} {
		r := w.draft("ada", "cv", line(g.PoolID, 8))
		g.ID, g.RequestID = uuid.NewString(), r.ID
		row := portal.GrantRow{Grant: g, ProjectID: "cv", Environment: "development", Asked: fleet.MustQuantity("10"), Digest: r.Revision.Digest, MadeAt: noon}
		w.tx(func(ctx context.Context, tx portal.Tx) (err error) {
			row.Seq, err = tx.InsertGrant(ctx, row)
			return err
		})
		require.EqualValues(t, i+1, row.Seq)
		grants = append(grants, row)
	}
	got, err := w.GrantsOfPlace(t.Context(), "cv", "development")
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, grants[1], got[1])
	of, err := w.GrantsOfRequest(t.Context(), grants[0].RequestID)
	require.NoError(t, err)
	require.Equal(t, grants[:1], of)
	none, err := w.GrantsOfPlace(t.Context(), "cv", "production")
	require.NoError(t, err)
	require.Empty(t, none)

	due := func(after, until time.Time) int {
		t.Helper()
		places, err := w.GrantsDue(t.Context(), after, until)
		require.NoError(t, err)
		return len(places)
	}
	require.Equal(t, 0, due(noon, start.Add(-time.Microsecond)))
	require.Equal(t, 1, due(noon, start), "until counts")
	require.Equal(t, 0, due(start, start.Add(time.Minute)), "after does not")
	require.Equal(t, 1, due(start, end), "two ends in one place are one place")

	// Revoked before it started: neither its start nor its end is due any more.
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		if err := tx.EndGrant(ctx, grants[1].ID, "revoked", noon.Add(time.Minute)); err != nil {
			return err
		}
		return tx.EndGrant(ctx, grants[1].ID, "superseded", noon.Add(2*time.Minute)) // too late
	})
	got, err = w.GrantsOfPlace(t.Context(), "cv", "development")
	require.NoError(t, err)
	require.Equal(t, "revoked", got[1].EndCause)
	require.Equal(t, noon.Add(time.Minute), *got[1].Revoked)
	require.Equal(t, 0, due(noon, noon.Add(2*time.Minute)), "whoever revokes plans the change")
	require.Equal(t, 0, due(noon.Add(2*time.Minute), start))
	require.Equal(t, 1, due(start, end), "the soft grant")
	w.tx(func(ctx context.Context, tx portal.Tx) error { return tx.EndGrant(ctx, grants[2].ID, "expired", end) })
	require.Equal(t, 0, due(start, end), "what a tick handled is not due again")

	for range 2 {
		w.tx(func(ctx context.Context, tx portal.Tx) error {
			_, err := tx.StartGrant(ctx, grants[0].ID, noon)
			return err
		})
	}
	w.fails(fault.Conflict, func(ctx context.Context, tx portal.Tx) error {
		again := grants[0]
		again.ID = uuid.NewString()
		_, err := tx.InsertGrant(ctx, again)
		return err
	})
}
