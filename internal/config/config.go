// Package config reads how an installation is set up: a YAML file, overridden by
// environment variables. cmd reads it once at start and hands values on; nothing
// else looks at the environment. It never holds a default for a secret.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Prefix of the environment variables; the rest of a name is the key's path in
// upper case: database.app is QUARTERMASTER_DATABASE_APP.
const Prefix = "QUARTERMASTER_"

// Secret is a value that is never printed.
type Secret string

// Hidden stands for a secret in what is printed.
const Hidden = "(hidden)"

// MarshalYAML hides the secret.
func (s Secret) MarshalYAML() (any, error) {
	if s == "" {
		return "", nil
	}
	return Hidden, nil
}

// String hides the secret from formatted output.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Hidden
}

// GoString hides it from %#v as well.
func (s Secret) GoString() string { return s.String() }

// Config is the whole configuration of serve.
type Config struct {
	// Listen is the address the portal listens on; port 0 chooses a free one.
	Listen string `yaml:"listen"`
	// BaseURL is how people reach the portal, without a trailing slash.
	BaseURL string `yaml:"base_url"`
	// TrustedProxies may say who a client is by X-Forwarded-For; CIDR.
	TrustedProxies []string `yaml:"trusted_proxies"`
	Database       Database `yaml:"database"`
	Identity       Identity `yaml:"identity"`
	// KeyFile holds the key-encryption keys, newest first, one base64 key a line.
	KeyFile string `yaml:"key_file"`
	Record  Record `yaml:"record"`
	Poll    Poll   `yaml:"poll"`
	Keep    Keep   `yaml:"keep"`
	Log     Log    `yaml:"log"`
}

// Database addresses, one a duty: each is a PostgreSQL URL with its own role.
type Database struct {
	App     Secret `yaml:"app"`     // serve; must not own history tables
	Migrate Secret `yaml:"migrate"` // migrate; owns the schema
	Signer  Secret `yaml:"signer"`  // reads the record, adds checkpoints
	// Connections the app pool may open.
	Connections int `yaml:"connections"`
}

// Record is how the tree over the record is signed.
type Record struct {
	// SignerKeyFile holds the private key of this log, made by quartermaster key. A
	// replica with it and database.signer signs.
	SignerKeyFile string `yaml:"signer_key_file"`
	// TrustedKeys are the public keys of the log's signers, past and present; that of
	// SignerKeyFile need not be named.
	TrustedKeys []string `yaml:"trusted_keys"`
}

// Identity is the OpenID Connect provider.
type Identity struct {
	Name         string   `yaml:"name"` // as the sign-in button says it
	Issuer       string   `yaml:"issuer"`
	ClientID     string   `yaml:"client_id"`
	ClientSecret Secret   `yaml:"client_secret"`
	Scopes       []string `yaml:"scopes"`
	GroupsClaim  string   `yaml:"groups_claim"`
	// MultiFactorACR lists acr values that prove two factors. They are asked for at step-up.
	MultiFactorACR []string `yaml:"multi_factor_acr"`
	// IgnoreAMR: do not read amr, for a provider known to list methods that were not used.
	IgnoreAMR bool `yaml:"ignore_amr"`
}

// Poll is how clusters are read.
type Poll struct {
	Every   time.Duration `yaml:"every"`
	Timeout time.Duration `yaml:"timeout"`
}

// Keep is for how many days the history of use is kept; 0 = for ever. Decisions and
// the record are always kept, and so are sums by the month.
type Keep struct {
	ReadingsDays int `yaml:"readings_days"` // readings of clusters, polls, workloads that ended
	HoursDays    int `yaml:"hours_days"`    // roll-ups by the hour
	DaysDays     int `yaml:"days_days"`     // roll-ups by the day
}

// Log is what is logged.
type Log struct {
	Level  string `yaml:"level"`  // debug, info, warn, error
	Format string `yaml:"format"` // json or text
}

// Default is what holds where nothing is said.
func Default() Config {
	return Config{
		Listen:   "127.0.0.1:8080",
		Database: Database{Connections: 20},
		Identity: Identity{
			Name: "single sign-on", Scopes: []string{"profile", "email", "groups"}, GroupsClaim: "groups",
		},
		Poll: Poll{Every: 30 * time.Second, Timeout: 20 * time.Second},
		Keep: Keep{ReadingsDays: 30, HoursDays: 400},
		Log:  Log{Level: "info", Format: "json"},
	}
}

// Load reads file (skipped when "") and then environ over the defaults. Unknown
// keys and variables are refused, so that a typing error never passes in silence.
func Load(file string, environ []string) (Config, error) {
	c := Default()
	if file != "" {
		raw, err := os.ReadFile(file)
		if err != nil {
			return c, fmt.Errorf("read configuration: %w", err)
		}
		d := yaml.NewDecoder(bytes.NewReader(raw))
		d.KnownFields(true)
		if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
			return c, fmt.Errorf("configuration %s: %w", file, err)
		}
		if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
			return c, fmt.Errorf("configuration %s holds more than one document: remove the --- lines, what follows them would not count", file)
		}
	}
	if err := c.override(environ); err != nil {
		return c, err
	}
	return c, nil
}

func (c *Config) override(environ []string) error {
	known := map[string]reflect.Value{}
	walk(reflect.ValueOf(c).Elem(), "", known)
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, Prefix) || name == Prefix+"CONFIG" {
			continue
		}
		field, ok := known[name]
		if !ok {
			return fmt.Errorf("environment variable %s is not known; known are %s", name, strings.Join(names(known), ", "))
		}
		if err := set(field, value); err != nil {
			return fmt.Errorf("environment variable %s: %w", name, err)
		}
	}
	return nil
}

func walk(v reflect.Value, path string, known map[string]reflect.Value) {
	for i := range v.NumField() {
		key := path + strings.ToUpper(v.Type().Field(i).Tag.Get("yaml"))
		if f := v.Field(i); f.Kind() == reflect.Struct {
			walk(f, key+"_", known)
		} else {
			known[Prefix+key] = f
		}
	}
}

func names(known map[string]reflect.Value) []string {
	out := make([]string, 0, len(known))
	for n := range known {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

func set(f reflect.Value, value string) error {
	switch f.Interface().(type) {
	case time.Duration:
		d, err := time.ParseDuration(value)
		if err != nil {
			return fmt.Errorf("%q is not a duration such as 30s", value)
		}
		f.SetInt(int64(d))
	case []string:
		var list []string
		for _, s := range strings.Split(value, ",") {
			if s = strings.TrimSpace(s); s != "" {
				list = append(list, s)
			}
		}
		f.Set(reflect.ValueOf(list))
	case bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", value)
		}
		f.SetBool(b)
	case int:
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", value)
		}
		f.SetInt(int64(n))
	default:
		f.SetString(value)
	}
	return nil
}

// Check returns everything that keeps serve from starting, in one error.
func (c Config) Check() error {
	var all []error
	wrong := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		wrong("listen: %q is not host:port", c.Listen)
	}
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || strings.HasSuffix(c.BaseURL, "/"):
		wrong("base_url: the https address people use, without a slash at the end")
	case u.Scheme == "http":
		wrong("base_url: serve needs https; put a reverse proxy with a certificate in front, or use quartermaster dev")
	}
	if c.Database.App == "" {
		wrong("database.app: the PostgreSQL address of the app role")
	}
	if c.Identity.Issuer == "" || c.Identity.ClientID == "" {
		wrong("identity.issuer and identity.client_id: the OpenID Connect provider")
	}
	if c.KeyFile == "" {
		wrong("key_file: the file with the key that seals cluster tokens; make one with: head -c 32 /dev/urandom | base64 > key")
	}
	if c.Record.SignerKeyFile == "" && len(c.Record.TrustedKeys) == 0 {
		wrong("record.signer_key_file or record.trusted_keys: without a key of the log nothing is pushed; make one with: quartermaster key FILE")
	}
	if (c.Record.SignerKeyFile == "") != (c.Database.Signer == "") {
		wrong("record.signer_key_file and database.signer: a replica that signs needs both, one that does not neither")
	}
	for _, p := range c.TrustedProxies {
		if _, err := netip.ParsePrefix(p); err != nil {
			wrong("trusted_proxies: %q is not a network such as 10.0.0.0/8", p)
		}
	}
	if c.Database.Connections < 2 {
		wrong("database.connections: %d are too few, at least 2", c.Database.Connections)
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level) {
		wrong("log.level: %q is not one of debug, info, warn, error", c.Log.Level)
	}
	if !slices.Contains([]string{"json", "text"}, c.Log.Format) {
		wrong("log.format: %q is neither json nor text", c.Log.Format)
	}
	if c.Poll.Every < time.Second || c.Poll.Timeout <= 0 {
		wrong("poll: every at least 1s, and a timeout above 0")
	}
	k := c.Keep
	if k.ReadingsDays < 0 || k.HoursDays < 0 || k.DaysDays < 0 || k.ReadingsDays == 1 || longer(k.ReadingsDays, k.HoursDays) || longer(k.HoursDays, k.DaysDays) {
		wrong("keep: readings_days at least 2 (0 = for ever), hours_days not less than it, and days_days not less than hours_days")
	}
	return errors.Join(all...)
}

// longer: a is kept longer than b, where 0 is for ever.
func longer(a, b int) bool { return b != 0 && (a == 0 || a > b) }

// Print writes the effective configuration with secrets hidden.
func (c Config) Print(w io.Writer) error {
	e := yaml.NewEncoder(w)
	defer e.Close()
	return e.Encode(c)
}
