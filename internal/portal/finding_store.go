package portal

import (
	"context"
	"time"

	"quartermaster/internal/finding"
)

// FindingReader reads findings and what a scan for them compares with.
type FindingReader interface {
	Finding(ctx context.Context, id string) (FindingRow, error)
	// Findings that q names: worst first, then newest, keyset by AfterID.
	Findings(ctx context.Context, q FindingQuery) ([]FindingRow, error)
	// CountFindings counts what q names, up to limit.
	CountFindings(ctx context.Context, q FindingQuery, limit int) (int, error)
	FindingEvents(ctx context.Context, findingID string) ([]FindingEvent, error)
	// FindingsToCompare of a cluster: the open ones, and those resolved since.
	FindingsToCompare(ctx context.Context, clusterID string, since time.Time) ([]finding.Finding, error)
	// FindingOf is the newest finding about a key; nil = none.
	FindingOf(ctx context.Context, clusterID string, key finding.Key) (*finding.Finding, error)
	// FindingsOfChange are those that a change puts back.
	FindingsOfChange(ctx context.Context, changeID string) ([]finding.Finding, error)
	// FindingsOfRequest are those that a request would accept.
	FindingsOfRequest(ctx context.Context, requestID string) ([]finding.Finding, error)
	// LastChanges of a cluster's bindings, by binding.
	LastChanges(ctx context.Context, clusterID string) (map[string]LastChange, error)
	// PutsBack: the cluster's policy is to put drift back by itself.
	PutsBack(ctx context.Context, clusterID string) (bool, error)
}

// FindingWriter writes them.
type FindingWriter interface {
	FindingForUpdate(ctx context.Context, id string) (finding.Finding, error)
	SaveFinding(ctx context.Context, f finding.Finding) error
	// TouchFindings moves LastSeen of findings that a poll saw unchanged.
	TouchFindings(ctx context.Context, ids []string, at time.Time) error
	InsertFindingEvent(ctx context.Context, e FindingEvent) error
	SavePutsBack(ctx context.Context, clusterID string, on bool) error
}

// LastChange is the newest change of a binding in short.
type LastChange struct {
	ID         string
	State      ChangeState
	VerifiedAt *time.Time
	Wrote      bool // it sent something, so that the limits are the portal's own
}

// FindingQuery filters findings; empty fields do not filter.
type FindingQuery struct {
	State     finding.State
	Kind      finding.Kind
	Severity  finding.Severity
	ClusterID string
	ProjectID string
	// Owned: only those of these owners.
	Owned   []FindingOwner
	AfterID string // the last row of the page before
	Limit   int    // 0 = 50
}

// FindingOwner is whose findings are meant: a role where it holds.
type FindingOwner struct {
	Role       finding.Owner
	Everywhere bool
	ClusterID  string
	PoolID     string
}

// FindingRow is a finding with the names for its ids.
type FindingRow struct {
	finding.Finding
	ClusterName, PoolName, ProjectID, ProjectName, Environment string
	RequestNumber                                              int64 // of the request that would accept it; 0 = none
}

// FindingEvent is one thing that happened to a finding.
type FindingEvent struct {
	FindingID string
	EntryID   string
	Event     string
	At        time.Time
	By        string // id of a person, or job:…
	ByName    string // filled on reading
	Granted   *string
	Live      *string
	Manager   string
	Note      string
}
