package postgres

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is a server program and the end of its log.
type process struct {
	cmd  *exec.Cmd
	tail *tail
	done chan struct{}
	err  error // set before done is closed
}

// start runs a server program on a data directory and stays with it on one OS
// thread: Linux sends the parent death signal when the *thread* that started the
// child ends, so that thread has to live exactly as long as the child. A password
// file, when given, reaches the child open.
func start(path string, who account, data string, log io.Writer, password *os.File, args ...string) (*process, error) {
	at, closeData, err := who.reach(data)
	if err != nil {
		return nil, err
	}
	defer closeData.Close()
	p := &process{cmd: exec.Command(path, "-D", at), tail: &tail{next: log}, done: make(chan struct{})}
	p.cmd.ExtraFiles = []*os.File{closeData}
	if password != nil {
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, password)
		p.cmd.Args = append(p.cmd.Args, fmt.Sprintf("--pwfile=/dev/fd/%d", firstExtra+1))
	}
	p.cmd.Args = append(p.cmd.Args, args...)
	p.cmd.Dir = "/" // the working directory may be closed to the account
	p.cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	p.cmd.Stdout, p.cmd.Stderr = p.tail, p.tail
	p.cmd.SysProcAttr = who.attributes()

	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.done)
		}
	}()
	return p, <-started
}

// stop asks for a fast shutdown, and for an immediate one when that takes longer
// than half a minute.
func (p *process) stop() error {
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		_ = p.cmd.Process.Signal(sig) // it may have ended already
		select {
		case <-p.done:
			var exit *exec.ExitError
			if sig == syscall.SIGINT && errors.As(p.err, &exit) {
				return fmt.Errorf("postgres: %w", p.err)
			}
			return nil
		case <-time.After(30 * time.Second):
		}
	}
	return fmt.Errorf("postgres process %d does not end", p.cmd.Process.Pid)
}

// tail passes a log on and keeps its end for error messages.
type tail struct {
	mu   sync.Mutex
	next io.Writer
	kept []byte
}

const tailBytes = 2000

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if n := len(t.kept) - tailBytes; n > 0 {
		t.kept = append(t.kept[:0], t.kept[n:]...)
	}
	if t.next != nil {
		_, _ = t.next.Write(b) // a log that cannot be written must not stop the server
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
