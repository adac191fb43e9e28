package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"

	"quartermaster/internal/dev/postgres"
)

// Schema returns the schema after all migrations as SQL, without what differs
// from one installation or minor version to the next. River's and goose's tables
// are left out: they are documented by their makers.
func Schema(ctx context.Context) (_ string, err error) {
	server, err := prepared()
	if err != nil {
		return "", err
	}
	address, drop, err := server.clone(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, drop()) }()
	program, err := postgres.Program("pg_dump")
	if err != nil {
		return "", err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	password, _ := u.User.Password()
	u.User = url.User(u.User.Username()) // arguments show in ps
	cmd := exec.CommandContext(ctx, program, "--schema-only", "--no-owner", "--exclude-table=river_*", "--exclude-table=goose_*", "--dbname="+u.String())
	cmd.Env = append(cmd.Environ(), "PGPASSWORD="+password, "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", fmt.Errorf("pg_dump: %w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("pg_dump: %w", err)
	}
	return normalize(string(out)), nil
}

func normalize(dump string) string {
	var out strings.Builder
	out.WriteString("-- The schema after all migrations, for reading. Written by make schema; do not edit.\n")
	blank := true
	for line := range strings.Lines(dump) {
		line = strings.TrimRight(line, " \n")
		switch {
		case line == "", line == "--":
			blank = true
			continue
		case strings.HasPrefix(line, "-- Dumped "), strings.HasPrefix(line, "-- PostgreSQL database dump"),
			strings.HasPrefix(line, "SET "), strings.HasPrefix(line, "SELECT pg_catalog.set_config"),
			strings.HasPrefix(line, `\`), // \restrict with a random word
			strings.HasPrefix(line, "-- Name: "):
			continue
		}
		if blank {
			out.WriteByte('\n')
		}
		blank = false
		out.WriteString(line)
		out.WriteByte('\n')
	}
	return out.String()
}
