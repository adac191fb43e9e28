package portal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/note"

	"quartermaster/internal/ledger"
)

// unsignedFor is how long an entry may be without a checkpoint before a verification
// calls the record incomplete: the signer signs every minute.
const unsignedFor = 5 * time.Minute

// checkpointBatch is how many checkpoints are read at a time.
const checkpointBatch = 1000

// VerifyRecord recomputes the whole record: every digest, link and search column, the
// tree over them, the checkpoints' signatures and roots, and every decision, grant and
// change row against its entry. It reads one moment of the database and changes nothing.
func (p *Portal) VerifyRecord(ctx context.Context, in VerifyInput) (VerifyReport, error) {
	if in.Trusted == nil {
		in.Trusted = p.Trusted
	}
	v := verification{in: in, report: VerifyReport{At: p.Now()}}
	err := p.Store.Snapshot(ctx, func(ctx context.Context, r Reader) error { return v.all(ctx, r) })
	if err != nil {
		return v.report, fmt.Errorf("verify the record: %w", err)
	}
	return v.report, nil
}

// verification is one pass over the record.
type verification struct {
	in     VerifyInput
	report VerifyReport
	audit  ledger.Audit
	marks  marks
	oldest time.Time // of the entries without a checkpoint
}

func (v *verification) all(ctx context.Context, r Reader) error {
	var err error
	if v.report.Log, err = r.LogName(ctx); err != nil {
		return fmt.Errorf("name of the log: %w", err)
	}
	v.marks = marks{r: r, origin: ledger.Origin(v.report.Log), in: v.in}
	if err := v.tree(ctx, r); err != nil {
		return err
	}
	for s, err := range r.StreamUnsequenced(ctx) {
		if err != nil {
			return err
		}
		v.audit.Chain.Add(s)
		v.newer(s)
	}
	heads, err := r.Heads(ctx)
	if err != nil {
		return fmt.Errorf("last entries: %w", err)
	}
	v.audit.Chain.Close(heads)
	v.conclude()
	if v.in.OnlyEntries {
		return nil
	}
	v.report.Rows, err = compareRows(ctx, r, func(m mismatch) {
		v.report.Problems = append(v.report.Problems, VerifyProblem{Ordinal: m.ordinal, EntryID: m.entryID, Text: m.String()})
	})
	return err
}

// tree reads all leaves and holds the tree against each checkpoint when it is as large.
func (v *verification) tree(ctx context.Context, r Reader) error {
	size, err := r.TreeSize(ctx)
	if err != nil {
		return err
	}
	next, err := v.marks.next(ctx, v)
	if err != nil {
		return err
	}
	newest, signed, err := r.LastCheckpoint(ctx)
	if err != nil {
		return err
	}
	for l, err := range r.StreamLeaves(ctx, 0, size) {
		if err != nil {
			return err
		}
		v.audit.Add(l)
		if !signed || l.Index >= newest.Size {
			v.newer(l.Stored)
		}
		for next != nil && next.Size <= v.audit.Size() {
			v.hold(*next)
			if next, err = v.marks.next(ctx, v); err != nil {
				return err
			}
		}
	}
	for ; next != nil; next, err = v.marks.next(ctx, v) {
		if err != nil {
			return err
		}
		v.audit.TooLarge(*next)
	}
	return err
}

func (v *verification) hold(s ledger.Signed) {
	if s.Size == v.audit.Size() {
		v.audit.Hold(s)
	}
}

// newer counts an entry that no checkpoint covers.
func (v *verification) newer(s ledger.Stored) {
	v.report.Newer++
	at, err := time.Parse(time.RFC3339Nano, s.Columns.At)
	if err == nil && (v.oldest.IsZero() || at.Before(v.oldest)) {
		v.oldest = at
	}
}

func (v *verification) conclude() {
	r, a := &v.report, &v.audit
	r.Entries, r.Objects, r.Size, r.Root, r.Signed = a.Chain.Count, a.Chain.Objects(), a.Size(), a.Root(), a.Proven()
	for _, b := range append(a.Chain.Breaks, a.Problems...) {
		r.Problems = append(r.Problems, VerifyProblem{Ordinal: b.Ordinal, EntryID: b.ID, Text: b.Problem})
	}
	switch {
	case r.Entries > 0 && r.Checkpoints == 0:
		r.Incomplete = append(r.Incomplete, "no checkpoint was signed yet: run serve with a signer")
	case v.marks.untrusted > 0 && r.Signed == 0:
		r.Incomplete = append(r.Incomplete, "no key is trusted, so no signature was checked: name the public key with --policy")
	case r.Newer > 0 && r.At.Sub(v.oldest) > unsignedFor:
		r.Incomplete = append(r.Incomplete, fmt.Sprintf("%d entries are older than %s and under no checkpoint: the signer does not run", r.Newer, unsignedFor))
	}
}

// marks yields the checkpoints of the store and those kept elsewhere, by size.
type marks struct {
	r         Reader
	in        VerifyInput
	origin    string
	rows      []CheckpointRow
	after     int64
	end       bool
	untrusted int
}

// next checkpoint whose signature holds; nil at the end. One that does not hold is told.
func (m *marks) next(ctx context.Context, v *verification) (*ledger.Signed, error) {
	for {
		if len(m.rows) == 0 && !m.end {
			var err error
			if m.rows, err = m.r.Checkpoints(ctx, m.after, checkpointBatch); err != nil {
				return nil, err
			}
			m.end = len(m.rows) < checkpointBatch
		}
		i := smallest(m.in.Since)
		if i >= 0 && (len(m.rows) == 0 || m.in.Since[i].Size <= m.rows[0].Size) {
			s := m.in.Since[i]
			m.in.Since = append(append([]ledger.Signed(nil), m.in.Since[:i]...), m.in.Since[i+1:]...)
			return &s, nil
		}
		if len(m.rows) == 0 {
			return nil, nil
		}
		row := m.rows[0]
		m.rows, m.after = m.rows[1:], row.Size
		v.report.Checkpoints++
		s, ok := m.open(row, v)
		if ok {
			return s, nil
		}
	}
}

func smallest(all []ledger.Signed) int {
	at := -1
	for i, s := range all {
		if at < 0 || s.Size < all[at].Size {
			at = i
		}
	}
	return at
}

// open checks the signature of a stored checkpoint. Without any trusted key it is
// still held against the tree, but proves nothing.
func (m *marks) open(row CheckpointRow, v *verification) (*ledger.Signed, bool) {
	name := "the checkpoint of " + row.At.UTC().Format("2006-01-02 15:04:05 UTC")
	tell := func(problem string) {
		v.report.Problems = append(v.report.Problems, VerifyProblem{Text: fmt.Sprintf("%s (size %d) %s", name, row.Size, problem)})
	}
	trusted := m.in.Trusted
	if trusted == nil {
		trusted = note.VerifierList()
	}
	c, err := ledger.OpenCheckpoint(row.Note, trusted, m.origin)
	var unknown *note.UnverifiedNoteError
	switch {
	case errors.As(err, &unknown) && m.in.Trusted == nil:
		m.untrusted++
		return nil, false
	case errors.As(err, &unknown):
		tell("is signed by no trusted key")
		return nil, false
	case err != nil:
		tell("cannot be read: " + err.Error())
		return nil, false
	case c.Size != row.Size || c.Root != row.Root:
		tell("is stored with another size or root than it says")
	}
	return &ledger.Signed{Checkpoint: c, Name: name}, true
}
