// Package e2e plays whole journeys: a real browser, the real program with its
// real database and identity provider, a real Kubernetes API server with Kueue.
// Each journey plays its roles and looks at what people would look at.
package e2e

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/browser"
	"quartermaster/e2e/cluster"
	"quartermaster/e2e/site"
)

// shared is what one test run starts at most once: the first test that needs a
// part starts it, TestMain stops it.
var shared struct {
	browser lazy[*browser.Browser]
	cluster lazy[*cluster.Cluster]
	demo    lazy[*site.Site] // the demonstration as people first see it
	lab     lazy[*site.Site] // the same people, no simulated cluster
}

// lazy starts its value once; a failure is everybody's.
type lazy[T any] struct {
	once  sync.Once
	value T
	stop  func()
	err   error
}

func (l *lazy[T]) get(t testing.TB, start func() (T, func(), error)) T {
	t.Helper()
	l.once.Do(func() { l.value, l.stop, l.err = start() })
	require.NoError(t, l.err)
	return l.value
}

func (l *lazy[T]) end() {
	if l.stop != nil {
		l.stop()
	}
}

// scratch is a directory for files that several tests share.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "quartermaster-e2e-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	shared.browser.end()
	shared.demo.end()
	shared.lab.end()
	shared.cluster.end()
	site.RemoveBinaries()
	os.RemoveAll(scratch)
	if left := children(); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "processes left behind:", left)
		code = 1
	}
	os.Exit(code)
}

func theBrowser(t testing.TB) *browser.Browser {
	t.Helper()
	return shared.browser.get(t, func() (*browser.Browser, func(), error) {
		b, err := browser.Start()
		if err != nil {
			return nil, nil, err
		}
		return b, b.Stop, nil
	})
}

func theCluster(t testing.TB) *cluster.Cluster {
	t.Helper()
	return shared.cluster.get(t, func() (*cluster.Cluster, func(), error) { return cluster.StartShared() })
}

// ownCluster is for tests whose queues would fill the pools of others.
func ownCluster(t testing.TB) *cluster.Cluster {
	t.Helper()
	c, stop, err := cluster.StartShared()
	require.NoError(t, err)
	t.Cleanup(stop)
	return c
}

// theDemo is `quartermaster dev` as it comes.
func theDemo(t testing.TB) *site.Site {
	t.Helper()
	return shared.demo.get(t, func() (*site.Site, func(), error) { return started(site.Start("--poll", "1s")) })
}

// theLab has the demonstration's people, teams and projects and no cluster.
func theLab(t testing.TB) *site.Site {
	t.Helper()
	return shared.lab.get(t, func() (*site.Site, func(), error) {
		return started(site.Start("--poll", "1s", "--org", labOrganisation(t)))
	})
}

func started(s *site.Site, err error) (*site.Site, func(), error) {
	if s == nil {
		return nil, nil, err
	}
	return s, s.Remove, err
}
