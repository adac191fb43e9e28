package ledger_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"quartermaster/internal/ledger"
)

// text is what people and clusters put into fields: mostly plain, sometimes all
// that makes JSON and Unicode hard.
func text(t *rapid.T, plain bool) string {
	if plain || rapid.IntRange(0, 3).Draw(t, "plain") > 0 {
		return rapid.StringMatching(`[a-z0-9./ :-]{0,12}`).Draw(t, "text")
	}
	parts := []string{"\"", "\\", "/", "\b", "\f", "\n", "\r", "\t", "\x00", "\x1f", "\x7f", "<", ">", "&", "=", "\u2028", "\u2029", "é", "e\u0301", "\u0301", "\u0338", "\u0327",
		"n\u0303", "ẛ\u0323", "\ufffd", "\xff", "\xc3", "한", "\u1112\u1161", "\ufb33", "\U0001f600", "c", "n", "u", "8"}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 6).Draw(t, "parts"), "")
}

func anyEntry(t *rapid.T, plain bool) ledger.Entry {
	s := func() string { return text(t, plain) }
	e := ledger.Entry{V: s(), Log: s(), ID: s(), Type: ledger.Type(s()), At: s(), Outcome: ledger.Outcome(s()), Via: s(), Reason: s(), Before: s(), After: s(), Prev: s(),
		Actor:     ledger.Actor{ID: s(), Commitment: s(), Session: s(), ACR: s(), AuthTime: s()},
		Authority: ledger.Authority{Role: s(), Scope: s(), MappingVersion: s(), DelegateOf: s()},
		Object:    ledger.Object{Kind: s(), ID: s(), Revision: s(), Digest: s()}}
	for range rapid.IntRange(0, 2).Draw(t, "factors") {
		e.Actor.AMR = append(e.Actor.AMR, s())
	}
	for range rapid.IntRange(0, 2).Draw(t, "policies") {
		e.Policy = append(e.Policy, ledger.Policy{ID: s(), Version: s(), Digest: s()})
	}
	for range rapid.IntRange(0, 4).Draw(t, "facts") {
		if e.Facts == nil {
			e.Facts = map[string]string{}
		}
		e.Facts[s()] = s()
	}
	return e
}

// agree: whatever scan accepts, writing the entry again accepts, and reads the same.
func agree(t require.TestingT, raw []byte) bool {
	fast, ok := ledger.Scan(raw)
	if ok {
		slow, err := ledger.ParseAgain(raw)
		require.NoError(t, err, "%q", raw)
		require.Equal(t, slow, fast, "%q", raw)
	}
	return ok
}

func TestScanAcceptsOnlyTheCanonicalForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := anyEntry(t, false).Canonical()
		if err != nil {
			return
		}
		agree(t, raw)
		for range 8 {
			changed := append([]byte(nil), raw...)
			at := rapid.IntRange(0, len(raw)-1).Draw(t, "at")
			switch rapid.SampledFrom([]string{"set", "insert", "remove", "double"}).Draw(t, "change") {
			case "set":
				changed[at] = rapid.SampledFrom([]byte("{}[]:,\"\\ ntu0a<\x00\xcc\x88é")).Draw(t, "byte")
			case "insert":
				part := rapid.SampledFrom([]string{",", `"`, " ", `\`, `\u0041`, `\u000a`, `\u000A`, `\u000b`, `\n`, `\/`, "{}", "[]", "null", `"a":"",`, `"acr":"",`, `"facts":{},`, `,"x":"1"`, "\u0301", "\u0338"}).Draw(t, "part")
				changed = []byte(string(raw[:at]) + part + string(raw[at:]))
			case "remove":
				changed = append(changed[:at], changed[at+1:]...)
			case "double":
				end := rapid.IntRange(at, len(raw)).Draw(t, "end")
				changed = []byte(string(raw[:end]) + string(raw[at:end]) + string(raw[end:]))
			}
			agree(t, changed)
		}
	})
}

// An ordinary entry never takes the long way, which is two hundred times as long.
func TestScanReadsOrdinaryEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEntry(t, true)
		raw, err := e.Canonical()
		require.NoError(t, err)
		require.True(t, agree(t, raw), "%s", raw)
	})
	for _, word := range []string{"Zürich", "Ōsaka", "a<b & c", "line\nnext \"quoted\" \\ \u0001", strings.Repeat("日本", 200)} {
		e := entry()
		e.Facts["text"] = word
		raw, err := e.Canonical()
		require.NoError(t, err)
		assert.True(t, agree(t, raw), word)
	}
}

func FuzzScan(f *testing.F) {
	good, err := entry().Canonical()
	require.NoError(f, err)
	f.Add(good)
	f.Add([]byte(strings.Replace(string(good), `"b":"2"`, `"b":"\u000b\n"`, 1)))
	f.Add([]byte(strings.Replace(string(good), `"b":"2"`, "\"b\":\"<\u0327\"", 1)))
	f.Add([]byte(strings.Replace(string(good), `"authority":{`, `"authority":{"delegate_of":"x",`, 1)))
	f.Fuzz(func(t *testing.T, raw []byte) { agree(t, raw) })
}

func BenchmarkParse(b *testing.B) {
	raw, err := entry().Canonical()
	require.NoError(b, err)
	for name, read := range map[string]func([]byte) error{
		"scan":        func(raw []byte) error { _, err := ledger.Parse(raw); return err },
		"write again": func(raw []byte) error { _, err := ledger.ParseAgain(raw); return err },
		"digest":      func(raw []byte) error { ledger.Digest(raw); return nil },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				require.NoError(b, read(raw))
			}
		})
	}
}
