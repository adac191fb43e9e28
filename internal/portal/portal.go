// Package portal is what people and jobs can do: one exported verb a file. It
// declares the store it needs (db implements it) and reaches clusters through
// fleet.Cluster. handlers, jobs and cmd call it; it calls the nouns. Every change
// of state happens here: authority is checked, the ledger entry is written in
// the same transaction, and the work that follows is enqueued with it.
package portal

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

// Portal holds what the use cases share. Safe for concurrent use.
type Portal struct {
	Store Store
	// Dial returns the cluster behind an id; the error is a fault for people.
	Dial func(ctx context.Context, clusterID string) (fleet.Cluster, error)
	// Probe connects with given credentials without storing them, to test a connection.
	Probe func(ctx context.Context, c Connection) (fleet.Cluster, error)
	// ReadDump reads a file of a cluster's objects as a reading of the cluster would be.
	ReadDump func(file []byte, at time.Time) (fleet.Dump, error)
	// Seal encrypts a credential for storage, bound to context (cluster or person id). Open reverses it.
	Seal func(plain []byte, context string) ([]byte, error)
	Open func(sealed []byte, context string) ([]byte, error)
	// Now is the clock, UTC.
	Now func() time.Time
	// NewID returns a random UUID.
	NewID func() string
	// BaseURL of the portal, without a trailing slash; objects on clusters carry it.
	BaseURL string
	Log     *slog.Logger
	// PollEvery is how often a cluster is read, PollTimeout how long one reading may
	// take; 0 = 30 s and 20 s.
	PollEvery, PollTimeout time.Duration
	// Retention of the history of use; the zero value keeps all of it.
	Retention Retention
	// SettleFor is how long a written change is read back until it holds; 0 = 10 s.
	SettleFor time.Duration
	// Trusted are the public keys of the log's signers, past and present. Without any,
	// nothing is pushed.
	Trusted note.Verifiers
	// Include is asked when something waits for its proof, to have entries sequenced and
	// signed at once; nil notifies whoever does that.
	Include func(ctx context.Context) error
	// Reach is called at named points between steps, by tests that end the process
	// there; nil outside of tests.
	Reach func(point string)

	// discovered remembers when this process last saw a discovery of a cluster that was
	// young enough, by id: what the cluster has is large, and is not loaded at each poll to see its age.
	discovered sync.Map
}

// reached marks a point that tests may stop at.
func (p *Portal) reached(point string) {
	if p.Reach != nil {
		p.Reach(point)
	}
}

func orElse(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// Connection is how a cluster is reached: nothing but server, CA and token.
type Connection struct {
	ClusterID string
	Kind      fleet.Kind
	Server    string // https URL
	CA        string // PEM; "" = the system's
	Token     string
}

// Actor is who calls a use case, as the session or the command line established it.
type Actor struct {
	Person org.Person
	// System names a job or command when no person acts, e.g. "job:change_apply"; Person is then empty.
	System string
	Via    string // web, cli, job, import
	// Session facts for the record; SessionID is a digest.
	SessionID string
	ACR       string
	AMR       []string
	AuthTime  time.Time
	// Proof is the step-up that the form names; "" = whichever of the session serves.
	Proof string
	// MappingVersion of the roles in Person.
	MappingVersion int64
}
