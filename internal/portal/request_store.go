package portal

import (
	"context"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/policy"
	"quartermaster/internal/request"
)

// Requests reads requests and what belongs to them.
type Requests interface {
	Request(ctx context.Context, id string) (request.Request, error)
	RequestByNumber(ctx context.Context, number int64) (request.Request, error)
	RequestList(ctx context.Context, q RequestQuery) ([]RequestRow, error)
	// CountWaiting counts what waits for p, up to limit.
	CountWaiting(ctx context.Context, p org.Person, limit int) (int, error)
	Revisions(ctx context.Context, requestID string) ([]request.Revision, error)
	Comments(ctx context.Context, requestID string) ([]Comment, error)
	Checks(ctx context.Context, requestID string) ([]KeptCheck, error)
	GrantsOfRequest(ctx context.Context, requestID string) ([]GrantRow, error)
	// GrantsOfPlace returns all grants ever made for (project, environment), oldest first.
	GrantsOfPlace(ctx context.Context, projectID, environment string) ([]GrantRow, error)
	// ComingOfPools sums by pool what was granted at other places than except and is
	// not enforced yet, as of at; pools without any are absent.
	ComingOfPools(ctx context.Context, pools []string, except PlaceKey, at time.Time) (map[string]fleet.Quantity, error)
	// GrantsStanding returns the grants of projects that did not end before at, oldest
	// first: all that the desired limits from then on depend on.
	GrantsStanding(ctx context.Context, projectIDs []string, at time.Time) ([]GrantRow, error)
	// GrantsDue returns (project, environment) places where a grant starts or ends in (after, until]
	// and nobody handled it: a start later than made_at without a grant_start, an end without a grant_end.
	GrantsDue(ctx context.Context, after, until time.Time) ([]PlaceKey, error)
	ChangesOfRequest(ctx context.Context, requestID string) ([]Change, error)
	Change(ctx context.Context, id string) (Change, error)
	// OpenChanges of a cluster, oldest first.
	OpenChanges(ctx context.Context, clusterID string) ([]Change, error)
	// StoppedChanges of a cluster that are the newest of their binding, oldest first.
	StoppedChanges(ctx context.Context, clusterID string) ([]Change, error)
	// ChangesOfBinding returns the newest changes of a binding, newest first, at most limit.
	ChangesOfBinding(ctx context.Context, bindingID string, limit int) ([]Change, error)
	// ChangeCounts by cluster id; clusters with neither are absent.
	ChangeCounts(ctx context.Context) (map[string]ChangeCount, error)
}

// RequestQuery filters and pages requests. Zero values do not filter. Keyset: the
// last row's key of the page before.
type RequestQuery struct {
	Teams       []string // nil = all; empty, non-nil = none
	RequesterID string   // asked by or on behalf of
	ProjectID   string
	PoolID      string
	ClusterID   string
	States      []request.State
	Search      string // number, project name or purpose
	// WaitingFor lists only what this person could decide now (role, scope, separation of duties), oldest first.
	WaitingFor *org.Person
	Sort       string // "newest" (default), "oldest", "due"
	AfterKey   string // opaque, from RequestRow.Key
	Limit      int    // at most 200; 0 = 50
}

// RequestRow is one line of a list.
type RequestRow struct {
	Key           string // keyset position
	ID            string
	Number        int64
	State         request.State
	ProjectID     string
	ProjectName   string
	TeamName      string
	Environment   string
	RequesterID   string
	RequesterName string
	Purpose       string
	StageName     string
	WaitingSince  *time.Time
	DueAt         *time.Time
	CreatedAt     time.Time
	Warnings      int // failed or unknown checks at submission
	Lines         []RequestRowLine
}

// RequestRowLine is the figure line of one pool.
type RequestRowLine struct {
	PoolID, PoolName, Resource string
	Unit                       fleet.Unit
	Kind                       request.LimitKind
	Current                    fleet.Measure
	Asked                      fleet.Quantity
	Granted                    fleet.Measure // unknown = nothing granted yet
	Enforced                   fleet.Measure
	InUse                      fleet.Measure
}

// Comment on a request. Text is "" with Erased when it was erased.
type Comment struct {
	ID, PersonID, PersonName, Text, EntryID string
	Erased                                  bool
	At                                      time.Time
}

// KeptCheck is a check result as it stood.
type KeptCheck struct {
	policy.Result
	Digest string
	Phase  string
	At     time.Time
}

// GrantRow is a grant with where it holds.
type GrantRow struct {
	fleet.Grant
	ProjectID, Environment string
	Asked                  fleet.Quantity
	Digest                 string
	MadeAt                 time.Time
	EndCause               string // revoked, superseded, expired; "" while it runs
}

// PlaceKey is where limits are bound.
type PlaceKey struct{ ProjectID, Environment string }
