package portal_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/db/dbtest"
	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
)

// exported is the CSV of q as rows of column → cell.
func (d *desk) exported(subject string, q portal.EntryQuery) []map[string]string {
	d.t.Helper()
	var b bytes.Buffer
	began := 0
	require.NoError(d.t, d.ExportHistory(d.t.Context(), d.as(subject), q, &b, func() { began++; assert.Zero(d.t, b.Len()) }))
	require.Equal(d.t, 1, began)
	require.True(d.t, strings.HasSuffix(b.String(), "\r\n"))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(d.t, err)
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = row[i]
		}
		out = append(out, m)
	}
	return out
}

// An auditor finds both decisions with their reasons and takes them away.
func TestAuditorTakesTheHistoryAway(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	first := approve(ref, "team")
	first.Reason = "=HYPERLINK(\"http://x\"), yes"
	d.decide("ben", first)
	d.decide("cleo", approve(ref, "capacity", 12))
	other := d.submitted(quota(ask("a100", 2)))
	no := approve(other, "team")
	no.Outcome, no.Reason = approval.Reject, "-2+3+cmd"
	d.decide("ben", no)

	rows := d.exported("otto", portal.EntryQuery{Types: []ledger.Type{ledger.RequestDecided}, PoolID: "h100"})
	require.Len(t, rows, 2)
	assert.Equal(t, []string{"Cleo", "Ben"}, []string{rows[0]["person"], rows[1]["person"]}, "newest first")
	assert.Equal(t, "12", rows[0]["granted"])
	assert.Equal(t, "16", rows[0]["asked"])
	assert.Equal(t, "capacity_manager", rows[0]["role"])
	assert.Equal(t, "2026-12-02T12:00:02Z", rows[0]["at"])
	assert.Equal(t, fmt.Sprint(ref.Number), rows[0]["request"])
	assert.Equal(t, "'=HYPERLINK(\"http://x\"), yes", rows[1]["reason"])
	rejected := d.exported("otto", portal.EntryQuery{Types: []ledger.Type{ledger.RequestDecided}, PoolID: "a100"})
	require.Len(t, rejected, 1)
	assert.Equal(t, "'-2+3+cmd", rejected[0]["reason"])

	exports, err := d.SearchHistory(t.Context(), d.as("otto"), portal.EntryQuery{Types: []ledger.Type{ledger.Exported}})
	require.NoError(t, err)
	require.Len(t, exports.Rows, 2, "taking it away is on record")
	assert.Equal(t, "a100", exports.Rows[0].Entry.Facts["filter.pool"])
	assert.Empty(t, d.exported("tom", portal.EntryQuery{Types: []ledger.Type{ledger.RequestDecided}}), "another team's decisions stay away")
	d.intact()
}

func TestHistoryPagesMeet(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	for i := range 12 {
		_, err := d.CommentRequest(t.Context(), d.as("ana"), portal.CommentInput{Number: ref.Number, Text: fmt.Sprint("note ", i)})
		require.NoError(t, err)
	}
	q := portal.EntryQuery{Types: []ledger.Type{ledger.RequestCommented}, Limit: 5}
	first, err := d.SearchHistory(t.Context(), d.as("otto"), q)
	require.NoError(t, err)
	assert.Equal(t, 12, first.Count)
	assert.Zero(t, first.Newer)
	q.Before = first.Older
	second, err := d.SearchHistory(t.Context(), d.as("otto"), q)
	require.NoError(t, err)
	q.Before = second.Older
	third, err := d.SearchHistory(t.Context(), d.as("otto"), q)
	require.NoError(t, err)
	assert.Equal(t, []int{5, 5, 2}, []int{len(first.Rows), len(second.Rows), len(third.Rows)})
	assert.Zero(t, third.Older)
	q.Before, q.After = 0, third.Newer
	back, err := d.SearchHistory(t.Context(), d.as("otto"), q)
	require.NoError(t, err)
	require.Len(t, back.Rows, 5)
	assert.Equal(t, second.Rows[0].Digest, back.Rows[0].Digest)
	assert.Equal(t, second.Older, back.Older)
}

func TestEntryPageShowsItsNeighbours(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	d.decide("ben", approve(ref, "team"))
	row := d.entries(ref.Number, ledger.RequestSubmitted, ledger.Done)[0]
	v, err := d.ViewEntry(t.Context(), d.as("otto"), row.Entry.ID)
	require.NoError(t, err)
	assert.True(t, v.Intact, v.Problem)
	require.NotNil(t, v.Before)
	require.NotNil(t, v.After)
	assert.Equal(t, ledger.RequestDrafted, v.Before.Entry.Type)
	assert.Equal(t, ledger.RequestDecided, v.After.Entry.Type)
	_, err = d.ViewEntry(t.Context(), d.as("tom"), row.Entry.ID)
	assert.Equal(t, fault.NotFound, fault.KindOf(err))
}

// Whatever is done to the stored record behind the portal's back shows, with the place.
func TestVerifyNamesWhatWasTamperedWith(t *testing.T) {
	for name, c := range map[string]struct {
		sql, says string
	}{
		"content changed":         {`UPDATE ledger_entry SET canonical = replace(convert_from(canonical, 'UTF8'), '"via":"web"', '"via":"cli"')::bytea WHERE type = 'request.submitted'`, "does not match its digest"},
		"column changed":          {`UPDATE ledger_entry SET outcome = 'refused' WHERE type = 'request.submitted'`, "columns say something else"},
		"entry removed":           {`DELETE FROM ledger_entry WHERE type = 'request.submitted'`, "link to the entry before does not match"},
		"tail removed":            {`DELETE FROM ledger_entry WHERE type = 'request.decided'`, "not the one the store names as last"},
		"all of an object's gone": {`DELETE FROM ledger_entry WHERE object_kind = 'request'`, "all its entries are gone"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			ref := d.submitted(quota(ask("h100", 16)))
			d.decide("ben", approve(ref, "team"))
			d.intact()
			owner := dbtest.Open(t, d.owner)
			owner.MustExecContext(t.Context(), `ALTER TABLE ledger_entry DISABLE TRIGGER USER`)
			owner.MustExecContext(t.Context(), c.sql)
			v, err := d.VerifyRecord(t.Context(), portal.VerifyInput{})
			require.NoError(t, err)
			require.NotEmpty(t, v.Problems)
			var all []string
			for _, p := range v.Problems {
				all = append(all, p.Text)
			}
			assert.Contains(t, strings.Join(all, "\n"), c.says)
		})
	}
}

// A record of any length is exported in constant memory: the writer is called
// while the rest is still unread.
func TestExportStreams(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	d.tx(func(ctx context.Context, tx portal.Tx) error {
		for i := range 2500 {
			_, err := tx.Append(ctx, ledger.Entry{Type: ledger.JobAction, At: ledger.Time(noon), Outcome: ledger.Done, Via: "job",
				Actor: ledger.Actor{ID: "job:test"}, Object: ledger.Object{Kind: "job", ID: "1"}, Facts: map[string]string{"n": fmt.Sprint(i)}}, portal.EntryRefs{}, nil)
			if err != nil {
				return err
			}
		}
		return nil
	})
	w := &countingWriter{}
	require.NoError(t, d.ExportHistory(t.Context(), d.as("otto"), portal.EntryQuery{}, w, nil))
	assert.Greater(t, w.calls, 3)
	assert.LessOrEqual(t, w.largest, 128<<10)
	assert.Equal(t, 2500, strings.Count(w.text.String(), ",job.action,"))
	assert.Contains(t, w.text.String(), fmt.Sprintf(",%d,", ref.Number))
	d.intact()
}

type countingWriter struct {
	text           strings.Builder
	calls, largest int
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.calls++
	w.largest = max(w.largest, len(p))
	return w.text.Write(p)
}
