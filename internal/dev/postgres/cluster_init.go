package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// readPassword returns the superuser's password, made at the first start. Data
// without their password are refused: nobody could sign in to them.
func readPassword(dir, data string) (string, error) {
	file := filepath.Join(dir, "superuser.password")
	b, err := os.ReadFile(file)
	if err == nil {
		return strings.TrimSpace(string(b)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if _, err := os.Stat(data); err == nil {
		return "", fmt.Errorf("%s is missing, so nobody can sign in to the data beside it: put it back, or move %s away to begin with an empty database", file, dir)
	}
	secret := make([]byte, 24)
	rand.Read(secret) // never fails: crypto/rand ends the program instead
	password := hex.EncodeToString(secret)
	return password, writeWhole(file, password+"\n")
}

// writeWhole leaves either the old file or the whole new one, readable by its
// owner alone.
func writeWhole(file, content string) error {
	next := file + ".new"
	if err := os.WriteFile(next, []byte(content), 0o600); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// initialize makes the data directory where there is none. It is built under
// another name first, so that a start which was cut short leaves nothing that
// looks like data.
func initialize(ctx context.Context, bin binaries, who account, dir, password string, o Options) error {
	data := filepath.Join(dir, "data")
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	next := data + ".new"
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	if err := who.mkdir(next); err != nil {
		return err
	}
	if err := runInitdb(ctx, bin, who, next, filepath.Join(dir, "initdb.password"), password, o); err != nil {
		return errors.Join(err, os.RemoveAll(next))
	}
	return os.Rename(next, data)
}

// runInitdb hands the password over in a file that initdb has open already, as
// the account it runs under may not be able to reach that file by its name.
func runInitdb(ctx context.Context, bin binaries, who account, data, secret, password string, o Options) error {
	if err := writeWhole(secret, password+"\n"); err != nil {
		return err
	}
	defer os.Remove(secret)
	if err := who.own(secret); err != nil {
		return err
	}
	f, err := os.Open(secret)
	if err != nil {
		return err
	}
	defer f.Close()
	args := []string{"-U", superuser, "-E", "UTF8", "--locale=C", "--lc-ctype=" + ctype, "--no-instructions",
		"--auth-local=scram-sha-256", "--auth-host=scram-sha-256"}
	if o.Fast {
		args = append(args, "--no-sync")
	}
	p, err := start(bin.path("initdb"), who, data, o.Log, f, args...)
	if err != nil {
		return fmt.Errorf("start initdb: %w", err)
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		return errors.Join(ctx.Err(), p.stop())
	}
	if p.err != nil {
		return fmt.Errorf("initdb: %w; its output ends:\n%s", p.err, p.tail.String())
	}
	return nil
}
