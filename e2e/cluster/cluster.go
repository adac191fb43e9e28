// Package cluster starts a real Kubernetes control plane with Kueue on loopback
// for tests: etcd, kube-apiserver, controller manager, scheduler, kwok (which
// plays the kubelets of fake GPU nodes) and the Kueue manager, each its own
// process on free ports with its own certificates in a temporary directory.
//
// The adapter's tests and the browser tests call it. It must never be linked
// into the product, never reach beyond 127.0.0.1 and never leave a process
// behind: every child is stopped by its pid and dies with the test process.
package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// Cluster is one running control plane. Its methods are safe for tests that run
// in parallel, except StopAPIServer and StartAPIServer.
type Cluster struct {
	dir      string
	binaries string
	options  options
	ports    ports
	pki      *pki
	admin    *rest.Config
	spawner  *spawner

	mu      sync.Mutex // guards what follows; components start side by side
	running map[string]*process
	order   []string
}

type options struct {
	kueue    bool
	onlyBeta bool
}

// Option changes what Start brings up.
type Option func(*options)

// WithoutKueue leaves Kueue out altogether: a cluster where ResourceQuota alone
// limits.
func WithoutKueue() Option { return func(o *options) { o.kueue = false } }

// WithOnlyV1beta1 installs Kueue's definitions with v1beta1 as the only served
// version and no manager, as an old release would serve them.
func WithOnlyV1beta1() Option {
	return func(o *options) { o.kueue, o.onlyBeta = false, true }
}

// Start returns a ready cluster that stops when the test ends. When the test
// fails, the ends of the components' logs are printed.
func Start(t testing.TB, opts ...Option) *Cluster {
	t.Helper()
	began := time.Now()
	c, stop, err := StartShared(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("test cluster ready after %s", time.Since(began).Round(100*time.Millisecond))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.LogTails(15))
		}
		stop()
	})
	return c
}

// StartShared is Start for a TestMain; the caller stops the cluster.
func StartShared(opts ...Option) (_ *Cluster, stop func(), err error) {
	o := options{kueue: true}
	for _, set := range opts {
		set(&o)
	}
	binaries, err := findBinaries()
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "controlplane-")
	if err != nil {
		return nil, nil, err
	}
	c := &Cluster{dir: dir, binaries: binaries, options: o, spawner: newSpawner(), running: map[string]*process{}}
	defer func() {
		if err != nil {
			err = fmt.Errorf("start the test cluster: %w\n%s", err, c.LogTails(15))
			c.stop()
		}
	}()
	if c.ports, err = pickPorts(); err != nil {
		return nil, nil, err
	}
	if c.pki, err = issuePKI(filepath.Join(dir, "pki"), c.Server()); err != nil {
		return nil, nil, err
	}
	if c.admin, err = c.pki.restConfig(c.Server(), "admin"); err != nil {
		return nil, nil, err
	}
	if err = c.startAll(); err != nil {
		return nil, nil, err
	}
	return c, c.stop, nil
}

// Server is the API server's address.
func (c *Cluster) Server() string { return fmt.Sprintf("https://127.0.0.1:%d", c.ports.apiserver) }

// CA is the PEM certificate that the API server's certificate is signed with.
func (c *Cluster) CA() []byte { return c.pki.pem("ca.crt") }

// AdminConfig is a connection that may do everything, for arranging tests.
func (c *Cluster) AdminConfig() *rest.Config { return rest.CopyConfig(c.admin) }

func (c *Cluster) stop() {
	for i := len(c.order) - 1; i >= 0; i-- {
		c.running[c.order[i]].kill()
	}
	c.spawner.close()
	_ = os.RemoveAll(c.dir)
}

// StopAPIServer kills the API server without notice: the cluster is down.
func (c *Cluster) StopAPIServer(t testing.TB) {
	t.Helper()
	c.running[apiserver].kill()
}

// StartAPIServer brings it back on the same address with the same data and
// waits until it is ready.
func (c *Cluster) StartAPIServer(t testing.TB) {
	t.Helper()
	if err := c.startAPIServer(); err != nil {
		t.Fatal(err)
	}
}

// findBinaries looks for the control plane that `make test` builds, upwards from
// the working directory, which for a test is its package's.
func findBinaries() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "e2e", "controlplane", "build.sh")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("the repository's root is not above the working directory")
		}
		dir = up
	}
	bin := filepath.Join(dir, "e2e", "controlplane", "bin")
	for _, name := range []string{"hyperkube", "kueue", "kwok", "kueue.json"} {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			return "", fmt.Errorf("%s is missing: run `make test` (it builds the control plane of the cluster tests) or e2e/controlplane/build.sh", filepath.Join("e2e/controlplane/bin", name))
		}
	}
	return bin, nil
}

// readyWithin bounds every wait for a component; it is generous because a busy
// machine is slow, not broken.
const readyWithin = 2 * time.Minute
