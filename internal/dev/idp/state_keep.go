package idp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	jose "github.com/go-jose/go-jose/v4"
)

const (
	keyFile   = "identity-key.pem"
	stateFile = "identity-state.json"
)

// kept is what survives a restart. Nothing in it opens a session: cookies are
// stored as digests.
type kept struct {
	Spent    map[string]int64   `json:"spent_steps"`
	Sessions map[string]session `json:"sessions"`
}

// open reads key and state from the directory, or begins them.
func (s *state) open() error {
	if s.cfg.Dir != "" {
		if err := os.MkdirAll(s.cfg.Dir, 0o700); err != nil {
			return fmt.Errorf("directory of the built-in identity provider: %w", err)
		}
	}
	key, err := s.loadKey()
	if err != nil {
		return err
	}
	thumb, err := (&jose.JSONWebKey{Key: &key.PublicKey}).Thumbprint(crypto.SHA256)
	if err != nil {
		return fmt.Errorf("name the signing key: %w", err)
	}
	s.key, s.keyID = key, base64.RawURLEncoding.EncodeToString(thumb[:12])
	return s.loadState()
}

func (s *state) loadKey() (*ecdsa.PrivateKey, error) {
	path := filepath.Join(s.cfg.Dir, keyFile)
	if s.cfg.Dir != "" {
		text, err := os.ReadFile(path)
		if err == nil {
			block, _ := pem.Decode(text)
			if block == nil {
				return nil, fmt.Errorf("%s holds no key; move it away to begin a new one", path)
			}
			key, err := x509.ParseECPrivateKey(block.Bytes)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			return key, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the signing key: %w", err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	if s.cfg.Dir == "" {
		return key, nil
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("write the signing key: %w", err)
	}
	return key, replaceFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

func (s *state) loadState() error {
	if s.cfg.Dir == "" {
		return nil
	}
	path := filepath.Join(s.cfg.Dir, stateFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var k kept
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if k.Spent != nil {
		s.spent = k.Spent
	}
	for digest, e := range k.Sessions {
		if _, known := s.userOf(e.Subject); known {
			s.sessions[digest] = e
		}
	}
	return nil
}

// save writes the state. Call it with mu held, before a sign-in is confirmed: a
// code that is not on record as spent must not have opened anything.
func (s *state) save() error {
	if s.cfg.Dir == "" {
		return nil
	}
	s.sweep()
	text, err := json.MarshalIndent(kept{s.spent, s.sessions}, "", "  ")
	if err != nil {
		return fmt.Errorf("write the state of the built-in identity provider: %w", err)
	}
	return replaceFile(filepath.Join(s.cfg.Dir, stateFile), text)
}

// replaceFile writes a private file in one step, so that a crash leaves the old
// or the new one.
func replaceFile(path string, content []byte) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}
