// Package postgres runs a private PostgreSQL for development and tests, from
// server binaries that are already on the machine.
//
// It owns one directory: the data of one server, the password of its superuser
// and a lock. `quartermaster dev`, db/dbtest and the test runner call it. It must
// never download a server, never delete or convert data, and never listen on
// anything but 127.0.0.1 and a private Unix socket. Production does not use it:
// `quartermaster serve` is given the address of a PostgreSQL that others operate.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	_ "github.com/lib/pq" // readiness is asked over the wire
)

const superuser = "postgres"

// Options says where and how to start a server.
type Options struct {
	Dir  string    // made when missing; belongs to this server alone
	Log  io.Writer // receives the server's log; nil discards it
	Port int       // 0 takes a free one on every start
	Fast bool      // trades durability for speed: tests only
}

// Server is one running PostgreSQL. Stop must be called; should this process be
// killed instead, Linux stops the server by itself.
type Server struct {
	Version string // for example "15.14"
	Port    int
	PID     int

	password string
	lock     *os.File
	sockets  string
	process  *process
	stopOnce sync.Once
	stopErr  error
}

// Start makes the directory when it is new, starts the server and returns once
// it answers. The error is a *MissingError, *VersionError or *RunningError where
// the person at the keyboard can mend it.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &Server{}
	if s.lock, err = lockDirectory(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.release()
		}
	}()

	data := filepath.Join(dir, "data")
	bin, err := findBinaries(data)
	if err != nil {
		return nil, err
	}
	s.Version = bin.version
	who, err := accountFor(data)
	if err != nil {
		return nil, err
	}
	if s.password, err = readPassword(dir, data); err != nil {
		return nil, err
	}
	if err := initialize(ctx, bin, who, dir, s.password, o); err != nil {
		return nil, err
	}
	if err := waitForDying(ctx, data); err != nil {
		return nil, err
	}
	if s.sockets, err = socketDirectory(dir, who); err != nil {
		return nil, err
	}
	// A port is free when it is looked for and may be taken a moment later.
	for attempt := 1; ; attempt++ {
		err = s.launch(ctx, bin, who, data, o)
		if err == nil {
			return s, nil
		}
		if attempt == 5 || ctx.Err() != nil || !retryable(err, o.Port) {
			return nil, err
		}
	}
}

func (s *Server) launch(ctx context.Context, bin binaries, who account, data string, o Options) error {
	s.Port = o.Port
	if s.Port == 0 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		s.Port = l.Addr().(*net.TCPAddr).Port
		l.Close()
	}
	args := []string{"-p", strconv.Itoa(s.Port), "-k", s.sockets,
		"-c", "listen_addresses=127.0.0.1", "-c", "timezone=UTC", "-c", "log_timezone=UTC", "-c", "log_checkpoints=off"}
	if o.Fast {
		args = append(args, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off",
			"-c", "max_connections=400")
	}
	p, err := start(bin.path("postgres"), who, data, o.Log, nil, args...)
	if err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	s.process, s.PID = p, p.cmd.Process.Pid
	if err := s.waitReady(ctx, filepath.Join(data, "postmaster.pid")); err != nil {
		return errors.Join(err, p.stop())
	}
	return nil
}

// waitReady returns when the server answers, or why it never will. It connects
// only once the server calls itself ready (the eighth line of its pid file), as
// each earlier attempt would leave an alarming line in the log.
func (s *Server) waitReady(ctx context.Context, pidFile string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	db, err := sql.Open("postgres", s.URL("postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		b, err := os.ReadFile(pidFile)
		if lines := strings.Split(string(b), "\n"); err == nil && len(lines) >= 8 && strings.TrimSpace(lines[7]) == "ready" {
			if err = db.PingContext(ctx); err == nil {
				return nil
			}
		}
		select {
		case <-s.process.done:
			return &exitError{log: s.process.tail.String(), err: s.process.err}
		case <-ctx.Done():
			return fmt.Errorf("postgres on port %d does not answer: %w (%v); its log ends:\n%s", s.Port, ctx.Err(), err, s.process.tail.String())
		case <-tick.C:
		}
	}
}

// URL is the address of a database on this server, as its superuser. It holds
// the password: never log it.
func (s *Server) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(superuser, s.password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)), Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// Done is closed when the server has ended, asked or not.
func (s *Server) Done() <-chan struct{} { return s.process.done }

// Stop shuts the server down: transactions are rolled back, data is flushed. It
// may be called more than once.
func (s *Server) Stop() error {
	s.stopOnce.Do(func() {
		s.stopErr = s.process.stop()
		s.release()
	})
	return s.stopErr
}

func (s *Server) release() {
	if s.sockets != "" {
		os.RemoveAll(s.sockets)
	}
	if s.lock != nil {
		s.lock.Close() // closing gives up the lock
	}
}

// exitError is a server that ended before it answered.
type exitError struct {
	log string
	err error
}

func (e *exitError) Error() string {
	return fmt.Sprintf("postgres ended at once (%v); its log:\n%s", e.err, e.log)
}

// retryable tells a lost race (the port was taken, or children of a server that
// was killed have not ended yet) from a server that will never start.
func retryable(err error, port int) bool {
	var e *exitError
	if !errors.As(err, &e) {
		return false
	}
	if strings.Contains(e.log, "pre-existing shared memory block") {
		time.Sleep(300 * time.Millisecond)
		return true
	}
	return port == 0 && strings.Contains(e.log, "could not bind")
}
