package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Stored is an entry as it lies in the store, for verification.
type Stored struct {
	Ordinal   int64 // position in the store
	Digest    string
	Canonical []byte
	Columns   Columns
}

// Columns repeat what the canonical form says, for search. At is RFC 3339 UTC
// with microseconds, as entries carry it.
type Columns struct {
	ID, Type, Outcome, At, Actor, ObjectKind, ObjectID, Prev string
}

// Break is one place where the record is not what it says.
type Break struct {
	Ordinal int64
	ID      string
	Problem string
}

// Chain verifies stored entries in order of their ordinals and remembers the last
// digest of each object. Use one Chain for one pass over the whole record.
type Chain struct {
	heads  map[string]string
	Count  int64
	Breaks []Break
}

// Add checks one entry: its digest, its canonical form, the columns beside it and
// its link to the previous entry of the same object.
func (c *Chain) Add(s Stored) {
	if c.heads == nil {
		c.heads = map[string]string{}
	}
	c.Count++
	if !isDigest(s.Digest, s.Canonical) {
		c.Breaks = append(c.Breaks, Break{s.Ordinal, s.Columns.ID, "the content does not match its digest"})
	}
	e, err := Parse(s.Canonical)
	if err != nil {
		c.Breaks = append(c.Breaks, Break{s.Ordinal, s.Columns.ID, err.Error()})
		return
	}
	if wrong := s.Columns.differ(e); wrong != "" {
		c.Breaks = append(c.Breaks, Break{s.Ordinal, e.ID, "the searchable columns say something else than the entry: " + wrong})
	}
	key := e.Object.Kind + "\x00" + e.Object.ID
	if prev := c.heads[key]; prev != e.Prev {
		c.Breaks = append(c.Breaks, Break{s.Ordinal, e.ID, fmt.Sprintf("%s %s: the link to the entry before does not match; an entry was changed, removed or added", e.Object.Kind, e.Object.ID)})
	}
	c.heads[key] = s.Digest
}

// isDigest is Digest without making a string of each.
func isDigest(want string, canonical []byte) bool {
	var room [1 << 10]byte
	sum := sha256.Sum256(append(append(room[:0], 0), canonical...))
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:]) == want
}

// differ names the columns that do not repeat e.
func (s Columns) differ(e Entry) string {
	if s == (Columns{e.ID, string(e.Type), string(e.Outcome), e.At, e.Actor.ID, e.Object.Kind, e.Object.ID, e.Prev}) {
		return ""
	}
	var wrong []string
	for _, c := range [][3]string{
		{"id", s.ID, e.ID}, {"type", s.Type, string(e.Type)}, {"outcome", s.Outcome, string(e.Outcome)}, {"at", s.At, e.At},
		{"actor", s.Actor, e.Actor.ID}, {"object_kind", s.ObjectKind, e.Object.Kind}, {"object_id", s.ObjectID, e.Object.ID}, {"prev", s.Prev, e.Prev},
	} {
		if c[1] != c[2] {
			wrong = append(wrong, c[0])
		}
	}
	return strings.Join(wrong, ", ")
}

// Close compares the last digest of each object seen with what the store says is
// last: a removed tail shows only there.
func (c *Chain) Close(heads map[string]string) {
	for key, digest := range c.heads {
		if heads[key] != digest {
			c.Breaks = append(c.Breaks, Break{Problem: object(key) + ": the last entry is not the one the store names as last"})
		}
	}
	for key := range heads {
		if _, seen := c.heads[key]; !seen {
			c.Breaks = append(c.Breaks, Break{Problem: object(key) + ": all its entries are gone"})
		}
	}
	slices.SortStableFunc(c.Breaks, func(a, b Break) int {
		if a.Ordinal == 0 || b.Ordinal == 0 {
			return cmp.Or(cmp.Compare(b.Ordinal, a.Ordinal), cmp.Compare(a.Problem, b.Problem))
		}
		return cmp.Compare(a.Ordinal, b.Ordinal)
	})
}

// Objects is how many objects the record tells of.
func (c *Chain) Objects() int { return len(c.heads) }

func object(key string) string { return strings.Replace(key, "\x00", " ", 1) }
