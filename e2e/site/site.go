// Package site runs the real binary for the end-to-end tests: `quartermaster dev`
// in a directory of its own, on free ports, stopped by pid. Only tests import it.
package site

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/dev/idp"
)

// Person of the demonstration, as dev.json names them.
type Person struct {
	User     string `json:"user"`
	Name     string `json:"name"`
	Role     string `json:"role"`
	Password string `json:"password"`
	TOTP     string `json:"totp_secret"`
}

// Code is the person's one-time code at a moment.
func (p Person) Code(at time.Time) string { return idp.Code(p.TOTP, at) }

// Site is one running portal.
type Site struct {
	Dir      string
	Portal   string   `json:"portal"`
	Identity string   `json:"identity"`
	Database string   `json:"database"`
	People   []Person `json:"people"`

	args  []string
	env   []string
	cmd   *exec.Cmd
	ended chan struct{}
	out   *tail
}

// build is the program with some build tags, made once a test run.
type build struct {
	tags string
	sync.Once
	binary string
	err    error
}

var (
	shipped = &build{}
	killing = &build{tags: "killpoints"}
)

func (b *build) get() (string, error) {
	b.Do(func() {
		_, file, _, _ := runtime.Caller(0)
		root := filepath.Join(filepath.Dir(file), "..", "..")
		dir, err := os.MkdirTemp("", "quartermaster-bin-")
		if err != nil {
			b.err = err
			return
		}
		b.binary = filepath.Join(dir, "quartermaster")
		cmd := exec.Command("go", "build", "-tags", b.tags, "-o", b.binary, "./cmd/quartermaster")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			b.err = fmt.Errorf("build quartermaster: %w\n%s", err, out)
		}
	})
	return b.binary, b.err
}

// Binary builds the program as it ships, once a test run.
func Binary() (string, error) { return shipped.get() }

// RemoveBinaries deletes what was built.
func RemoveBinaries() {
	for _, b := range []*build{shipped, killing} {
		if b.binary != "" {
			os.RemoveAll(filepath.Dir(b.binary))
		}
	}
}

// Start runs `quartermaster dev` in a fresh directory with extra arguments and waits until it is ready.
func Start(args ...string) (*Site, error) { return StartWith(nil, args...) }

// StartWith is Start with extra variables.
func StartWith(env []string, args ...string) (*Site, error) {
	dir, err := os.MkdirTemp("", "quartermaster-site-")
	if err != nil {
		return nil, err
	}
	s := &Site{Dir: dir, args: args, env: env}
	return s, s.Run()
}

// environment is the caller's without what would configure the program.
func environment(extra []string) []string {
	var out []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "QUARTERMASTER_") && !strings.HasPrefix(kv, "DATABASE_URL=") {
			out = append(out, kv)
		}
	}
	return append(out, extra...)
}

// New is Start for one test; everything is removed with it.
func New(t testing.TB, args ...string) *Site {
	t.Helper()
	return NewWith(t, nil, args...)
}

// NewWith is New with extra variables.
func NewWith(t testing.TB, env []string, args ...string) *Site {
	t.Helper()
	s, err := StartWith(env, args...)
	if s != nil {
		t.Cleanup(func() {
			s.Remove()
			if t.Failed() {
				t.Logf("last output of quartermaster dev:\n%s", s.out.String())
			}
		})
	}
	require.NoError(t, err)
	return s
}

// StayPut makes later runs listen where this one does, so that browsers stay signed in.
func (s *Site) StayPut(t testing.TB) {
	t.Helper()
	host := func(address string) string {
		u, err := url.Parse(address)
		require.NoError(t, err)
		return net.JoinHostPort("127.0.0.1", u.Port())
	}
	s.args = append(s.args, "--listen", host(s.Portal), "--identity-listen", host(s.Identity))
}

// RunToDie starts the program again, built so that it kills itself at a named point.
func (s *Site) RunToDie(point string) error {
	return s.run(killing, append(slices.Clone(s.env), "QUARTERMASTER_TEST_KILL_AT="+point))
}

// Run starts the program again on the same directory.
func (s *Site) Run() error { return s.run(shipped, s.env) }

func (s *Site) run(b *build, env []string) error {
	binary, err := b.get()
	if err != nil {
		return err
	}
	os.Remove(filepath.Join(s.Dir, "dev.json"))
	s.out = &tail{}
	s.cmd = exec.Command(binary, append([]string{"dev", "--data", s.Dir, "--listen", "127.0.0.1:0"}, s.args...)...)
	s.cmd.Env = environment(env)
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	// A test process that is killed takes its portals with it. The kernel sends this
	// signal when the thread that started the child ends, so that thread waits for it.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	started := make(chan error)
	s.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(ended)
	}(s.cmd, s.ended)
	if err := <-started; err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.ended:
			return fmt.Errorf("quartermaster dev ended: %s\n%s", s.cmd.ProcessState, s.out)
		case <-ctx.Done():
			return fmt.Errorf("quartermaster dev was not ready in time\n%s", s.out)
		case <-tick.C:
			if s.ready() {
				return nil
			}
		}
	}
}

func (s *Site) ready() bool {
	raw, err := os.ReadFile(filepath.Join(s.Dir, "dev.json"))
	if err != nil || json.Unmarshal(raw, s) != nil {
		return false
	}
	r, err := http.Get(s.Portal + "/readyz")
	if err != nil {
		return false
	}
	defer r.Body.Close()
	_, _ = io.Copy(io.Discard, r.Body)
	return r.StatusCode == http.StatusOK
}

// Person returns the demonstration's person with a user name.
func (s *Site) Person(t testing.TB, user string) Person {
	t.Helper()
	for _, p := range s.People {
		if p.User == user {
			return p
		}
	}
	require.Failf(t, "no such person", "%s", user)
	return Person{}
}

// Kill ends the program at once, as a power cut would, and waits until it is gone.
func (s *Site) Kill() { s.end(syscall.SIGKILL) }

// Stop asks it to end, as Ctrl-C does, and returns its exit code.
func (s *Site) Stop() int { return s.end(syscall.SIGINT) }

// PID of the running program.
func (s *Site) PID() int { return s.cmd.Process.Pid }

// Ended is closed once the program is gone.
func (s *Site) Ended() <-chan struct{} { return s.ended }

func (s *Site) end(sig syscall.Signal) int {
	if s.cmd == nil || s.cmd.Process == nil {
		return 0
	}
	_ = s.cmd.Process.Signal(sig)
	patience := time.NewTimer(60 * time.Second)
	defer patience.Stop()
	select {
	case <-s.ended:
	case <-patience.C:
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
	code := s.cmd.ProcessState.ExitCode()
	s.cmd = nil
	return code
}

// Remove stops the program and deletes its directory.
func (s *Site) Remove() {
	s.Stop()
	os.RemoveAll(s.Dir)
}

// Output is the end of what the program printed.
func (s *Site) Output() string { return s.out.String() }

// tail keeps the last lines of a program's output.
type tail struct {
	mu    sync.Mutex
	lines []string
	rest  string
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sc := bufio.NewScanner(strings.NewReader(t.rest + string(p)))
	sc.Buffer(nil, 1<<20)
	t.rest = ""
	for sc.Scan() {
		t.lines = append(t.lines, sc.Text())
	}
	if len(p) > 0 && p[len(p)-1] != '\n' && len(t.lines) > 0 {
		t.rest = t.lines[len(t.lines)-1]
		t.lines = t.lines[:len(t.lines)-1]
	}
	if n := len(t.lines) - 400; n > 0 {
		t.lines = t.lines[n:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(append(append([]string(nil), t.lines...), t.rest), "\n")
}
