// Package sim is the simulated cluster of quartermaster dev and of load tests: a
// fleet.Cluster whose queues hold limits as Kueue's do and whose workloads come
// and go with the clock it is given. Its objects survive in one file; its
// workloads are grown again from the seed. cmd and tests make it; nothing in
// production does, and each page that shows one says that it is simulated.
package sim

import (
	"context"
	"fmt"
	"log/slog"
	"sort"
	"sync"
	"time"

	"quartermaster/internal/fleet"
)

// Names of the field managers, as on a real cluster.
const (
	shapeManager  = "quartermaster-shape"
	limitsManager = "quartermaster"
)

// Config says what the cluster is made of.
type Config struct {
	ID    string
	Pools []Pool
	// Queues exist from the beginning, made by somebody else; once the file exists they are not made again.
	Queues []Queue
	// Loose are accelerators that somebody uses outside of every queue.
	Loose []fleet.Loose
	Seed  uint64
	// File keeps the objects over restarts; "" keeps them in memory.
	File string
	Now  func() time.Time
	// Idle: no workloads but those that Submit brings.
	Idle bool
	// History is how far back workloads are grown at the start; 0 = 12 h.
	History time.Duration
	// WatchEvery is how often a watch looks for what changed; 0 = 1 s.
	WatchEvery time.Duration
	// Log receives what cannot be returned; nil = nothing.
	Log *slog.Logger
}

// Pool is one kind of accelerator: Nodes × PerNode units.
type Pool struct {
	Key           fleet.PoolKey
	Product       string
	Unit          fleet.Unit
	Nodes         int
	PerNode       int
	CPUPerUnit    fleet.Quantity
	MemoryPerUnit fleet.Quantity
}

// Queue is a queue that exists before the portal.
type Queue struct {
	Name       string
	Cohort     string
	Parent     string // of the cohort
	Namespace  string
	LocalQueue string
	Manager    string // field manager of its limits: kubectl, argocd-controller …
	Limits     []fleet.Limit
}

// Cluster is one simulated cluster. Safe for concurrent use.
type Cluster struct {
	cfg Config

	mu        sync.Mutex
	objects   map[fleet.ObjectRef]*object
	version   int64 // the last resourceVersion given
	writes    map[fleet.ObjectRef]int
	world     *world
	intercept func(ctx context.Context, call string) error
	// afterWrite runs after n objects of an apply were written; tests break off there.
	afterWrite func(ref fleet.ObjectRef) error
}

var _ fleet.Cluster = (*Cluster)(nil)

// Open makes the cluster, or reads it back from its file.
func Open(cfg Config) (*Cluster, error) {
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return time.Now().UTC() }
	}
	if cfg.History == 0 {
		cfg.History = 12 * time.Hour
	}
	if cfg.WatchEvery == 0 {
		cfg.WatchEvery = time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	sort.Slice(cfg.Pools, func(i, j int) bool { return cfg.Pools[i].Key.String() < cfg.Pools[j].Key.String() })
	c := &Cluster{cfg: cfg, objects: map[fleet.ObjectRef]*object{}, writes: map[fleet.ObjectRef]int{}}
	found, err := c.load()
	if err != nil {
		return nil, fmt.Errorf("simulated cluster %s: %w", cfg.ID, err)
	}
	if !found {
		c.seed()
		if err := c.save(); err != nil {
			return nil, fmt.Errorf("simulated cluster %s: %w", cfg.ID, err)
		}
	}
	now := cfg.Now()
	c.world = newWorld(cfg, now.Add(-cfg.History))
	c.world.reshape(c.objects)
	c.world.advance(now)
	return c, nil
}

// Intercept runs before each call (discover, observe, plan, apply, read back,
// watch): an error is what the caller gets. It stands for a cluster that is down
// or slow. nil ends it.
func (c *Cluster) Intercept(f func(ctx context.Context, call string) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.intercept = f
}

// AfterWrite runs after each object that an apply wrote; an error breaks the apply
// off there, as a lost connection does. nil ends it.
func (c *Cluster) AfterWrite(f func(ref fleet.ObjectRef) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.afterWrite = f
}

// Writes says how often the content of an object was changed by the portal.
func (c *Cluster) Writes(ref fleet.ObjectRef) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes[ref]
}

// enter is the beginning of each call: the interception, then the lock, then the
// world brought up to now.
func (c *Cluster) enter(ctx context.Context, call string) (leave func(), err error) {
	c.mu.Lock()
	f := c.intercept
	c.mu.Unlock()
	if f != nil {
		if err := f(ctx, call); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, tooSlow(err)
	}
	c.mu.Lock()
	c.world.advance(c.cfg.Now())
	return c.mu.Unlock, nil
}
