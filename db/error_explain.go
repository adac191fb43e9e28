package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/lib/pq"

	"quartermaster/internal/fault"
)

// SQLSTATEs that the store tells apart (PostgreSQL manual, appendix A).
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	queryCanceled        = "57014"
	uniqueViolation      = "23505"
	foreignKeyViolation  = "23503"
	checkViolation       = "23514"
	notNullViolation     = "23502"
	badEncoding          = "22021" // a NUL in a text
	badEscape            = "22P05" // a NUL in JSON
)

// taken names what a person did wrong when a unique key is violated, by constraint.
var taken = map[string]string{
	"decision_request_id_digest_identity_key":       "You already decided on this revision. One person decides once.",
	"grant_line_request_id_pool_id_key":             "This request was granted already.",
	"binding_project_id_environment_cluster_id_key": "This project and environment already have a place on this cluster.",
	"binding_queue":                       "That queue already carries the limits of another project.",
	"binding_account":                     "That account already carries the limits of another project.",
	"pool_cluster_id_flavor_resource_key": "Another pool already stands for this flavor and resource.",
	"ledger_leaf_pkey":                    "Another sequencer added this leaf.",
	"ledger_leaf_ordinal_key":             "Another sequencer added this entry to the tree.",
	"ledger_checkpoint_pkey":              "A tree of this size was signed already.",
	"idempotency_pkey":                    "This was sent twice at the same time. Load the page again to see what came of it.",
}

// explain turns a driver's error into a fault where a person can do something
// about it. The cause stays reachable, so that a transaction can be tried again.
func explain(ctx context.Context, err error) error {
	if err == nil || fault.As(err) != nil {
		return err
	}
	// A context that ended shows as SQLSTATE 57014 or as a broken connection, never as itself.
	if ctx.Err() != nil {
		return ended(ctx, err)
	}
	var e *pq.Error
	switch {
	case errors.As(err, &e):
		return explainState(e, err)
	case connectionLost(err):
		return fault.New(fault.Unavailable, "The database does not answer. Try again in a moment.").Because(err)
	}
	return err
}

func ended(ctx context.Context, err error) error {
	joined := errors.Join(ctx.Err(), err)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.New(fault.Unavailable, "The database took too long to answer. Try again in a moment.").Because(joined)
	}
	return joined
}

func explainState(e *pq.Error, err error) error {
	switch e.Code {
	case queryCanceled:
		return fault.New(fault.Unavailable, "The database took too long to answer. Try again in a moment.").Because(err)
	case serializationFailure, deadlockDetected:
		return fault.New(fault.Unavailable, "Several people changed the same thing at once. Try again.").Because(err)
	case uniqueViolation:
		if public, ok := taken[e.Constraint]; ok {
			return fault.New(fault.Conflict, public).Because(err)
		}
	case foreignKeyViolation:
		return fault.New(fault.Invalid, "This names something that does not exist.").Because(err)
	case checkViolation, notNullViolation:
		return fault.New(fault.Invalid, "A value is missing or not one of those allowed.").Because(err)
	case badEncoding, badEscape:
		return fault.New(fault.Invalid, "The text holds characters that cannot be stored. Paste it as plain text.").Because(err)
	}
	if connectionLost(err) {
		return fault.New(fault.Unavailable, "The database does not answer. Try again in a moment.").Because(err)
	}
	return err
}

// connectionLost reports whether the statement may or may not have reached the server.
func connectionLost(err error) bool {
	var e *pq.Error
	if errors.As(err, &e) {
		switch e.Code.Class() {
		case "08", "53", "57": // connection, resources, shutdown
			return e.Code != queryCanceled
		}
		return false
	}
	var n net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &n)
}

// passing reports whether a whole transaction can be tried again: it lost a race
// and left nothing behind.
func passing(err error) bool {
	var e *pq.Error
	if !errors.As(err, &e) {
		return false
	}
	// A second click that came while the first was at work: once that is done, the
	// key answers the second.
	return e.Code == serializationFailure || e.Code == deadlockDetected ||
		e.Code == uniqueViolation && e.Constraint == "idempotency_pkey"
}

func notFound(err error, public string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fault.New(fault.NotFound, public)
	}
	return err
}
