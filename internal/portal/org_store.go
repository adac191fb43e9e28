package portal

import (
	"context"
	"time"

	"quartermaster/internal/approval"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

// Org reads the organisation.
type Org interface {
	Person(ctx context.Context, id string) (org.Person, error)
	PersonBySubject(ctx context.Context, issuer, subject string) (org.Person, error)
	// PeopleHolding returns active people who hold role anywhere, with all their roles.
	PeopleHolding(ctx context.Context, role org.Role) ([]org.Person, error)
	// PeopleHoldingAt returns those of them who hold it at one of places.
	PeopleHoldingAt(ctx context.Context, role org.Role, places []org.Place) ([]org.Person, error)
	// PeopleHoldingNamed returns the first of them by name whose name holds search, but not the one of an identity.
	PeopleHoldingNamed(ctx context.Context, role org.Role, places []org.Place, search, exceptIdentity string, limit int) ([]org.Person, error)
	// People returns everybody by name; after is the last name+id of the page before.
	People(ctx context.Context, q PeopleQuery) ([]org.Person, error)
	PeopleByID(ctx context.Context, ids []string) (map[string]org.Person, error)
	// NamesOfSubjects returns the names of active people by their subject.
	NamesOfSubjects(ctx context.Context, subjects []string) (map[string]string, error)
	Mappings(ctx context.Context) (mappings []org.Mapping, version int64, err error)
	// RouteInForce returns the stage templates and their version.
	RouteInForce(ctx context.Context) (templates []approval.Template, version int, err error)
	Units(ctx context.Context) ([]org.Unit, error)
	Teams(ctx context.Context) ([]org.Team, error)
	Team(ctx context.Context, id string) (org.Team, error)
	// Projects of the given teams; teams nil = all.
	Projects(ctx context.Context, teams []string) ([]org.Project, error)
	Project(ctx context.Context, id string) (org.Project, error)
	// DataClassesOf are those that any project of the teams may use.
	DataClassesOf(ctx context.Context, teams []string) ([]string, error)
	// ProjectsByID returns those of ids that exist.
	ProjectsByID(ctx context.Context, ids []string) (map[string]org.Project, error)
	// ProjectList is one page of the given teams' projects that fit q, by name; teams nil = all.
	ProjectList(ctx context.Context, teams []string, q ProjectQuery) ([]org.Project, error)
	Pools(ctx context.Context) ([]PoolState, error)
	// PoolsNear are those of the clusters that q touches: a page of one place does not read all.
	PoolsNear(ctx context.Context, q PoolQuery) ([]PoolState, error)
	Pool(ctx context.Context, id string) (PoolState, error)
}

// PeopleQuery pages through people.
type PeopleQuery struct {
	Search    string
	AfterName string
	AfterID   string
	Limit     int
}

// PoolQuery names clusters: by id, by one of their pools, or by a place that is
// bound there or was ever granted something there.
type PoolQuery struct {
	ClusterIDs, PoolIDs []string
	ProjectID           string
	Environment         string // "": each of the project
}

// PoolState is a pool with what was last observed of it.
type PoolState struct {
	org.Pool
	ClusterName string
	ClusterKind fleet.Kind
	Unit        fleet.Unit
	Product     string
	Capacity    fleet.Measure
	Cards       fleet.Measure
	Nodes       *int
	Notes       []string
	ObservedAt  *time.Time
	// Sums over every queue of the cluster, whoever owns it; unknown until polled.
	Nominal, Reserved, InUse, Borrowed fleet.Measure
	Pending                            fleet.Measure // workloads waiting
	Stale                              bool          // the last poll failed; figures are of ObservedAt
}

// Organisation is the content of an organisation file.
type Organisation struct {
	Units    []org.Unit          `yaml:"units"`
	Teams    []org.Team          `yaml:"teams"`
	Projects []org.Project       `yaml:"projects"`
	People   []OrgPerson         `yaml:"people"`
	Mappings []org.Mapping       `yaml:"roles"`
	Clusters []org.Cluster       `yaml:"clusters"`
	Pools    []org.Pool          `yaml:"pools"`
	Route    []approval.Template `yaml:"route"`
	// Matching says to which project objects found on a cluster belong; empty = org.DefaultRules.
	Matching []org.MatchRule `yaml:"matching"`
}

// OrgPerson announces somebody before the first sign-in; groups are replaced by
// what the provider says at sign-in.
type OrgPerson struct {
	Issuer  string   `yaml:"issuer"` // "" = the configured provider
	Subject string   `yaml:"subject"`
	Name    string   `yaml:"name"`
	Email   string   `yaml:"email"`
	Title   string   `yaml:"title"`
	Groups  []string `yaml:"groups"`
	// LinkedTo names another subject of the same human being.
	LinkedTo string `yaml:"linked_to"`
}
