// Package site runs the real binary for the end-to-end tests: `quartermaster dev`
// in a directory of its own, on free ports, stopped by pid. Only tests import it.
package site

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

var build struct {
	sync.Once
	binary string
	err    error
}

// Binary builds the program once a test run.
func Binary() (string, error) {
	build.Do(func() {
		_, file, _, _ := runtime.Caller(0)
		root := filepath.Join(filepath.Dir(file), "..", "..")
		dir, err := os.MkdirTemp("", "quartermaster-bin-")
		if err != nil {
			build.err = err
			return
		}
		build.binary = filepath.Join(dir, "quartermaster")
		cmd := exec.Command("go", "build", "-o", build.binary, "./cmd/quartermaster")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			build.err = fmt.Errorf("build quartermaster: %w\n%s", err, out)
		}
	})
	return build.binary, build.err
}

// RemoveBinaries deletes what Binary built.
func RemoveBinaries() {
	if build.binary != "" {
		os.RemoveAll(filepath.Dir(build.binary))
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

// Run starts the program again on the same directory.
func (s *Site) Run() error {
	binary, err := Binary()
	if err != nil {
		return err
	}
	os.Remove(filepath.Join(s.Dir, "dev.json"))
	s.out = &tail{}
	s.cmd = exec.Command(binary, append([]string{"dev", "--data", s.Dir, "--listen", "127.0.0.1:0"}, s.args...)...)
	s.cmd.Env = environment(s.env)
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(s.cmd, s.ended)
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
