package portal

import (
	"context"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

// ObjectReader reads how found objects are matched, and kept files of objects.
type ObjectReader interface {
	// MatchRules in force, in the order of trying; none = org.DefaultRules.
	MatchRules(ctx context.Context) ([]org.MatchRule, error)
	// NewestImport is the file of objects that was kept last for a cluster; nil = none.
	NewestImport(ctx context.Context, clusterID string) (*ObjectImport, error)
}

// ObjectWriter keeps files of objects.
type ObjectWriter interface {
	InsertObjectImport(ctx context.Context, i ObjectImport) error
}

// ObjectImport is a kept file of objects.
type ObjectImport struct {
	ID        string
	ClusterID string
	FileName  string
	Digest    string // SHA-256 of the file
	Dump      fleet.Dump
	At        time.Time
}
