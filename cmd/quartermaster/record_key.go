package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"quartermaster/db"
	"quartermaster/internal/config"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
)

// publicSuffix is the file beside a private key with its public one.
const publicSuffix = ".pub"

func keyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "key FILE",
		Short: "Make the key with which this log's checkpoints are signed",
		Long:  "Make the Ed25519 key with which this log's checkpoints are signed: the private key goes to FILE, the public one to FILE.pub and to standard output. Give the public key to whoever verifies.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			address := cfg.Database.Signer
			if address == "" {
				return errors.New("database.signer: the PostgreSQL address of the signer, who has to know the log's name")
			}
			if err := makeKey(cmd.Context(), string(address), args[0]); err != nil {
				return err
			}
			public, err := os.ReadFile(args[0] + publicSuffix)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(public)
			return err
		},
	}
}

// makeKey writes a new key of the log at address to file. It never replaces one.
func makeKey(ctx context.Context, address, file string) error {
	store, err := db.OpenSign(ctx, address, db.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	name, err := store.LogName(ctx)
	if err != nil {
		return err
	}
	private, public, err := note.GenerateKey(rand.Reader, ledger.Origin(name))
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name, text string
		mode       fs.FileMode
	}{{file + publicSuffix, public, 0o644}, {file, private, 0o600}} {
		out, err := os.OpenFile(f.name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, f.mode)
		if errors.Is(err, fs.ErrExist) && f.name != file {
			// The public half of a run that was cut short: without the private one it is worth nothing.
			if _, gone := os.Stat(file); errors.Is(gone, fs.ErrNotExist) {
				out, err = os.OpenFile(f.name, os.O_TRUNC|os.O_WRONLY, f.mode)
			}
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, f.text); err != nil {
			out.Close()
			return err
		}
		if err := out.Close(); err != nil {
			return err
		}
	}
	return nil
}

// readKey returns the private key in file and its public half.
func readKey(file string) (note.Signer, string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	key, err := note.NewSigner(strings.TrimSpace(string(raw)))
	if err != nil {
		return nil, "", fmt.Errorf("%s does not hold a signer's key", file)
	}
	public, err := os.ReadFile(file + publicSuffix)
	if err != nil {
		return nil, "", err
	}
	return key, string(public), nil
}

// trustedKeys are the public keys that the configuration names; nil for none.
func trustedKeys(c config.Record) (note.Verifiers, error) {
	text := strings.Join(c.TrustedKeys, "\n") + "\n"
	if c.SignerKeyFile != "" {
		public, err := os.ReadFile(c.SignerKeyFile + publicSuffix)
		if err != nil {
			return nil, fmt.Errorf("record.signer_key_file: %w", err)
		}
		text += string(public)
	}
	all, n, err := ledger.Trust(text)
	if n == 0 {
		return nil, err
	}
	return all, err
}

// signer opens the signer's own connection; nil where another replica signs.
func (s *site) signer(ctx context.Context, cfg config.Config, log *slog.Logger) (*portal.Signer, error) {
	if cfg.Record.SignerKeyFile == "" {
		return nil, nil
	}
	key, _, err := readKey(cfg.Record.SignerKeyFile)
	if err != nil {
		return nil, err
	}
	store, err := db.OpenSign(ctx, string(cfg.Database.Signer), db.Options{Log: log})
	if err != nil {
		return nil, fmt.Errorf("database.signer: %w", err)
	}
	s.close = append(s.close, func() { store.Close() })
	if err := store.OnlySigns(ctx); err != nil {
		return nil, fmt.Errorf("database.signer: %w", err)
	}
	return s.portal.NewSigner(store, key, s.portal.Trusted), nil
}

// makeRoles gives the logins of the other addresses their rights. Where the owner may
// not make roles, it says what to run.
func makeRoles(cmd *cobra.Command, d config.Database) error {
	for _, r := range []struct {
		key, group string
		address    config.Secret
		ensure     func(ctx context.Context, owner, user, password string) error
	}{{"database.app", db.AppRole, d.App, db.EnsureAppRole}, {"database.signer", db.SignerRole, d.Signer, db.EnsureSignerRole}} {
		u, err := url.Parse(string(r.address))
		if r.address == "" || err != nil || u.User.Username() == "" {
			fmt.Fprintf(cmd.OutOrStdout(), "%s names no user in a URL; give its login role its rights with: GRANT %s TO <role>\n", r.key, r.group)
			continue
		}
		password, _ := u.User.Password()
		user := u.User.Username()
		if err := r.ensure(cmd.Context(), string(d.Migrate), user, password); err != nil {
			return fmt.Errorf("%s: %w; a role that may create roles has to run: CREATE ROLE %s LOGIN; GRANT %s TO %[3]s", r.key, err, user, r.group)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s may do what %s may, and nothing else\n", r.key, user, r.group)
	}
	return nil
}
