package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	readyWithin = 2 * time.Minute // the machine may be busy with other tests
	endWithin   = 20 * time.Second
)

// process is one daemon. exited is closed once it is gone.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

// spawner starts processes from one OS thread that lives as long as the daemons: the
// kernel sends a child its death signal when the *thread* that started it ends.
type spawner struct {
	starts chan *exec.Cmd
	errs   chan error
}

func newSpawner() *spawner {
	s := &spawner{starts: make(chan *exec.Cmd), errs: make(chan error)}
	go func() {
		runtime.LockOSThread()
		for cmd := range s.starts {
			s.errs <- cmd.Start()
		}
	}()
	return s
}

func (s *spawner) close() { close(s.starts) }

// run starts a daemon as a user, with its output in a file of its name.
func (s *Slurm) run(name string, as account, env []string, program string, args ...string) error {
	binary, err := lookUp(program)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(s.path(name+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env, cmd.SysProcAttr = s.dir, out, out, s.env(env), as.attributes()
	p := &process{cmd: cmd, exited: make(chan struct{})}
	s.spawner.starts <- cmd
	if err := <-s.spawner.errs; err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	go func() {
		_ = cmd.Wait()
		close(p.exited)
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.order, name) {
		s.order = append(s.order, name)
	}
	s.running[name] = p
	return nil
}

// lookUp finds a program, also among those that only root has in PATH.
func lookUp(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	if path := filepath.Join("/usr/sbin", program); isFile(path) {
		return path, nil
	}
	return "", fmt.Errorf("%s is missing: scripts/setup.sh test installs it", program)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func (s *Slurm) env(more []string) []string {
	return append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "SLURM_CONF=" + s.path("etc", "slurm.conf")}, more...)
}

// end asks the process to stop and waits; one that will not is killed.
func (p *process) end() {
	select {
	case <-p.exited:
		return
	default:
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	late := time.NewTimer(endWithin)
	defer late.Stop()
	select {
	case <-p.exited:
	case <-late.C:
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

// waitFor polls ready until it holds, the process dies or the time is over.
func (s *Slurm) waitFor(name string, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	s.mu.Lock()
	p := s.running[name]
	s.mu.Unlock()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		once, stop := context.WithTimeout(ctx, 10*time.Second)
		err := ready(once)
		stop()
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("%s ended: %s", name, p.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s: %w", name, readyWithin, err)
		case <-tick.C:
		}
	}
}

// command runs one command to its end as a user and returns what it wrote.
func (s *Slurm) command(ctx context.Context, as account, env []string, program string, args ...string) (string, error) {
	binary, err := lookUp(program)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = s.path("jobs"), s.env(env), as.attributes()
	cmd.SysProcAttr.Pdeathsig = 0 // the thread that starts it may end first
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		return out.String(), errors.Join(fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err), errors.New(problem.String()+out.String()))
	}
	return out.String(), nil
}

// admin runs one command as Slurm's own user, who may do everything.
func (s *Slurm) admin(program string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	_, err := s.command(ctx, s.users.slurm, nil, program, args...)
	return err
}

// LogTails returns the last lines of every daemon's output and log.
func (s *Slurm) LogTails(lines int) string {
	var out strings.Builder
	outputs, _ := filepath.Glob(s.path("*.out"))
	logs, _ := filepath.Glob(s.path("log", "*.log"))
	for _, file := range append(outputs, logs...) {
		text, err := os.ReadFile(file)
		if err != nil || len(text) == 0 {
			continue
		}
		all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
		fmt.Fprintf(&out, "--- %s\n%s\n", filepath.Base(file), strings.Join(all[max(0, len(all)-lines):], "\n"))
	}
	return out.String()
}
