package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// RunningError says that somebody else runs a server on this directory.
type RunningError struct {
	Dir string
	PID int // of the program that started it, or of the server; 0 when unknown
}

func (e *RunningError) Error() string {
	return fmt.Sprintf("PostgreSQL in %s is in use by process %d: stop that one first (kill -INT %d), or use another directory", e.Dir, e.PID, e.PID)
}

// lockDirectory holds the directory for this process. The kernel gives the lock
// up when the process ends in whatever way, so it is never stale.
func lockDirectory(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		b, _ := io.ReadAll(f) // only for the message
		pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
		return nil, errors.Join(&RunningError{Dir: dir, PID: pid}, f.Close())
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), f.Close())
	}
	return f, nil
}

// dyingPatience is how long a fast shutdown may take.
const dyingPatience = 20 * time.Second

// waitForDying waits for a server whose parent was killed and which is shutting
// down still. It never signals a server and never takes a live one's pid file
// away; one that stays is a server somebody started by hand.
func waitForDying(ctx context.Context, data string) error {
	file := filepath.Join(data, "postmaster.pid")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(dyingPatience)
	for {
		b, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(string(b), "\n")
		pid, err := strconv.Atoi(strings.TrimSpace(first))
		if err != nil {
			return nil // cut short while it was written: PostgreSQL says what to do
		}
		if !isServer(pid) {
			// PostgreSQL would refuse to start where another program has the number now.
			return os.Remove(file)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return &RunningError{Dir: filepath.Dir(data), PID: pid}
		}
	}
}

// maxSocketPath is the room for a Unix socket's name on the strictest system.
const maxSocketPath = 103

// socketDirectory makes a short directory for the Unix socket that only the
// account may enter. Its name follows from dir, so that one left over by a killed
// server is used again; a name that somebody else holds is passed over.
func socketDirectory(dir string, who account) (string, error) {
	sum := sha256.Sum256([]byte(dir))
	name := "qm-pg-" + hex.EncodeToString(sum[:6])
	for _, parent := range []string{os.TempDir(), "/tmp"} {
		path := filepath.Join(parent, name)
		if len(path)+len("/.s.PGSQL.65535") > maxSocketPath || who.blocked(path) != "" {
			continue
		}
		err := who.mkdir(path)
		if err == nil {
			return path, nil
		}
		info, statErr := os.Lstat(path)
		if statErr == nil && info.IsDir() && info.Mode().Perm() == 0o700 && int(info.Sys().(*syscall.Stat_t).Uid) == who.uid {
			return path, nil
		}
	}
	return "", fmt.Errorf("no directory for the Unix socket: set TMPDIR to a short one that %s may enter", who)
}

func (a account) String() string {
	if a.dropped {
		return a.name
	}
	return "you"
}
