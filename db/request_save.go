package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/request"
)

// InsertRequest stores a new request at version 1 and returns its number.
func (t *tx) InsertRequest(ctx context.Context, r request.Request) (int64, error) {
	w, c := waitingOf(r), r.Revision.Content
	var number int64
	err := t.get(ctx, &number, "", `
		INSERT INTO request (id, kind, state, project_id, environment, team_id, requester_id, beneficiary_id, purpose, editor_ids, revision, digest,
			route, stage_key, waiting_role, waiting_since, due_at, corrects_id, created_at, submitted_at, closed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::uuid[], $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
		RETURNING number`,
		r.ID, c.Kind, r.State, c.ProjectID, c.Environment, r.TeamID, r.RequesterID, orNull(c.BeneficiaryID), c.Purpose, pq.Array(notNil(r.EditorIDs)),
		r.Revision.Number, r.Revision.Digest, routeOf(r), w.stage, w.role, w.since, w.due, orNull(r.CorrectsID), r.CreatedAt, r.SubmittedAt, r.ClosedAt)
	if err != nil {
		return 0, fmt.Errorf("insert request: %w", err)
	}
	if err := t.insertRevision(ctx, r); err != nil {
		return 0, err
	}
	return number, t.saveRequestParts(ctx, r, w)
}

// SaveRequest writes where r stands now. It is Stale when somebody else saved it
// after r was loaded.
func (t *tx) SaveRequest(ctx context.Context, r request.Request) error {
	w, c := waitingOf(r), r.Revision.Content
	var before []struct {
		Digest string `db:"digest"`
	}
	// The digest from before the update tells whether the wording is new.
	err := t.all(ctx, &before, `
		UPDATE request AS r SET kind = $3, state = $4, project_id = $5, environment = $6, team_id = $7, beneficiary_id = $8, purpose = $9,
			editor_ids = $10::uuid[], revision = $11, digest = $12, route = $13, stage_key = $14, waiting_role = $15, waiting_since = $16,
			due_at = $17, corrects_id = $18, submitted_at = $19, closed_at = $20, version = r.version + 1
		FROM (SELECT o.id, o.digest FROM request o WHERE o.id = $1 AND o.version = $2 FOR UPDATE) old
		WHERE r.id = old.id RETURNING old.digest`,
		r.ID, r.Version, c.Kind, r.State, c.ProjectID, c.Environment, r.TeamID, orNull(c.BeneficiaryID), c.Purpose, pq.Array(notNil(r.EditorIDs)),
		r.Revision.Number, r.Revision.Digest, routeOf(r), w.stage, w.role, w.since, w.due, orNull(r.CorrectsID), r.SubmittedAt, r.ClosedAt)
	if err != nil {
		return fmt.Errorf("save request: %w", err)
	}
	if len(before) == 0 {
		if _, err := t.Request(ctx, r.ID); err != nil {
			return err
		}
		return fault.New(fault.Stale, "Somebody else changed this request in the meantime. Load it again.")
	}
	if before[0].Digest != r.Revision.Digest {
		if err := t.insertRevision(ctx, r); err != nil {
			return err
		}
	}
	return t.saveRequestParts(ctx, r, w)
}

func (t *tx) insertRevision(ctx context.Context, r request.Request) error {
	v := r.Revision
	_, err := t.exec(ctx, `INSERT INTO request_revision (request_id, number, digest, content, editor_id, at) VALUES ($1, $2, $3, $4, $5, $6)`,
		r.ID, v.Number, v.Digest, jsonOf(v.Content), v.EditorID, v.At)
	if err != nil {
		return fmt.Errorf("insert revision: %w", err)
	}
	return nil
}

type lineRecord struct {
	Position int               `json:"position"`
	Pool     string            `json:"pool"`
	Kind     request.LimitKind `json:"kind"`
	Current  fleet.Measure     `json:"current"`
	InUse    fleet.Measure     `json:"in_use"`
	Asked    fleet.Quantity    `json:"asked"`
	Granted  *fleet.Quantity   `json:"granted"`
	Start    *time.Time        `json:"start"`
	End      *time.Time        `json:"end"`
}

type placeRecord struct {
	Unit    string `json:"unit"`
	Team    string `json:"team"`
	Cluster string `json:"cluster"`
	Pool    string `json:"pool"`
}

// saveRequestParts replaces what lists and the waiting line read beside the
// request row: its lines and the places where the waiting role has to hold.
func (t *tx) saveRequestParts(ctx context.Context, r request.Request, w waiting) error {
	lines := make([]lineRecord, 0, len(r.Revision.Content.Lines))
	granted := r.Granted()
	for i, l := range r.Revision.Content.Lines {
		row := lineRecord{i, l.PoolID, l.Kind, l.Current, l.InUse, l.Asked, nil, l.Start, l.End}
		if approved(r) {
			row.Granted = &granted[i].Amount
		}
		lines = append(lines, row)
	}
	places := make([]placeRecord, 0, len(w.places))
	places = append(places, w.places...)
	for _, step := range []struct {
		query string
		args  []any
	}{
		{`DELETE FROM request_line l WHERE l.request_id = $1`, []any{r.ID}},
		{`INSERT INTO request_line (request_id, position, pool_id, kind, current, in_use, asked, granted, starts_at, ends_at)
			SELECT $1, x.position, x.pool, x.kind, x.current, x.in_use, x.asked, x.granted, x.start, x."end"
			FROM jsonb_to_recordset($2) AS x (position int, pool text, kind text, current text, in_use text, asked text, granted text, start timestamptz, "end" timestamptz)`,
			[]any{r.ID, jsonOf(lines)}},
		{`DELETE FROM request_waiting_place p WHERE p.request_id = $1`, []any{r.ID}},
		{`INSERT INTO request_waiting_place (request_id, unit_id, team_id, cluster_id, pool_id)
			SELECT DISTINCT $1::uuid, x.unit, x.team, x.cluster, x.pool
			FROM jsonb_to_recordset($2) AS x (unit text, team text, cluster text, pool text)`, []any{r.ID, jsonOf(places)}},
	} {
		if _, err := t.exec(ctx, step.query, step.args...); err != nil {
			return fmt.Errorf("save request lines and places: %w", err)
		}
	}
	return nil
}

// approved reports whether anybody approved the current revision yet.
func approved(r request.Request) bool {
	return slices.ContainsFunc(r.Decisions, func(d approval.Decision) bool {
		return d.Outcome == approval.Approve && d.Digest == r.Revision.Digest
	})
}

// waiting is the stage that waits, as the waiting line is searched by.
type waiting struct {
	stage, role string
	since, due  *time.Time
	places      []placeRecord
}

// waitingOf is a pure function of r: a stage waits since the submission or since
// the last decision in another stage of this revision, whichever is later.
func waitingOf(r request.Request) waiting {
	s, ok := r.Stage()
	if !ok {
		return waiting{}
	}
	w := waiting{stage: s.Key, role: string(s.Role)}
	for _, p := range s.Places {
		w.places = append(w.places, placeRecord{p.UnitID, p.TeamID, p.ClusterID, p.PoolID})
	}
	since := r.CreatedAt
	if r.SubmittedAt != nil {
		since = *r.SubmittedAt
	}
	for _, d := range r.Decisions {
		if d.Digest == r.Revision.Digest && d.StageKey != s.Key && d.At.After(since) {
			since = d.At
		}
	}
	w.since = &since
	if s.RespondWithin > 0 {
		due := since.Add(s.RespondWithin)
		w.due = &due
	}
	return w
}

// routeOf is NULL until the request was submitted.
func routeOf(r request.Request) document[approval.Route] {
	if len(r.Route.Stages) == 0 && r.Route.Version == 0 {
		return document[approval.Route]{}
	}
	return jsonOf(r.Route)
}
