// Package slurm is the Slurm adapter: it reads accounts, nodes and jobs through
// Slurm's own commands (scontrol, squeue, sinfo), writes the GPU limits of accounts with
// sacctmgr, and implements fleet.Cluster. Jobs reach it through that interface; only cmd
// constructs it. It must never decide what a limit should be, never run a shell, never
// delete an association (that kills its jobs), never take an exit code for a proof, and
// never take "could not be read" for "there is none".
package slurm

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// Mark is the description of accounts that the portal made.
const Mark = "quartermaster"

// Config is all a connection is made from: nothing an administrator types here
// can name a file or run a program of theirs.
type Config struct {
	// Server is slurmctld's host:port; after a comma slurmdbd's, where the controller
	// does not name one that can be reached from here.
	Server string
	// Token is a JSON Web Token of a Slurm user with AdminLevel Operator.
	Token string
	// CallTimeout bounds each command; 0 means 30 s.
	CallTimeout time.Duration
	// WatchEvery is how often Watch asks for the jobs; 0 means 5 s.
	WatchEvery time.Duration
}

// Cluster is one connected Slurm. It is safe for concurrent use.
type Cluster struct {
	address Address
	token   token
	timeout time.Duration
	every   time.Duration
	now     func() time.Time

	mu    sync.Mutex
	dir   string // of the generated slurm.conf; "" before the first call
	facts *facts // nil before the controller has said who it is
}

var _ fleet.Cluster = (*Cluster)(nil)

// New checks the configuration; it does not call the cluster yet.
func New(config Config) (*Cluster, error) {
	wrong := fault.New(fault.Invalid, "The connection is not complete.")
	address, err := ParseAddress(config.Server)
	if err != nil {
		wrong.At("server", "%s", fault.As(err).Public)
	}
	token, err := readToken(config.Token)
	if err != nil {
		wrong.At("token", "%s", fault.As(err).Public)
	}
	if err := wrong.OrNil(); err != nil {
		return nil, err
	}
	c := &Cluster{address: address, token: token, timeout: config.CallTimeout, every: config.WatchEvery, now: time.Now}
	if c.timeout == 0 {
		c.timeout = 30 * time.Second
	}
	if c.every == 0 {
		c.every = 5 * time.Second
	}
	return c, nil
}

// Close removes the generated configuration.
func (c *Cluster) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		return nil
	}
	dir := c.dir
	c.dir, c.facts = "", nil
	return os.RemoveAll(dir)
}

// settled is what every call begins with: the controller can be reached, the token
// has not ended, and it is known which cluster this is.
func (c *Cluster) settled(ctx context.Context) (facts, error) {
	if err := c.token.valid(c.now()); err != nil {
		return facts{}, err
	}
	if err := reach(ctx, c.address.Controller); err != nil {
		return facts{}, err
	}
	c.mu.Lock()
	known := c.facts
	c.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	return c.ask(ctx)
}

// ask reads the controller's configuration and keeps what later calls need.
func (c *Cluster) ask(ctx context.Context) (facts, error) {
	if err := c.writeConfig(facts{}); err != nil {
		return facts{}, err
	}
	text, err := c.run(ctx, "scontrol", "show", "config")
	if err != nil {
		return facts{}, err
	}
	f, err := readFacts(string(text), c.address)
	if err != nil {
		return f, err
	}
	if err := c.writeConfig(f); err != nil {
		return f, err
	}
	c.mu.Lock()
	c.facts = &f
	c.mu.Unlock()
	return f, nil
}

// missing reports a command that is not on this machine.
func missing(program string, err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return fault.Newf(fault.Unavailable, "The command %s is not on the portal's machine. Install Slurm's client commands there (on Debian slurm-client and slurm-wlm-jwt-plugin).", program).Because(err)
	}
	return nil
}
