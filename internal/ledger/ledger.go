// Package ledger knows the append-only record: the canonical form of an entry,
// its digest and the chain of entries of one object. db stores what it makes in
// the same transaction as the change it records; verify and the auditor's pages
// recompute it. It never reads a clock, a key or a store.
package ledger

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gowebpki/jcs"
	"golang.org/x/text/unicode/norm"

	"quartermaster/internal/fault"
)

// Version of the canonical form.
const Version = "1"

// MaxBytes bounds one canonical entry.
const MaxBytes = 64 << 10

// Outcome says whether what was attempted happened.
type Outcome string

const (
	Done    Outcome = "done"
	Refused Outcome = "refused"
	Failed  Outcome = "failed"
)

// Entry is one recorded event. All numbers inside are strings, times are RFC 3339
// UTC with microseconds, and free text and personal data stay outside: bound by
// salted commitments, so that erasing them never breaks a digest.
type Entry struct {
	V         string    `json:"v"`
	Log       string    `json:"log"` // the installation's random name
	ID        string    `json:"id"`
	Type      Type      `json:"type"`
	At        string    `json:"at"`
	Outcome   Outcome   `json:"outcome"`
	Actor     Actor     `json:"actor"`
	Authority Authority `json:"authority"`
	Via       string    `json:"via"` // web, cli, job, import
	Object    Object    `json:"object"`
	Policy    []Policy  `json:"policy,omitempty"`
	// Reason is the commitment to the text given, "" when none.
	Reason string `json:"reason,omitempty"`
	Before string `json:"before,omitempty"` // digest of the state before
	After  string `json:"after,omitempty"`  // digest of the state after
	// Facts are short machine values of the type: pool ids, amounts, stage keys.
	Facts map[string]string `json:"facts,omitempty"`
	Prev  string            `json:"prev"` // digest of this object's previous entry, "" for the first
}

// Actor is who did it. ID is the random id of the person, or a system name such as job:change_apply.
type Actor struct {
	ID         string   `json:"id"`
	Commitment string   `json:"commitment,omitempty"` // to issuer + subject + name
	Session    string   `json:"session,omitempty"`    // a digest, never the token
	ACR        string   `json:"acr,omitempty"`
	AMR        []string `json:"amr,omitempty"`
	AuthTime   string   `json:"auth_time,omitempty"`
}

// Authority is by what right.
type Authority struct {
	Role           string `json:"role,omitempty"`
	Scope          string `json:"scope,omitempty"`
	MappingVersion string `json:"mapping_version,omitempty"`
	DelegateOf     string `json:"delegate_of,omitempty"`
}

// Object is what it was done to.
type Object struct {
	Kind     string `json:"kind"`
	ID       string `json:"id"`
	Revision string `json:"revision,omitempty"`
	Digest   string `json:"digest,omitempty"`
}

// Policy is a check that counted.
type Policy struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	Digest  string `json:"digest,omitempty"`
}

// Time formats t as entries carry it.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// Canonical returns the JCS (RFC 8785) bytes of e with its text NFC-normalised.
func (e Entry) Canonical() ([]byte, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode ledger entry: %w", err)
	}
	out, err := jcs.Transform(norm.NFC.Bytes(raw))
	if err != nil {
		return nil, fmt.Errorf("canonical ledger entry: %w", err)
	}
	if len(out) > MaxBytes {
		return nil, fault.Newf(fault.Invalid, "This is too large to be recorded: %d bytes, at most %d.", len(out), MaxBytes)
	}
	return out, nil
}

// Digest is the RFC 6962 leaf hash of canonical bytes, in hex:
// SHA-256(0x00 || bytes). The tree of the next layer is built over the same value.
func Digest(canonical []byte) string {
	h := sha256.New()
	h.Write([]byte{0})
	h.Write(canonical)
	return hex.EncodeToString(h.Sum(nil))
}

// Commit binds text without showing it: HMAC-SHA-256 keyed with a random salt, in hex.
func Commit(salt []byte, text string) string {
	m := hmac.New(sha256.New, salt)
	m.Write(norm.NFC.Bytes([]byte(text)))
	return hex.EncodeToString(m.Sum(nil))
}

// Parse reads canonical bytes back and refuses any that are not canonical.
func Parse(canonical []byte) (Entry, error) {
	if e, ok := scan(canonical); ok {
		return e, nil
	}
	return parseAgain(canonical)
}

// parseAgain is the rule that scan keeps: bytes are canonical when the entry that
// they say is written as these bytes.
func parseAgain(canonical []byte) (Entry, error) {
	var e Entry
	d := json.NewDecoder(bytes.NewReader(canonical))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return Entry{}, fmt.Errorf("read ledger entry: %w", err)
	}
	again, err := e.Canonical()
	if err != nil {
		return Entry{}, err
	}
	if !bytes.Equal(again, canonical) {
		return Entry{}, fmt.Errorf("ledger entry %s is not in canonical form", e.ID)
	}
	return e, nil
}
