package ledger_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
)

func entry() ledger.Entry {
	return ledger.Entry{V: ledger.Version, Log: "log", ID: "e1", Type: ledger.RequestDecided, At: ledger.Time(time.Date(2026, 12, 2, 15, 4, 5, 123456789, time.FixedZone("CET", 3600))),
		Outcome: ledger.Done, Via: "web", Actor: ledger.Actor{ID: "p1", AMR: []string{"pwd", "otp"}},
		Authority: ledger.Authority{Role: "team_manager", Scope: "team vision"}, Object: ledger.Object{Kind: "request", ID: "r1", Revision: "1", Digest: "d"},
		Facts: map[string]string{"b": "2", "a": "<&>", "granted.h100": "9223372036854775807"}}
}

// The form is frozen: a change of it would break every digest that was ever given out.
func TestCanonicalFormIsFrozen(t *testing.T) {
	got, err := entry().Canonical()
	require.NoError(t, err)
	assert.Equal(t, `{"actor":{"amr":["pwd","otp"],"id":"p1"},"at":"2026-12-02T14:04:05.123456Z","authority":{"role":"team_manager","scope":"team vision"},`+
		`"facts":{"a":"<&>","b":"2","granted.h100":"9223372036854775807"},"id":"e1","log":"log","object":{"digest":"d","id":"r1","kind":"request","revision":"1"},`+
		`"outcome":"done","prev":"","type":"request.decided","v":"1","via":"web"}`, string(got))
	sum := sha256.Sum256(append([]byte{0}, got...))
	assert.Equal(t, hex.EncodeToString(sum[:]), ledger.Digest(got), "the leaf hash of RFC 6962")
	back, err := ledger.Parse(got)
	require.NoError(t, err)
	assert.Equal(t, entry(), back)
}

func TestTextIsNormalised(t *testing.T) {
	a, b := entry(), entry()
	a.Facts["name"], b.Facts["name"] = "re\u0301gion", "r\u00e9gion"
	x, err := a.Canonical()
	require.NoError(t, err)
	y, err := b.Canonical()
	require.NoError(t, err)
	assert.Equal(t, string(x), string(y))
	assert.Equal(t, ledger.Commit([]byte("salt"), "e\u0301"), ledger.Commit([]byte("salt"), "\u00e9"))
	assert.NotEqual(t, ledger.Commit([]byte("salt"), "yes"), ledger.Commit([]byte("other"), "yes"), "a salt keeps short texts from being guessed")
}

func TestTooLargeIsRefused(t *testing.T) {
	e := entry()
	e.Facts["text"] = strings.Repeat("x", ledger.MaxBytes)
	_, err := e.Canonical()
	assert.Equal(t, fault.Invalid, fault.KindOf(err))
}

func TestParseTakesOnlyTheCanonicalForm(t *testing.T) {
	good, err := entry().Canonical()
	require.NoError(t, err)
	for name, raw := range map[string]string{
		"spaces": strings.Replace(string(good), `,"at"`, `, "at"`, 1), "unknown field": strings.Replace(string(good), `{"actor"`, `{"aa":"1","actor"`, 1),
		"another order": `{"via":"web","actor":{"id":"p1"}}`, "cut": string(good[:len(good)-1]), "nothing": "",
	} {
		_, err := ledger.Parse([]byte(raw))
		assert.Error(t, err, name)
	}
}

// record is a chain of n entries over a few objects, as a store would keep it.
func record(n int) ([]ledger.Stored, map[string]string) {
	heads := map[string]string{}
	var out []ledger.Stored
	for i := range n {
		e := entry()
		e.ID = "e" + strconv.Itoa(i)
		e.Object.ID = "r" + strconv.Itoa(i%3)
		key := e.Object.Kind + "\x00" + e.Object.ID
		e.Prev = heads[key]
		raw, err := e.Canonical()
		if err != nil {
			panic(err)
		}
		digest := ledger.Digest(raw)
		heads[key] = digest
		out = append(out, ledger.Stored{Ordinal: int64(i + 1), Digest: digest, Canonical: raw, Columns: ledger.Columns{ID: e.ID, Type: string(e.Type),
			Outcome: string(e.Outcome), At: e.At, Actor: e.Actor.ID, ObjectKind: e.Object.Kind, ObjectID: e.Object.ID, Prev: e.Prev}})
	}
	return out, heads
}

func verify(entries []ledger.Stored, heads map[string]string) []ledger.Break {
	var c ledger.Chain
	for _, s := range entries {
		c.Add(s)
	}
	c.Close(heads)
	return c.Breaks
}

func TestIntactRecordHasNoBreak(t *testing.T) {
	entries, heads := record(20)
	assert.Empty(t, verify(entries, heads))
}

// Any single change, removal, repetition, swap or insertion shows.
func TestAnyTamperingShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries, heads := record(rapid.IntRange(4, 20).Draw(t, "entries"))
		i := rapid.IntRange(0, len(entries)-1).Draw(t, "at")
		s := &entries[i]
		switch rapid.SampledFrom([]string{"byte", "digest", "column", "remove", "repeat", "swap", "head"}).Draw(t, "tamper") {
		case "byte":
			raw := append([]byte(nil), s.Canonical...)
			raw[rapid.IntRange(0, len(raw)-1).Draw(t, "byte")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
			s.Canonical = raw
		case "digest":
			s.Digest = strings.Repeat("0", 64)
		case "column":
			s.Columns.Outcome = "refused"
		case "remove":
			entries = append(entries[:i:i], entries[i+1:]...)
		case "repeat":
			entries = append(entries, *s)
		case "swap":
			if i+3 >= len(entries) {
				i = 0
			}
			entries[i], entries[i+3] = entries[i+3], entries[i] // two of one object
		case "head":
			heads["request\x00"+s.Columns.ObjectID] = "other"
		}
		require.NotEmpty(t, verify(entries, heads))
	})
}

// Each entry can be said in one line, also a refused one.
func TestWords(t *testing.T) {
	for want, e := range map[string]ledger.Entry{
		"approved 12 of 16 h100":                     {Type: ledger.RequestDecided, Outcome: ledger.Done, Facts: map[string]string{"outcome": "approve", "asked.h100": "16", "granted.h100": "12"}},
		"approved 4 a100, 12 of 16 h100":             {Type: ledger.RequestDecided, Outcome: ledger.Done, Facts: map[string]string{"outcome": "approve", "asked.h100": "16", "granted.h100": "12", "asked.a100": "4", "granted.a100": "4"}},
		"rejected 16 h100":                           {Type: ledger.RequestDecided, Outcome: ledger.Done, Facts: map[string]string{"outcome": "reject", "asked.h100": "16"}},
		"refused: decision (forbidden)":              {Type: ledger.RequestDecided, Outcome: ledger.Refused, Facts: map[string]string{"refusal": "forbidden"}},
		"submitted 16 h100":                          {Type: ledger.RequestSubmitted, Outcome: ledger.Done, Facts: map[string]string{"asked.h100": "16"}},
		"became applying, was approved":              {Type: ledger.RequestState, Outcome: ledger.Done, Facts: map[string]string{"from": "approved", "to": "applying"}},
		"granted 12 hard of h100":                    {Type: ledger.GrantMade, Outcome: ledger.Done, Facts: map[string]string{"amount": "12", "kind": "hard", "pool": "h100"}},
		"failed: change on east stopped":             {Type: ledger.ChangeStopped, Outcome: ledger.Failed, Facts: map[string]string{"cluster": "east"}},
		"refused: tried POST /x (refused)":           {Type: ledger.AccessRefused, Outcome: ledger.Refused, Facts: map[string]string{"route": "POST /x"}},
		"binding made for street production on east": {Type: ledger.BindingMade, Outcome: ledger.Done, Facts: map[string]string{"project": "street", "environment": "production", "cluster": "east"}},
	} {
		assert.Equal(t, want, e.Words())
	}
	for _, typ := range ledger.Types {
		assert.NotEmpty(t, ledger.Entry{Type: typ, Outcome: ledger.Done}.Words(), typ)
	}
}
