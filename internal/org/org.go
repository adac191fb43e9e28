// Package org knows the organisation: business units, teams, projects, people
// and the roles their groups give them. It is read by every use case that asks
// who may do what. It never signs anybody in and never stores anything.
package org

import (
	"slices"
	"sort"
	"time"

	"quartermaster/internal/fleet"
)

// Role is what a person may do; see design.md §1. Frozen strings: they are stored and recorded.
type Role string

const (
	Requester       Role = "requester"
	TeamManager     Role = "team_manager"
	CapacityManager Role = "capacity_manager"
	Compliance      Role = "compliance_officer"
	Auditor         Role = "auditor"
	PlatformAdmin   Role = "platform_admin"
	Finance         Role = "finance"
)

// Roles lists all, in the order in which pages show them.
var Roles = []Role{Requester, TeamManager, CapacityManager, Compliance, Auditor, PlatformAdmin, Finance}

// Label is the role as people read it.
func (r Role) Label() string {
	switch r {
	case Requester:
		return "Requester"
	case TeamManager:
		return "Team manager"
	case CapacityManager:
		return "Capacity manager"
	case Compliance:
		return "Compliance officer"
	case Auditor:
		return "Auditor"
	case PlatformAdmin:
		return "Platform admin"
	case Finance:
		return "Finance"
	}
	return string(r)
}

// Valid reports whether r is one of Roles.
func (r Role) Valid() bool { return slices.Contains(Roles, r) }

// ScopeKind is the level at which a role holds.
type ScopeKind string

const (
	Everywhere   ScopeKind = "organisation"
	UnitScope    ScopeKind = "unit"
	TeamScope    ScopeKind = "team"
	ClusterScope ScopeKind = "cluster"
	PoolScope    ScopeKind = "pool"
)

// Scope is where a role holds; ID is empty for Everywhere.
type Scope struct {
	Kind ScopeKind `json:"kind" yaml:"kind"`
	ID   string    `json:"id,omitempty" yaml:"id,omitempty"`
}

func (s Scope) String() string {
	if s.Kind == Everywhere || s.Kind == "" {
		return string(Everywhere)
	}
	return string(s.Kind) + " " + s.ID
}

// Assignment is one role somebody holds and where it comes from.
type Assignment struct {
	Role  Role   `json:"role"`
	Scope Scope  `json:"scope"`
	Group string `json:"group"` // the identity provider's group that brings it
}

// Person is somebody known to the portal. ID is random; who it is at the
// identity provider is (Issuer, Subject), never the e-mail address.
type Person struct {
	ID      string
	Issuer  string
	Subject string
	Name    string
	Email   string
	// Identity is shared by linked accounts of one human being; two people with the same one count once.
	Identity string
	Active   bool
	Groups   []string
	// Roles in force, resolved from Groups by the mappings in force.
	Roles []Assignment
	// LastSignIn is nil for somebody who was announced and never signed in.
	LastSignIn *time.Time
}

// Unit is a business unit.
type Unit struct {
	ID   string `yaml:"id"`
	Name string `yaml:"name"`
}

// Team asks for capacity through its projects.
type Team struct {
	ID     string `yaml:"id"`
	Name   string `yaml:"name"`
	UnitID string `yaml:"unit"`
}

// Project is what capacity is for.
type Project struct {
	ID           string   `yaml:"id"`
	Name         string   `yaml:"name"`
	TeamID       string   `yaml:"team"`
	Owner        string   `yaml:"owner"` // subject of the owning person
	CostCentre   string   `yaml:"cost_centre"`
	Environments []string `yaml:"environments"`
	DataClasses  []string `yaml:"data_classes"`
}

// Environments in the order of growing care.
var Environments = []string{"development", "evaluation", "staging", "production"}

// WorkloadTypes that a request may name.
var WorkloadTypes = []string{"training", "inference", "batch", "development"}

// Mapping gives a role to the members of a group.
type Mapping struct {
	Group string `yaml:"group"`
	Role  Role   `yaml:"role"`
	Scope Scope  `yaml:"scope"`
}

// Cluster as the organisation names it; how to reach it is kept apart.
type Cluster struct {
	ID   string     `yaml:"id"`
	Name string     `yaml:"name"`
	Kind fleet.Kind `yaml:"kind"`
	// RootCohort is the Cohort above all team cohorts of the template.
	RootCohort string `yaml:"root_cohort"`
}

// Pool is one kind of accelerator on one cluster with what it costs.
type Pool struct {
	ID        string        `yaml:"id"`
	ClusterID string        `yaml:"cluster"`
	Name      string        `yaml:"name"` // as people say it: H100 80 GB
	Key       fleet.PoolKey `yaml:",inline"`
	Tier      string        `yaml:"tier"`
	// HourlyRate for one unit, in hundredths of the currency.
	HourlyCents int64  `yaml:"hourly_cents"`
	Currency    string `yaml:"currency"`
	// BorrowCeiling bounds what a soft limit may borrow: nil = no limit.
	BorrowCeiling *fleet.Quantity `yaml:"borrow_ceiling"`
	// CPU and Memory that come with each unit, so that pods which ask for them are admitted.
	CPUPerUnit    fleet.Quantity `yaml:"cpu_per_unit"`
	MemoryPerUnit fleet.Quantity `yaml:"memory_per_unit"`
	// DataClasses that may be processed here; empty = all.
	DataClasses []string `yaml:"data_classes"`
}

// Resolve returns the roles that groups bring under mappings, each once, in a stable order.
func Resolve(groups []string, mappings []Mapping) []Assignment {
	var out []Assignment
	for _, m := range mappings {
		if slices.Contains(groups, m.Group) {
			out = append(out, Assignment{Role: m.Role, Scope: m.Scope, Group: m.Group})
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := slices.Index(Roles, out[i].Role), slices.Index(Roles, out[j].Role)
		if a != b {
			return a < b
		}
		return out[i].Scope.String() < out[j].Scope.String()
	})
	return out
}

// Has reports whether p holds role anywhere.
func (p Person) Has(role Role) bool {
	return slices.ContainsFunc(p.Roles, func(a Assignment) bool { return a.Role == role })
}

// HasAny reports whether p holds one of roles anywhere.
func (p Person) HasAny(roles ...Role) bool { return slices.ContainsFunc(roles, p.Has) }

// Holding returns the assignment by which p holds role at place, and whether there is one.
func (p Person) Holding(role Role, at Place) (Assignment, bool) {
	for _, a := range p.Roles {
		if a.Role == role && at.within(a.Scope) {
			return a, true
		}
	}
	return Assignment{}, false
}

// Place is where something is: the ids a scope is compared with. Empty ids match no scope but Everywhere.
type Place struct{ UnitID, TeamID, ClusterID, PoolID string }

func (at Place) within(s Scope) bool {
	switch s.Kind {
	case Everywhere:
		return true
	case UnitScope:
		return s.ID != "" && s.ID == at.UnitID
	case TeamScope:
		return s.ID != "" && s.ID == at.TeamID
	case ClusterScope:
		return s.ID != "" && s.ID == at.ClusterID
	case PoolScope:
		return s.ID != "" && s.ID == at.PoolID
	}
	return false
}

// SeesEverything reports whether p may read beyond the own teams: those whose work is the whole.
func (p Person) SeesEverything() bool {
	return p.HasAny(CapacityManager, Compliance, Auditor, PlatformAdmin, Finance)
}

// Teams p belongs to by a role on the team; nil with all=true when p sees everything.
func (p Person) Teams() (ids []string, all bool) {
	if p.SeesEverything() {
		return nil, true
	}
	for _, a := range p.Roles {
		if a.Scope.Kind == Everywhere {
			return nil, true
		}
		if a.Scope.Kind == TeamScope && !slices.Contains(ids, a.Scope.ID) {
			ids = append(ids, a.Scope.ID)
		}
	}
	return ids, false
}
