// Package seal encrypts the few secrets the portal has to keep: cluster tokens and
// second-factor keys. Envelope encryption: each secret has a data key of its own,
// wrapped by a key-encryption key of the Ring. It never stores or logs anything.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	version   = 1
	keyBytes  = 32 // AES-256
	idBytes   = 8
	nonceSize = 12
	wrapped   = nonceSize + keyBytes + 16
)

// Key is one key-encryption key.
type Key struct {
	id  [idBytes]byte
	key [keyBytes]byte
}

// ID names the key without telling it.
func (k Key) ID() string { return hex.EncodeToString(k.id[:]) }

// NewKey makes a key from 32 random bytes.
func NewKey() (Key, error) {
	var raw [keyBytes]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return Key{}, err
	}
	return keyOf(raw), nil
}

func keyOf(raw [keyBytes]byte) Key {
	k := Key{key: raw}
	sum := sha256.Sum256(append([]byte("quartermaster key id\x00"), raw[:]...))
	copy(k.id[:], sum[:])
	return k
}

// String is the key as a key file holds it: one line of base64.
func (k Key) Encode() string { return base64.StdEncoding.EncodeToString(k.key[:]) }

// Ring holds the key that seals and older ones that can still open.
type Ring struct{ keys []Key }

// ParseRing reads a key file: one base64 key a line, the newest first; empty
// lines and lines beginning with # are skipped. To rotate, put a new key on top,
// seal again, then remove the old line.
func ParseRing(file string) (Ring, error) {
	var r Ring
	for i, line := range strings.Split(file, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(raw) != keyBytes {
			return Ring{}, fmt.Errorf("key file line %d: expected 32 bytes in base64; make one with: head -c 32 /dev/urandom | base64", i+1)
		}
		r.keys = append(r.keys, keyOf([keyBytes]byte(raw)))
	}
	if len(r.keys) == 0 {
		return Ring{}, errors.New("key file holds no key; make one with: head -c 32 /dev/urandom | base64")
	}
	return r, nil
}

// NewRing returns a ring whose first key seals.
func NewRing(keys ...Key) Ring { return Ring{keys: keys} }

// Seal encrypts plain and binds it to context, e.g. "cluster:c1": opened under
// another context it is refused, so a sealed token cannot be moved to another row.
func (r Ring) Seal(plain []byte, context string) ([]byte, error) {
	if len(r.keys) == 0 {
		return nil, errors.New("seal: no key")
	}
	var data [keyBytes]byte
	if _, err := rand.Read(data[:]); err != nil {
		return nil, err
	}
	out := append([]byte{version}, r.keys[0].id[:]...)
	out, err := box(out, r.keys[0].key, data[:], context)
	if err != nil {
		return nil, err
	}
	return box(out, data, plain, context)
}

// Open decrypts what Seal made.
func (r Ring) Open(sealed []byte, context string) ([]byte, error) {
	if len(sealed) < 1+idBytes+wrapped+nonceSize+16 || sealed[0] != version {
		return nil, errors.New("sealed secret is damaged or of a newer version")
	}
	id, rest := [idBytes]byte(sealed[1:1+idBytes]), sealed[1+idBytes:]
	for _, k := range r.keys {
		if k.id != id {
			continue
		}
		data, err := unbox(k.key, rest[:wrapped], context)
		if err != nil {
			return nil, err
		}
		return unbox([keyBytes]byte(data), rest[wrapped:], context)
	}
	return nil, fmt.Errorf("sealed with key %x, which is not in the key file", id)
}

// Current reports whether sealed was made with the ring's first key.
func (r Ring) Current(sealed []byte) bool {
	return len(r.keys) > 0 && len(sealed) > idBytes && [idBytes]byte(sealed[1:1+idBytes]) == r.keys[0].id
}

func box(dst []byte, key [keyBytes]byte, plain []byte, context string) ([]byte, error) {
	gcm, err := newGCM(key)
	if err != nil {
		return nil, err
	}
	var nonce [nonceSize]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return nil, err
	}
	return gcm.Seal(append(dst, nonce[:]...), nonce[:], plain, []byte(context)), nil
}

func unbox(key [keyBytes]byte, boxed []byte, context string) ([]byte, error) {
	gcm, err := newGCM(key)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, boxed[:nonceSize], boxed[nonceSize:], []byte(context))
	if err != nil {
		return nil, errors.New("sealed secret does not open: changed, or sealed for another place")
	}
	return plain, nil
}

func newGCM(key [keyBytes]byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
