package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"quartermaster/internal/fault"
)

const (
	// mostOutput bounds what one command may answer: the jobs of the largest cluster fit.
	mostOutput = 512 << 20
	// nobody is the user that has no rights of its own on any Unix.
	nobody = 65534
	// reachWithin is how long a connection may take; Slurm's own commands would try for longer.
	reachWithin = 3 * time.Second
)

// run starts one of Slurm's commands with exactly these arguments: no shell, nothing of
// the portal's own environment, the token only in the child's. Slurm trusts the token
// and not the user of the operating system, so that as root the child is nobody.
func (c *Cluster) run(ctx context.Context, program string, args ...string) ([]byte, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, missing(program, err)
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	c.mu.Lock()
	config := filepath.Join(c.dir, "slurm.conf")
	c.mu.Unlock()
	cmd := exec.CommandContext(limited, path, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", "SLURM_CONF=" + config, "SLURM_JWT=" + c.token.text}
	cmd.WaitDelay = time.Second
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, problem := &bounded{}, &bounded{}
	cmd.Stdout, cmd.Stderr = out, problem
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, timeOf(ctx.Err())
	}
	if limited.Err() != nil {
		return nil, fault.Newf(fault.Unavailable, "Slurm did not answer %s within %s.", program, c.timeout)
	}
	if err == nil {
		return out.Bytes(), nil
	}
	if e := missing(program, err); e != nil {
		return nil, e
	}
	return nil, fmt.Errorf("%s: %w", program, explain(program, problem.String()+"\n"+out.head(), err))
}

// timeOf keeps a cancelled call as it is; one that took too long says so to people.
func timeOf(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Unavailable, "Slurm did not answer in time.").Because(err)
	}
	return err
}

// reach makes a connection and closes it, to say clearly and soon that nobody listens.
func reach(ctx context.Context, address string) error {
	conn, err := (&net.Dialer{Timeout: reachWithin}).DialContext(ctx, "tcp", address)
	if err == nil {
		return conn.Close()
	}
	if ctx.Err() != nil {
		return timeOf(ctx.Err())
	}
	var unknown *net.DNSError
	if errors.As(err, &unknown) {
		return fault.Newf(fault.Unavailable, "The name %s is not known here.", unknown.Name).Because(err)
	}
	return fault.Newf(fault.Unavailable, "Nothing answers at %s: slurmctld is down or the address is wrong.", address).Because(err)
}

// bounded is a buffer that refuses to grow for ever.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > mostOutput {
		return 0, errors.New("the answer is too long")
	}
	return b.Buffer.Write(p)
}

// head is enough of the output to explain an error with.
func (b *bounded) head() string {
	text := b.String()
	return text[:min(len(text), 4096)]
}
