package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// process is one component. exited is closed once it is gone.
type process struct {
	name   string
	cmd    *exec.Cmd
	exited chan struct{}
}

// spawner starts processes from one OS thread that lives as long as the cluster.
// The kernel sends a child its death signal when the *thread* that started it
// ends (prctl(2), PR_SET_PDEATHSIG), so an ordinary goroutine would not do.
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

// run starts one component with its output in a log file of its name.
func (c *Cluster) run(name, binary string, args ...string) error {
	log, err := os.OpenFile(c.logFile(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(c.binaries, binary), args...)
	cmd.Dir = c.dir
	cmd.Stdout, cmd.Stderr = log, log
	// A group of its own keeps Ctrl-C on the terminal for the test process alone.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p := &process{name: name, cmd: cmd, exited: make(chan struct{})}
	c.spawner.starts <- cmd
	if err := <-c.spawner.errs; err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	go func() {
		_ = cmd.Wait()
		close(p.exited)
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, again := c.running[name]; !again {
		c.order = append(c.order, name)
	}
	c.running[name] = p
	return nil
}

// kill ends the process at once and waits until it is gone. Nothing it holds is
// wanted afterwards: the data directory is the test's.
func (p *process) kill() {
	select {
	case <-p.exited:
		return
	default:
	}
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// waitFor polls ready until it holds, the process dies or the time is over.
func (c *Cluster) waitFor(name string, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	c.mu.Lock()
	p := c.running[name]
	c.mu.Unlock()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		once, stop := context.WithTimeout(ctx, 5*time.Second)
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

func (c *Cluster) logFile(name string) string { return filepath.Join(c.dir, name+".log") }

// LogTails returns the last lines of every component's log.
func (c *Cluster) LogTails(lines int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out strings.Builder
	for _, name := range c.order {
		text, err := os.ReadFile(c.logFile(name))
		if err != nil {
			continue
		}
		all := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
		fmt.Fprintf(&out, "--- %s\n%s\n", name, bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
	}
	return out.String()
}
