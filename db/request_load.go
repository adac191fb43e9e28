package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
)

const noRequest = "There is no such request."

type requestRow struct {
	ID          string                    `db:"id"`
	Number      int64                     `db:"number"`
	State       request.State             `db:"state"`
	TeamID      string                    `db:"team_id"`
	RequesterID string                    `db:"requester_id"`
	Editors     pq.StringArray            `db:"editor_ids"`
	Route       document[approval.Route]  `db:"route"`
	CorrectsID  string                    `db:"corrects_id"`
	CreatedAt   time.Time                 `db:"created_at"`
	SubmittedAt *time.Time                `db:"submitted_at"`
	ClosedAt    *time.Time                `db:"closed_at"`
	Version     int                       `db:"version"`
	Revision    int                       `db:"revision"`
	Digest      string                    `db:"digest"`
	Content     document[request.Content] `db:"content"`
	EditorID    string                    `db:"editor_id"`
	EditedAt    time.Time                 `db:"edited_at"`
}

func (r requestRow) toDomain(decisions []approval.Decision) request.Request {
	out := request.Request{ID: r.ID, Number: r.Number, State: r.State, TeamID: r.TeamID, RequesterID: r.RequesterID,
		Revision:  request.Revision{Number: r.Revision, Content: *r.Content.Doc, Digest: r.Digest, EditorID: r.EditorID, At: r.EditedAt.UTC()},
		Decisions: decisions, EditorIDs: r.Editors, CorrectsID: r.CorrectsID, CreatedAt: r.CreatedAt.UTC(),
		SubmittedAt: utc(r.SubmittedAt), ClosedAt: utc(r.ClosedAt), Version: r.Version}
	if r.Route.Doc != nil {
		out.Route = *r.Route.Doc
	}
	return out
}

const selectRequest = `
	SELECT r.id, r.number, r.state, r.team_id, r.requester_id, r.editor_ids, r.route, coalesce(r.corrects_id::text, '') AS corrects_id,
	       r.created_at, r.submitted_at, r.closed_at, r.version, v.number AS revision, v.digest, v.content, v.editor_id, v.at AS edited_at
	FROM request r
	CROSS JOIN LATERAL (SELECT v.number, v.digest, v.content, v.editor_id, v.at FROM request_revision v
		WHERE v.request_id = r.id ORDER BY v.saved DESC LIMIT 1) v `

// Request by id, with its current revision and all decisions.
func (r reader) Request(ctx context.Context, id string) (request.Request, error) {
	if !isID(id) {
		return request.Request{}, fault.New(fault.NotFound, noRequest)
	}
	return r.request(ctx, selectRequest+`WHERE r.id = $1`, id)
}

// RequestByNumber finds what people call QM-number.
func (r reader) RequestByNumber(ctx context.Context, number int64) (request.Request, error) {
	return r.request(ctx, selectRequest+`WHERE r.number = $1`, number)
}

// RequestForUpdate locks the request until the transaction ends.
func (t *tx) RequestForUpdate(ctx context.Context, id string) (request.Request, error) {
	if !isID(id) {
		return request.Request{}, fault.New(fault.NotFound, noRequest)
	}
	// First the lock, then the read: a statement that waited for the lock would see
	// the new request row beside the revision from before the wait.
	var locked string
	if err := t.get(ctx, &locked, noRequest, `SELECT r.id FROM request r WHERE r.id = $1 FOR UPDATE`, id); err != nil {
		return request.Request{}, fmt.Errorf("lock request: %w", err)
	}
	return t.Request(ctx, id)
}

func (r reader) request(ctx context.Context, query string, arg any) (request.Request, error) {
	var row requestRow
	if err := r.get(ctx, &row, noRequest, query, arg); err != nil {
		return request.Request{}, fmt.Errorf("load request: %w", err)
	}
	decisions, err := r.decisions(ctx, row.ID)
	if err != nil {
		return request.Request{}, err
	}
	return row.toDomain(decisions), nil
}

type decisionRow struct {
	ID        string                       `db:"id"`
	RequestID string                       `db:"request_id"`
	Revision  int                          `db:"revision"`
	Digest    string                       `db:"digest"`
	StageKey  string                       `db:"stage_key"`
	PersonID  string                       `db:"person_id"`
	Identity  string                       `db:"identity"`
	Outcome   approval.Outcome             `db:"outcome"`
	Reason    string                       `db:"reason"`
	Granted   document[[]approval.Granted] `db:"granted"`
	Factors   pq.StringArray               `db:"factors"`
	At        time.Time                    `db:"at"`
}

func (r reader) decisions(ctx context.Context, requestID string) ([]approval.Decision, error) {
	var rows []decisionRow
	err := r.all(ctx, &rows, `
		SELECT d.id, d.request_id, d.revision, d.digest, d.stage_key, d.person_id, d.identity, d.outcome, coalesce(o.text, '') AS reason,
		       d.granted, d.factors, d.at
		FROM decision d LEFT JOIN ledger_opening o ON o.entry_id = d.entry_id AND o.name = $2
		WHERE d.request_id = $1 ORDER BY d.at, d.id`, requestID, portal.OpeningReason)
	if err != nil {
		return nil, fmt.Errorf("load decisions: %w", err)
	}
	var out []approval.Decision
	for _, d := range rows {
		out = append(out, approval.Decision{ID: d.ID, RequestID: d.RequestID, Revision: d.Revision, Digest: d.Digest, StageKey: d.StageKey,
			PersonID: d.PersonID, Identity: d.Identity, Outcome: d.Outcome, Reason: d.Reason, Granted: *d.Granted.Doc, Factors: d.Factors, At: d.At.UTC()})
	}
	return out, nil
}

// Revisions of a request, oldest first: of each its last wording.
func (r reader) Revisions(ctx context.Context, requestID string) ([]request.Revision, error) {
	if !isID(requestID) {
		return nil, fault.New(fault.NotFound, noRequest)
	}
	var rows []struct {
		Number   int                       `db:"number"`
		Digest   string                    `db:"digest"`
		Content  document[request.Content] `db:"content"`
		EditorID string                    `db:"editor_id"`
		At       time.Time                 `db:"at"`
	}
	err := r.all(ctx, &rows, `
		SELECT DISTINCT ON (v.number) v.number, v.digest, v.content, v.editor_id, v.at
		FROM request_revision v WHERE v.request_id = $1 ORDER BY v.number, v.saved DESC`, requestID)
	if err != nil {
		return nil, fmt.Errorf("load revisions: %w", err)
	}
	out := make([]request.Revision, 0, len(rows))
	for _, v := range rows {
		out = append(out, request.Revision{Number: v.Number, Content: *v.Content.Doc, Digest: v.Digest, EditorID: v.EditorID, At: v.At.UTC()})
	}
	return out, nil
}
