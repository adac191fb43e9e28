// Package demo holds the demonstration organisation that quartermaster dev starts
// with: its file, and secrets for its people made at the first start. Only dev uses it.
package demo

import (
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"quartermaster/internal/signin"
)

// Org is the organisation file.
//
//go:embed org.yaml
var Org []byte

// Secret is how one person of the demonstration signs in.
type Secret struct {
	Password string `json:"password"`
	TOTP     string `json:"totp_secret"` // base32
}

// Secrets reads, or makes at the first start, the secrets of the named people in
// dir; they stay the same over restarts.
func Secrets(dir string, subjects []string) (map[string]Secret, error) {
	file := filepath.Join(dir, "people.json")
	out := map[string]Secret{}
	raw, err := os.ReadFile(file)
	switch {
	case err == nil:
		if err := json.Unmarshal(raw, &out); err != nil {
			return nil, fmt.Errorf("%s: %w; remove it to make new secrets", file, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	changed := false
	for _, s := range subjects {
		if _, ok := out[s]; ok {
			continue
		}
		secret, err := signin.NewTOTPSecret(rand.Reader)
		if err != nil {
			return nil, err
		}
		out[s] = Secret{Password: "demo-" + s, TOTP: secret}
		changed = true
	}
	if !changed {
		return out, nil
	}
	raw, err = json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, err
	}
	return out, WriteFile(file, raw, 0o600)
}

// WriteFile replaces file in one step, so that a crash leaves the old or the new content.
func WriteFile(file string, content []byte, mode os.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := errors.Join(tmp.Chmod(mode), writeAll(tmp, content), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}

func writeAll(f *os.File, content []byte) error {
	_, err := f.Write(content)
	return err
}
