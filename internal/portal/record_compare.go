package portal

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
)

// mismatch is one row that says something else than its entry.
type mismatch struct {
	table, id string
	fields    []string
	why       string // instead of fields
	entryID   string
	ordinal   int64
}

func (m mismatch) String() string {
	if m.why != "" {
		return fmt.Sprintf("table %s, row %s: %s", m.table, m.id, m.why)
	}
	return fmt.Sprintf("table %s, row %s: %s %s not what its entry says", m.table, m.id, strings.Join(m.fields, ", "), isOrAre(len(m.fields)))
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// compareRows holds every decision, grant and change, and every text that was opened,
// against the entry that recorded it.
func compareRows(ctx context.Context, r Projections, tell func(mismatch)) (n int64, err error) {
	steps := []func() (int64, error){
		func() (int64, error) { return eachRow(r.StreamDecisions(ctx), compareDecision, tell) },
		func() (int64, error) { return eachRow(r.StreamGrants(ctx), compareGrant, tell) },
		func() (int64, error) { return eachRow(r.StreamChanges(ctx), compareChange, tell) },
		func() (int64, error) { return eachRow(r.StreamOpenings(ctx), compareOpening, tell) },
	}
	for _, step := range steps {
		rows, err := step()
		if err != nil {
			return n, fmt.Errorf("compare rows with their entries: %w", err)
		}
		n += rows
	}
	const many = 100
	gone, err := r.Orphans(ctx, many)
	if err != nil {
		return n, fmt.Errorf("compare rows with their entries: %w", err)
	}
	for _, o := range gone {
		tell(mismatch{table: o.Table, id: o.ObjectID, why: "the row is gone; its entry is there", entryID: o.EntryID, ordinal: o.Ordinal})
	}
	return n, nil
}

func eachRow[T any](rows iter.Seq2[T, error], compare func(T) *mismatch, tell func(mismatch)) (n int64, err error) {
	for row, err := range rows {
		if err != nil {
			return n, err
		}
		n++
		if m := compare(row); m != nil {
			tell(*m)
		}
	}
	return n, nil
}

// differences collects the names of fields that differ.
type differences []string

func (d *differences) text(field, row, entry string) {
	if row != entry {
		*d = append(*d, field)
	}
}

func (d *differences) moment(field string, row *time.Time, entry string) {
	if row == nil {
		d.text(field, "", entry)
		return
	}
	d.text(field, ledger.Time(*row), entry)
}

func (d differences) of(table, id, entryID string) *mismatch {
	if len(d) == 0 {
		return nil
	}
	return &mismatch{table: table, id: id, fields: d, entryID: entryID}
}

// entryFor reads the entry of a row; a mismatch says why it cannot be compared.
func entryFor(table, id string, canonical []byte) (ledger.Entry, *mismatch) {
	if canonical == nil {
		return ledger.Entry{}, &mismatch{table: table, id: id, why: "there is no entry that recorded it"}
	}
	e, err := ledger.Parse(canonical)
	if err != nil {
		return e, &mismatch{table: table, id: id, why: "its entry cannot be read"}
	}
	return e, nil
}

func compareDecision(d ProjectedDecision) *mismatch {
	e, m := entryFor("decision", d.ID, d.Entry)
	if m != nil {
		return m
	}
	var wrong differences
	f := e.Facts
	wrong.text("id", d.ID, f["decision"])
	wrong.text("request_id", d.RequestID, e.Object.ID)
	wrong.text("revision", strconv.Itoa(d.Revision), e.Object.Revision)
	wrong.text("digest", d.Digest, e.Object.Digest)
	wrong.text("stage_key", d.StageKey, f["stage"])
	wrong.text("person_id", d.PersonID, e.Actor.ID)
	wrong.text("outcome", string(d.Outcome), f["outcome"])
	wrong.text("factors", strings.Join(d.Factors, ","), strings.Join(e.Actor.AMR, ","))
	if at, err := time.Parse(time.RFC3339Nano, e.At); err != nil || d.At.Sub(at).Abs() > time.Minute { // two readings of one clock
		wrong = append(wrong, "at")
	}
	granted := map[string]string{}
	for _, g := range d.Granted {
		granted["granted."+g.PoolID] = g.Amount.String()
		if g.End != nil {
			granted["end."+g.PoolID] = ledger.Time(*g.End)
		}
	}
	recorded := maps.Clone(f)
	maps.DeleteFunc(recorded, func(k, _ string) bool { return !strings.HasPrefix(k, "granted.") && !strings.HasPrefix(k, "end.") })
	if !maps.Equal(granted, recorded) {
		wrong = append(wrong, "granted")
	}
	if e.Type != ledger.RequestDecided || e.Outcome != ledger.Done || e.Object.Kind != "request" {
		return &mismatch{table: "decision", id: d.ID, why: "the entry it names is not of a decision", entryID: e.ID}
	}
	return wrong.of("decision", d.ID, e.ID)
}

func compareGrant(g ProjectedGrant) *mismatch {
	e, m := entryFor("grant_line", g.ID, g.Made)
	if m != nil {
		return m
	}
	var wrong differences
	f := e.Facts
	wrong.text("request_id", g.RequestID, f["request"])
	wrong.text("digest", g.Digest, e.Object.Digest)
	wrong.text("project_id", g.ProjectID, f["project"])
	wrong.text("environment", g.Environment, f["environment"])
	wrong.text("pool_id", g.PoolID, f["pool"])
	wrong.text("kind", string(g.Kind), f["kind"])
	wrong.text("asked", g.Asked.String(), f["asked"])
	wrong.text("amount", g.Amount.String(), f["amount"])
	wrong.moment("starts_at", g.Start, f["start"])
	wrong.moment("ends_at", g.End, f["end"])
	if at, err := time.Parse(time.RFC3339Nano, e.At); err != nil || g.MadeAt.Sub(at).Abs() > time.Minute {
		wrong = append(wrong, "made_at")
	}
	if w := wrong.of("grant_line", g.ID, e.ID); w != nil {
		return w
	}
	return compareEnd(g)
}

// compareEnd: some entry has to say that the grant ended for this cause at this time.
func compareEnd(g ProjectedGrant) *mismatch {
	if g.EndCause == "" {
		return nil
	}
	why := "there is no entry that recorded it"
	for _, raw := range g.Ended {
		e, err := ledger.Parse(raw)
		if err != nil {
			continue
		}
		var wrong differences
		wrong.text("cause", g.EndCause, e.Facts["cause"])
		when := e.Facts["from"]
		if due := e.Facts["due"]; due != "" {
			when = due
		}
		if when != "" {
			wrong.moment("at", g.Revoked, when)
		}
		if len(wrong) == 0 {
			return nil
		}
		why = strings.Join(wrong, ", ") + " " + isOrAre(len(wrong)) + " not what its entry says"
	}
	return &mismatch{table: "grant_end", id: g.ID, why: why}
}

// final are the states that are reached with an entry and left only with one.
var final = map[ChangeState]ledger.Type{ChangeVerified: ledger.ChangeVerified, ChangeStopped: ledger.ChangeStopped}

func compareChange(c ProjectedChange) *mismatch {
	planned, m := entryFor("change", c.ID, c.Planned)
	if m != nil {
		return m
	}
	last, m := entryFor("change", c.ID, c.Last)
	if m != nil {
		return m
	}
	var wrong differences
	wrong.text("cluster_id", c.ClusterID, planned.Facts["cluster"])
	wrong.text("binding_id", c.BindingID, planned.Facts["binding"])
	wrong.text("cause", c.Cause, planned.Facts["cause"])
	wrong.text("request_id", c.RequestID, planned.Facts["request"])
	if at, err := time.Parse(time.RFC3339Nano, planned.At); err != nil || c.CreatedAt.Sub(at).Abs() > time.Minute {
		wrong = append(wrong, "created_at")
	}
	stands := final[c.State]
	for _, t := range final {
		if (last.Type == t) != (stands == t) {
			wrong = append(wrong, "state")
			break
		}
	}
	if stands != "" && last.Type == stands {
		wrong.text("problem", c.Problem, last.Facts["problem"])
		wrong.text("takeover", strconv.FormatBool(c.Takeover), strconv.FormatBool(last.Facts["takeover"] == "true"))
		after := ""
		if c.Plan != nil {
			after = planDigest(*c.Plan)
		}
		wrong.text("plan", after, last.After)
	}
	if c.State == ChangeVerified && last.Type == ledger.ChangeVerified {
		wrong = append(wrong, compareReadBack(c.Change, last)...)
	}
	return wrong.of("change", c.ID, last.ID)
}

// compareReadBack holds what is said to have been read back against the entry.
func compareReadBack(c Change, e ledger.Entry) (wrong differences) {
	read := map[string]string{}
	if c.ReadBack != nil {
		limitFacts(read, c.ReadBack.Objects, func(f fleet.Field) string { return shown(f.Before) })
		read["queue_active"] = strconv.FormatBool(c.ReadBack.Active)
	}
	others := []string{"cluster", "binding", "state", "cause", "problem", "takeover"}
	recorded := maps.Clone(e.Facts)
	maps.DeleteFunc(recorded, func(k, _ string) bool { return slices.Contains(others, k) })
	if !maps.Equal(read, recorded) {
		wrong = append(wrong, "readback")
	}
	if at, err := time.Parse(time.RFC3339Nano, e.At); err != nil || c.VerifiedAt == nil || c.VerifiedAt.Sub(at).Abs() > time.Minute {
		wrong = append(wrong, "verified_at")
	}
	return wrong
}

func compareOpening(o ProjectedOpening) *mismatch {
	id := o.EntryID + " " + o.Name
	e, m := entryFor("ledger_opening", id, o.Entry)
	if m != nil {
		return m
	}
	if ledger.Commit(o.Salt, o.Text) != e.Bound(o.Name) {
		return &mismatch{table: "ledger_opening", id: id, fields: []string{"text"}, entryID: e.ID}
	}
	return nil
}
