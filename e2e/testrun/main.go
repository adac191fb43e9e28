// Command testrun runs `go test` the way make test does: on one PostgreSQL for
// all packages, quiet about what passes, loud about what does not, and with one
// last line for people and machines alike: "N passed, 0 failed". A skipped test
// and a package that does not build count as failed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"quartermaster/db/dbtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run takes the arguments of go test.
func run(ctx context.Context, args []string) (ok bool, err error) {
	if os.Getenv("TEST_DATABASE_URL") == "" {
		s, err := dbtest.StartServer(ctx)
		if err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, s.Stop()) }()
		if err := os.Setenv("TEST_DATABASE_URL", s.URL("postgres")); err != nil {
			return false, err
		}
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	sum := newSummary(os.Stdout)
	readErr := sum.read(events)
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return false, err
	}
	return sum.finish(exit == nil && readErr == nil), readErr
}
