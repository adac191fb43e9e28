// Package slurm starts a real Slurm on loopback for tests: munge, MariaDB, slurmdbd,
// slurmctld, one slurmd for each of two fake GPU nodes, and slurmrestd, each its own
// process on free ports with its own keys in a temporary directory.
//
// The adapter's tests and the browser tests call it. It must never be linked into
// the product, never reach beyond 127.0.0.1, never touch the machine's own Slurm and never
// leave a process behind: every child is stopped by its pid and dies with the test process.
package slurm

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Name is the ClusterName; GPUs is how many each of the two nodes has.
const (
	Name = "testbed"
	GPUs = 8
)

// Types are the GRES types: one node of each.
var Types = []string{"a100", "h100"}

// Slurm is one running installation. Its methods are safe for tests that run in
// parallel, except those that stop a daemon.
type Slurm struct {
	dir     string
	ports   ports
	users   users
	spawner *spawner

	mu      sync.Mutex // guards what follows
	running map[string]*process
	order   []string
}

// Start returns a ready installation that stops when the test ends. When the test
// fails, the ends of the daemons' logs are printed.
func Start(t testing.TB) *Slurm {
	t.Helper()
	began := time.Now()
	s, stop, err := StartShared()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("test Slurm ready after %s", time.Since(began).Round(100*time.Millisecond))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.LogTails(15))
		}
		stop()
	})
	return s
}

// StartShared is Start for a TestMain; the caller stops the installation.
func StartShared() (_ *Slurm, stop func(), err error) {
	s := &Slurm{spawner: newSpawner(), running: map[string]*process{}}
	if s.dir, err = os.MkdirTemp("", "slurm-"); err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("start the test Slurm: %w\n%s", err, s.LogTails(15))
			s.stop()
		}
	}()
	if s.users, err = findUsers(); err != nil {
		return nil, nil, err
	}
	if s.ports, err = pickPorts(); err != nil {
		return nil, nil, err
	}
	if err = s.writeConfig(); err != nil {
		return nil, nil, err
	}
	if err = s.startAll(); err != nil {
		return nil, nil, err
	}
	return s, s.stop, nil
}

// Controller is the address of slurmctld.
func (s *Slurm) Controller() string { return address(s.ports.controller) }

// REST is the URL of slurmrestd.
func (s *Slurm) REST() string { return "http://" + address(s.ports.rest) }

// Portal is the Slurm user whose token the portal gets: an Operator.
func (s *Slurm) Portal() string { return s.users.portal.name }

// Submitters are users who may be given associations and submit jobs; two where the
// tests run as root.
func (s *Slurm) Submitters() []string {
	out := []string{s.users.submitters[0].name}
	if last := s.users.submitters[len(s.users.submitters)-1].name; last != out[0] {
		out = append(out, last)
	}
	return out
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func (s *Slurm) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

// stop ends everything, newest first, after the jobs: those would outlive slurmd.
func (s *Slurm) stop() {
	s.cancelAll()
	for i := len(s.order) - 1; i >= 0; i-- {
		s.running[s.order[i]].end()
	}
	s.endSteps()
	s.spawner.close()
	_ = os.RemoveAll(s.dir)
}
