package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"quartermaster/db"
	"quartermaster/internal/config"
	"quartermaster/internal/dev/demo"
	"quartermaster/internal/dev/idp"
	"quartermaster/internal/dev/postgres"
	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/internal/seal"
)

const (
	devClient   = "portal"
	devIdentity = "Built-in sign-in (demonstration)"
	devAppRole  = "quartermaster_portal"

	devSignerRole = "quartermaster_sign"
)

func devCommand() *cobra.Command {
	d := devSite{}
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run the demonstration: database, identity provider, simulated clusters, portal",
		Long:  "Run everything on this machine, for demonstration and development: a private PostgreSQL (or DATABASE_URL), the built-in identity provider, simulated clusters with living usage, a demonstration organisation and the portal. Ctrl-C stops all of it; the data stay.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.out = cmd.OutOrStdout()
			return d.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&d.listen, "listen", "127.0.0.1:8080", "address of the portal; port 0 chooses a free one")
	cmd.Flags().StringVar(&d.identityListen, "identity-listen", "", "address of the identity provider; default: the port after the portal's, or a free one")
	cmd.Flags().StringVar(&d.dir, "data", "data", "directory for everything that stays")
	cmd.Flags().StringVar(&d.org, "org", "", "organisation file to start with instead of the demonstration's")
	cmd.Flags().DurationVar(&d.poll, "poll", 30*time.Second, "how often clusters are read")
	cmd.Flags().StringVar(&d.level, "log-level", "warn", "debug, info, warn or error")
	return cmd
}

// devSite is one run of the demonstration.
type devSite struct {
	listen, identityListen, dir, org, level string
	poll                                    time.Duration
	out                                     io.Writer

	log    *slog.Logger
	people []devPerson
	o      portal.Organisation
}

// devPerson is how one demonstration person is described in dev.json.
type devPerson struct {
	User     string `json:"user"`
	Name     string `json:"name"`
	Role     string `json:"role"`
	Password string `json:"password"`
	TOTP     string `json:"totp_secret"`
}

func (d *devSite) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d.log = newLogger(config.Log{Level: d.level, Format: "text"}, os.Stderr)
	dir, err := filepath.Abs(d.dir)
	if err != nil {
		return err
	}
	d.dir = dir
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return err
	}
	unlock, err := d.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Remove(d.file("dev.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	owner, stopDatabase, err := d.database(ctx, cancel)
	if err != nil {
		return err
	}
	defer stopDatabase()

	l, err := net.Listen("tcp", d.listen)
	if err != nil {
		return fmt.Errorf("%w: something else listens there; choose another with --listen", err)
	}
	il, err := d.identityListener(l)
	if err != nil {
		l.Close()
		return err
	}
	cfg := config.Default()
	cfg.Listen, cfg.BaseURL = l.Addr().String(), localhost(l)
	cfg.Poll.Every = d.poll
	cfg.Identity.Name, cfg.Identity.Issuer, cfg.Identity.ClientID = devIdentity, localhost(il), devClient
	cfg.Identity.MultiFactorACR = []string{idp.ACRMultiFactor}
	if cfg.Database.App, err = d.appRole(ctx, owner); err != nil {
		return err
	}
	if err := d.signer(ctx, owner, &cfg); err != nil {
		return err
	}
	if err := d.load(cfg.Identity.Issuer); err != nil {
		return err
	}
	secret, err := d.serveIdentity(il, cfg)
	if err != nil {
		return err
	}
	cfg.Identity.ClientSecret = config.Secret(secret)
	ring, err := d.ring()
	if err != nil {
		return err
	}
	s, err := newSite(ctx, cfg, ring, demonstration{d.simulated(), cfg.Identity.Issuer + "/people"}, d.log)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := d.fill(ctx, s, cfg); err != nil {
		return err
	}
	err = s.serve(ctx, l, d.log, func() error { return d.announce(cfg, owner) })
	if cause := context.Cause(ctx); errors.Is(cause, errDatabaseEnded) {
		return fmt.Errorf("%w; its log is %s", cause, d.file("postgres.log"))
	}
	return err
}

// errDatabaseEnded ends the demonstration: without its database there is nothing to show.
var errDatabaseEnded = errors.New("PostgreSQL ended by itself, so everything was stopped. What was committed is kept: start again")

func (d *devSite) file(name string) string { return filepath.Join(d.dir, name) }

// lock keeps a second run off the directory, also one on another database. It is
// gone when the process dies.
func (d *devSite) lock() (unlock func(), err error) {
	f, err := os.OpenFile(d.file("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s is in use by another quartermaster dev: stop that one, or choose another directory with --data", d.dir)
	}
	return func() { f.Close() }, nil
}

// localhost is how a browser reaches l: passkeys and cookies want the name.
func localhost(l net.Listener) string {
	return fmt.Sprintf("http://localhost:%d", l.Addr().(*net.TCPAddr).Port)
}

// database starts the private PostgreSQL, or takes DATABASE_URL, and migrates it.
// A server that ends by itself ends the whole demonstration.
func (d *devSite) database(ctx context.Context, cancel context.CancelCauseFunc) (owner string, stop func(), err error) {
	stop = func() {}
	owner = os.Getenv("DATABASE_URL")
	if owner == "" {
		serverLog, err := os.OpenFile(d.file("postgres.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return "", nil, err
		}
		server, err := postgres.Start(ctx, postgres.Options{Dir: d.file("postgres"), Log: serverLog})
		if err != nil {
			serverLog.Close()
			return "", nil, err
		}
		stop = func() { server.Stop(); serverLog.Close() }
		go func() {
			select {
			case <-server.Done():
				cancel(errDatabaseEnded)
			case <-ctx.Done():
			}
		}()
		owner = server.URL("postgres")
	}
	if err := db.Migrate(ctx, owner); err != nil {
		stop()
		return "", nil, err
	}
	return owner, stop, nil
}

// signer gives the log its own login and its key, as in production.
func (d *devSite) signer(ctx context.Context, owner string, cfg *config.Config) error {
	password, err := d.kept("signer-password", func() (string, error) { return randomHex(16) })
	if err != nil {
		return err
	}
	role := fmt.Sprintf("%s_%x", devSignerRole, sha256.Sum256([]byte(d.dir)))[:len(devSignerRole)+9]
	if err := db.EnsureSignerRole(ctx, owner, role, password); err != nil {
		return err
	}
	url, err := db.AsUser(owner, role, password)
	if err != nil {
		return err
	}
	cfg.Database.Signer, cfg.Record.SignerKeyFile = config.Secret(url), d.file("signer-key")
	if _, err := os.Stat(cfg.Record.SignerKeyFile); err == nil {
		return nil
	}
	return makeKey(ctx, url, cfg.Record.SignerKeyFile)
}

// appRole gives the portal a login that cannot change the record, as in production.
func (d *devSite) appRole(ctx context.Context, owner string) (config.Secret, error) {
	password, err := d.kept("app-password", func() (string, error) { return randomHex(16) })
	if err != nil {
		return "", err
	}
	// Roles belong to the whole server, which DATABASE_URL may share with other directories.
	role := fmt.Sprintf("%s_%x", devAppRole, sha256.Sum256([]byte(d.dir)))[:len(devAppRole)+9]
	if err := db.EnsureAppRole(ctx, owner, role, password); err != nil {
		return "", err
	}
	url, err := db.AsUser(owner, role, password)
	return config.Secret(url), err
}

// kept returns a value that was made at the first start.
func (d *devSite) kept(name string, make func() (string, error)) (string, error) {
	raw, err := os.ReadFile(d.file(name))
	if err == nil {
		return strings.TrimSpace(string(raw)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	value, err := make()
	if err != nil {
		return "", err
	}
	return value, demo.WriteFile(d.file(name), []byte(value+"\n"), 0o600)
}

func (d *devSite) ring() (seal.Ring, error) {
	text, err := d.kept("key", func() (string, error) {
		k, err := seal.NewKey()
		return k.Encode(), err
	})
	if err != nil {
		return seal.Ring{}, err
	}
	return seal.ParseRing(text)
}

func (d *devSite) identityListener(portalListener net.Listener) (net.Listener, error) {
	if d.identityListen != "" {
		return net.Listen("tcp", d.identityListen)
	}
	host, port, err := net.SplitHostPort(d.listen)
	if err != nil {
		return nil, err
	}
	if port != "0" {
		next := portalListener.Addr().(*net.TCPAddr).Port + 1
		if l, err := net.Listen("tcp", net.JoinHostPort(host, fmt.Sprint(next))); err == nil {
			return l, nil
		}
	}
	return net.Listen("tcp", net.JoinHostPort(host, "0"))
}

// load reads the organisation and the secrets of its people.
func (d *devSite) load(issuer string) error {
	file := demo.Org
	if d.org != "" {
		raw, err := os.ReadFile(d.org)
		if err != nil {
			return err
		}
		file = raw
	}
	o, err := parseOrganisation(file, issuer)
	if err != nil {
		return err
	}
	d.o = o
	var subjects []string
	for _, p := range o.People {
		subjects = append(subjects, p.Subject)
	}
	secrets, err := demo.Secrets(d.dir, subjects)
	if err != nil {
		return err
	}
	for _, p := range o.People {
		var roles []string
		for _, a := range org.Resolve(p.Groups, o.Mappings) {
			roles = append(roles, string(a.Role))
		}
		d.people = append(d.people, devPerson{
			User: p.Subject, Name: p.Name, Role: strings.Join(roles, ","),
			Password: secrets[p.Subject].Password, TOTP: secrets[p.Subject].TOTP,
		})
	}
	return nil
}

// serveIdentity runs the built-in provider for as long as the process lives.
func (d *devSite) serveIdentity(l net.Listener, cfg config.Config) (clientSecret string, err error) {
	clientSecret, err = d.kept("client-secret", func() (string, error) { return randomHex(16) })
	if err != nil {
		return "", err
	}
	dir := d.file("identity")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	var users []idp.User
	for i, p := range d.o.People {
		users = append(users, idp.User{
			Subject: p.Subject, Username: p.Subject, Name: p.Name, Email: p.Email, Groups: p.Groups, Title: p.Title,
			Password: d.people[i].Password, TOTPSecret: d.people[i].TOTP,
		})
	}
	h, err := idp.New(idp.Config{Issuer: cfg.Identity.Issuer, Users: users, Dir: dir, Dev: true, Log: d.log, Clients: []idp.Client{{
		ID: devClient, Secret: clientSecret, RedirectURIs: []string{cfg.BaseURL + paths.Callback},
		PostLogout: []string{cfg.BaseURL + paths.SignedOut}, BackChannel: cfg.BaseURL + paths.BackChannelLogout,
	}}})
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			d.log.Error("identity provider", "err", err)
		}
	}()
	return clientSecret, nil
}

// fill imports the organisation; the demonstration's own also gets some history.
// The provider's address changes with the port, and people are (issuer, subject):
// those of an earlier run are carried over.
func (d *devSite) fill(ctx context.Context, s *site, cfg config.Config) error {
	actor := portal.Actor{System: "command:dev", Via: "import"}
	before, err := d.kept("issuer", func() (string, error) { return cfg.Identity.Issuer, nil })
	if err != nil {
		return err
	}
	if before != cfg.Identity.Issuer {
		if _, err := s.portal.MoveIssuer(ctx, actor, before, cfg.Identity.Issuer); err != nil {
			return err
		}
		if err := demo.WriteFile(d.file("issuer"), []byte(cfg.Identity.Issuer+"\n"), 0o600); err != nil {
			return err
		}
	}
	if _, err := os.Stat(d.file("filled")); err == nil {
		return nil
	}
	if _, err := s.portal.ImportOrg(ctx, actor, d.o, false); err != nil {
		return err
	}
	if d.org == "" {
		if err := demo.Seed(ctx, s.portal, cfg.Identity.Issuer); err != nil {
			return err
		}
	}
	return demo.WriteFile(d.file("filled"), []byte(time.Now().UTC().Format(time.RFC3339)+"\n"), 0o600)
}

// announce writes dev.json for scripts and tells people where to go.
func (d *devSite) announce(cfg config.Config, owner string) error {
	raw, err := json.MarshalIndent(map[string]any{
		"portal": cfg.BaseURL, "identity": cfg.Identity.Issuer, "database": owner, "people": d.people,
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := demo.WriteFile(d.file("dev.json"), raw, 0o600); err != nil {
		return err
	}
	w := d.out
	fmt.Fprintf(w, "\nQuartermaster  %s   (listening on %s)\n", cfg.BaseURL, cfg.Listen)
	fmt.Fprintf(w, "One-time codes %s/people\n\n", cfg.Identity.Issuer)
	fmt.Fprintf(w, "  %-8s %-18s %-20s %s\n", "user", "password", "name", "role")
	for _, p := range d.people {
		fmt.Fprintf(w, "  %-8s %-18s %-20s %s\n", p.User, p.Password, p.Name, p.Role)
	}
	_, err = fmt.Fprintf(w, "\nSign in with a user, the password and the code shown on the page above. Ctrl-C stops everything; data stay in %s.\n", d.dir)
	return err
}
