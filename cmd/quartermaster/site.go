package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"quartermaster/assets"
	"quartermaster/db"
	"quartermaster/handlers"
	"quartermaster/handlers/oidc"
	"quartermaster/internal/config"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/internal/seal"
	"quartermaster/internal/signin"
	"quartermaster/jobs"
	"quartermaster/k8s"
	"quartermaster/slurm"
)

// site is one running portal: store, use cases, jobs and pages, wired together.
type site struct {
	store  *db.Store
	portal *portal.Portal
	runner *jobs.Runner
	pages  http.Handler
	close  []func()
}

// dialer reaches a cluster by kind; dev adds the simulated ones.
type dialer func(ctx context.Context, c portal.Cluster) (fleet.Cluster, error)

// demonstration is what only dev has; its zero value is serve's.
type demonstration struct {
	simulated dialer
	codes     string // address of the page with everybody's one-time codes
}

// reach is nil in every build but that of the kill tests (killpoints.go).
var reach func(point string)

// newPortal opens the store and wires the use cases: what the command line needs
// as much as serve. Whoever calls it calls closeAll at the end.
func newPortal(ctx context.Context, cfg config.Config, ring seal.Ring, simulated dialer, log *slog.Logger) (store *db.Store, p *portal.Portal, closeAll func(), err error) {
	store, err = db.Open(ctx, string(cfg.Database.App), db.Options{MaxConns: cfg.Database.Connections, Log: log})
	if err != nil {
		return nil, nil, nil, err
	}
	p = &portal.Portal{
		Store: store, Seal: ring.Seal, Open: ring.Open, Log: log, BaseURL: cfg.BaseURL,
		ReadDump:  k8s.ReadDump,
		Now:       func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }, // what PostgreSQL and entries keep
		NewID:     uuid.NewString,
		PollEvery: cfg.Poll.Every, PollTimeout: cfg.Poll.Timeout, Reach: reach,
		Retention: portal.Retention{Readings: cfg.Keep.ReadingsDays, Hours: cfg.Keep.HoursDays, Days: cfg.Keep.DaysDays},
	}
	c := &clusters{store: store, open: ring.Open, simulated: simulated, known: map[string]dialled{}}
	p.Dial, p.Probe = c.dial, c.probe
	if p.Trusted, err = trustedKeys(cfg.Record); err != nil {
		c.close()
		store.Close()
		return nil, nil, nil, err
	}
	return store, p, func() { c.close(); store.Close() }, nil
}

// clusters keeps one client a cluster, so that connections are reused; a changed
// address or token makes a new one.
type clusters struct {
	store     *db.Store
	open      func(sealed []byte, context string) ([]byte, error)
	simulated dialer

	mu    sync.Mutex
	known map[string]dialled
}

type dialled struct {
	stamp   string // what the client was made from
	cluster fleet.Cluster
}

func (c *clusters) dial(ctx context.Context, id string) (fleet.Cluster, error) {
	row, err := c.store.Cluster(ctx, id)
	if err != nil {
		return nil, err
	}
	if row.Kind == fleet.Simulated {
		if c.simulated == nil {
			return nil, fault.New(fault.Unavailable, "This is a simulated cluster. It exists only in quartermaster dev.")
		}
		return c.simulated(ctx, row)
	}
	if !row.Reachable() {
		return nil, fault.Newf(fault.Unavailable, "%s is not connected. Connect it, or import its objects from a file.", row.Name)
	}
	conn, sealed, err := c.store.ClusterAddress(ctx, id)
	if err != nil {
		return nil, err
	}
	stamp := conn.Server + "\x00" + conn.CA + "\x00" + hex.EncodeToString(sealed)
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.known[id]; ok && k.stamp == stamp {
		return k.cluster, nil
	}
	token, err := c.open(sealed, id)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "The token of this cluster cannot be opened with the key file in use. Connect it again, or restore the key.").Because(err)
	}
	conn.Token, conn.Kind = string(token), row.Kind
	k, err := c.probe(ctx, conn)
	if err != nil {
		return nil, err
	}
	c.known[id].close()
	c.known[id] = dialled{stamp, k}
	return k, nil
}

// close ends the clients that keep something outside the program.
func (c *clusters) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.known {
		k.close()
	}
	clear(c.known)
}

func (d dialled) close() {
	if k, ok := d.cluster.(io.Closer); ok {
		_ = k.Close() // a file of its own in the temporary directory; nothing is lost with it
	}
}

// probe makes a client; it does not talk to the cluster yet.
func (c *clusters) probe(_ context.Context, conn portal.Connection) (fleet.Cluster, error) {
	switch conn.Kind {
	case fleet.Kubernetes:
		return k8s.New(k8s.Config{Server: conn.Server, CA: []byte(conn.CA), Token: conn.Token})
	case fleet.Slurm:
		return slurm.New(slurm.Config{Server: conn.Server, Token: conn.Token})
	}
	return nil, fault.Newf(fault.Invalid, "Clusters of kind %s cannot be connected.", conn.Kind)
}

// newSite wires everything that serve and dev run.
func newSite(ctx context.Context, cfg config.Config, ring seal.Ring, d demonstration, log *slog.Logger) (_ *site, err error) {
	if err := assets.Check(); err != nil {
		return nil, err
	}
	s := &site{}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	var closeAll func()
	if s.store, s.portal, closeAll, err = newPortal(ctx, cfg, ring, d.simulated, log); err != nil {
		return nil, err
	}
	s.close = append(s.close, closeAll)
	if err := s.refuseToServe(ctx); err != nil {
		return nil, err
	}
	signer, err := s.signer(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	s.runner, err = jobs.New(jobs.Config{
		DB: s.store.DB().DB, Listen: string(cfg.Database.App), Portal: s.portal, Signer: signer, Every: cfg.Poll.Every, UIPrefix: paths.Jobs, Log: log,
	})
	if err != nil {
		return nil, err
	}
	id := cfg.Identity
	provider, err := oidc.New(ctx, oidc.Config{
		Name: id.Name, Issuer: id.Issuer, ClientID: id.ClientID, ClientSecret: string(id.ClientSecret), CallbackURL: cfg.BaseURL + paths.Callback,
		Scopes: id.Scopes, GroupsClaim: id.GroupsClaim, UserInfo: true, FirstLogout: s.portal.FirstLogout,
	})
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	var proxies []netip.Prefix
	for _, p := range cfg.TrustedProxies {
		prefix, err := netip.ParsePrefix(p)
		if err != nil {
			return nil, err
		}
		proxies = append(proxies, prefix)
	}
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	pages, err := handlers.New(handlers.Config{
		Portal: s.portal, Log: log, BaseURL: cfg.BaseURL, SignInOrigins: []string{id.Issuer},
		SignIn: handlers.SignIn{
			Use: s.portal, Provider: provider, DB: s.store.DB().DB, StepUpACR: id.MultiFactorACR,
			Trust: signin.Trust{MultiFactorACR: id.MultiFactorACR, IgnoreAMR: id.IgnoreAMR}, Demo: d.codes != "", Codes: d.codes,
		},
		Assets: assets.Handler(), JobsUI: s.runner.UI(), Metrics: metrics, JobsWaiting: s.store.JobsWaiting, Ready: s.ready, TrustedProxies: proxies,
		Version: version(), PollEvery: cfg.Poll.Every,
	})
	if err != nil {
		return nil, err
	}
	s.pages = pages
	s.close = append(s.close, pages.Close)
	return s, nil
}

// refuseToServe returns why this database cannot be served from: a schema older
// than the program, or a role that could change the record.
func (s *site) refuseToServe(ctx context.Context) error {
	applied, built, err := db.SchemaVersion(ctx, s.store.DB().DB)
	if err != nil {
		return err
	}
	if applied < built {
		return fmt.Errorf("the database schema is version %d and this program needs %d: run quartermaster migrate", applied, built)
	}
	owns, err := s.store.AppOwnsHistory(ctx)
	if err != nil {
		return err
	}
	if owns {
		return errors.New("database.app connects as a role that could change the record (owner, superuser, or with the right to): give it a role that is only a member of quartermaster_app")
	}
	return nil
}

// ready is what /readyz answers by.
func (s *site) ready(ctx context.Context) error { return s.store.Ready(ctx) }

// Close ends what newSite began, in reverse.
func (s *site) Close() {
	for i := len(s.close) - 1; i >= 0; i-- {
		s.close[i]()
	}
}

// serve runs jobs and pages until ctx ends; ready is called once requests are answered.
func (s *site) serve(ctx context.Context, l net.Listener, log *slog.Logger, ready func() error) error {
	if err := s.runner.Start(ctx); err != nil {
		return err
	}
	server := handlers.NewServer(s.pages, log)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	err := ready()
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	return errors.Join(err, server.Shutdown(stop), s.runner.Stop(stop))
}

func randomHex(n int) (string, error) {
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		return "", err
	}
	return hex.EncodeToString(b), nil
}
