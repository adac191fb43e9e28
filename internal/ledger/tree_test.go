package ledger_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"quartermaster/internal/ledger"
)

// forest keeps nodes as the store does: a row a leaf.
type forest struct {
	tree ledger.Frontier
	rows [][]ledger.Hash
}

func (f *forest) add(t require.TestingT, text string) {
	nodes := f.tree.Append(ledger.LeafHash([]byte(text)), nil)
	f.rows = append(f.rows, append([]ledger.Hash(nil), nodes...))
	want, err := tlog.StoredHashes(f.tree.Size()-1, []byte(text), f)
	require.NoError(t, err)
	require.Equal(t, want, f.rows[len(f.rows)-1], "the nodes that tlog would store")
}

func (f *forest) ReadHashes(stored []int64) ([]ledger.Hash, error) {
	var out []ledger.Hash
	for _, s := range stored {
		leaf, place := ledger.NodePlace(s)
		if leaf >= int64(len(f.rows)) || place >= len(f.rows[leaf]) {
			return nil, fmt.Errorf("no node %d", s)
		}
		out = append(out, f.rows[leaf][place])
	}
	return out, nil
}

// Whatever the size, the right edge gives the root, nodes and proofs of RFC 6962.
func TestTreeIsThatOfRFC6962(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f forest
		n := rapid.IntRange(1, 200).Draw(t, "size")
		roots := []ledger.Hash{f.tree.Root()}
		for i := range n {
			f.add(t, fmt.Sprint("entry ", i))
			roots = append(roots, f.tree.Root())
		}
		old := rapid.IntRange(0, n).Draw(t, "old")
		want, err := tlog.TreeHash(int64(old), &f)
		require.NoError(t, err)
		require.Equal(t, want, roots[old])
		again, err := ledger.FrontierAt(int64(old), &f)
		require.NoError(t, err)
		require.Equal(t, roots[old], again.Root(), "read back from the store")
		for i := old; i < n; i++ {
			again.Append(ledger.LeafHash([]byte(fmt.Sprint("entry ", i))), nil)
		}
		require.Equal(t, roots[n], again.Root(), "and grown on")
		if old > 0 {
			p, err := tlog.ProveTree(int64(n), int64(old), &f)
			require.NoError(t, err)
			require.NoError(t, tlog.CheckTree(p, int64(n), roots[n], int64(old), roots[old]))
		}
	})
}

func newKey(t testing.TB, name string) (note.Signer, note.Verifiers, string) {
	private, public, err := note.GenerateKey(rand.Reader, name)
	require.NoError(t, err)
	key, err := note.NewSigner(private)
	require.NoError(t, err)
	trusted, n, err := ledger.Trust("# the log\n\n" + public + "\n")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	return key, trusted, public
}

// A receipt holds for its entry and for no other: any byte changed anywhere in it, and
// it no longer does.
func TestReceiptsHoldAndOnlyForTheirEntry(t *testing.T) {
	key, trusted, _ := newKey(t, ledger.Origin("log"))
	other, _, _ := newKey(t, ledger.Origin("log"))
	rapid.Check(t, func(t *rapid.T) {
		var f forest
		n := rapid.IntRange(1, 60).Draw(t, "size")
		at := rapid.IntRange(0, n-1).Draw(t, "index")
		e := entry()
		mine, err := e.Canonical()
		require.NoError(t, err)
		for i := range n {
			if i == at {
				f.add(t, string(mine))
			} else {
				f.add(t, fmt.Sprint("entry ", i))
			}
		}
		c := ledger.Checkpoint{Origin: ledger.Origin("log"), Size: int64(n), Root: f.tree.Root()}
		text, err := c.Sign(key)
		require.NoError(t, err)
		nodes, err := tlog.ProveRecord(int64(n), int64(at), &f)
		require.NoError(t, err)
		receipt := ledger.NewReceipt(mine, ledger.Inclusion{Index: int64(at), Nodes: nodes, Checkpoint: text})
		got, p, signed, err := receipt.Check(trusted)
		require.NoError(t, err)
		require.Equal(t, e, got)
		require.Equal(t, int64(at), p.Index)
		require.Equal(t, c, signed)

		changed := receipt
		part := rapid.SampledFrom([]*string{&changed.Entry, &changed.Proof}).Draw(t, "part")
		byteAt := rapid.IntRange(0, len(*part)-1).Draw(t, "byte")
		raw := []byte(*part)
		raw[byteAt] ^= byte(rapid.IntRange(1, 127).Draw(t, "flip"))
		*part = string(raw)
		if _, _, after, err := changed.Check(trusted); err == nil {
			require.Equal(t, receipt.Entry, changed.Entry)
			require.Equal(t, c, after, "what still holds says the same")
		}
		forged, err := c.Sign(other)
		require.NoError(t, err)
		_, _, _, err = ledger.NewReceipt(mine, ledger.Inclusion{Index: int64(at), Nodes: nodes, Checkpoint: forged}).Check(trusted)
		require.Error(t, err, "signed by somebody else")
	})
}

// audited reads a chain of n entries with what change does to it.
func audited(t *testing.T, n int, change func(i int, l *ledger.Leaf)) (*ledger.Audit, []ledger.Hash) {
	var a ledger.Audit
	var f forest
	var roots []ledger.Hash
	prev := ""
	for i := range n {
		e := entry()
		e.ID, e.Object.ID, e.Prev = fmt.Sprint("e", i), "one", prev
		raw, err := e.Canonical()
		require.NoError(t, err)
		prev = ledger.Digest(raw)
		f.add(t, string(raw))
		roots = append(roots, f.tree.Root())
		l := ledger.Leaf{Index: int64(i), Hashes: ledger.JoinHashes(f.rows[i]), Stored: ledger.Stored{Ordinal: int64(i + 1), Digest: prev, Canonical: raw,
			Columns: ledger.Columns{ID: e.ID, Type: string(e.Type), Outcome: string(e.Outcome), At: e.At, Actor: e.Actor.ID, ObjectKind: "request", ObjectID: "one", Prev: e.Prev}}}
		change(i, &l)
		if l.Index < 0 {
			continue
		}
		a.Add(l)
	}
	return &a, roots
}

func problems(a *ledger.Audit) string {
	var out []string
	for _, b := range append(append([]ledger.Break(nil), a.Chain.Breaks...), a.Problems...) {
		out = append(out, fmt.Sprint(b.Ordinal, " ", b.Problem))
	}
	return strings.Join(out, "\n")
}

func TestAuditNamesTheFirstWrongEntry(t *testing.T) {
	good, roots := audited(t, 20, func(int, *ledger.Leaf) {})
	require.Empty(t, problems(good))
	require.Equal(t, roots[19], good.Root())

	for name, c := range map[string]struct {
		change func(i int, l *ledger.Leaf)
		says   string
	}{
		"a byte of an entry": {func(i int, l *ledger.Leaf) { l.Stored.Canonical[len(l.Stored.Canonical)-3] ^= byte(bit(i == 7)) }, "8 the content does not match its digest"},
		"a node of the tree": {func(i int, l *ledger.Leaf) { l.Hashes[len(l.Hashes)-1] ^= byte(bit(i == 7)) }, "8 the stored nodes of the tree at leaf 7"},
		"a leaf of the tree": {func(i int, l *ledger.Leaf) { l.Hashes[0] ^= byte(bit(i == 7)) }, "8 leaf 7 of the tree is not the hash of its entry"},
		"an entry is gone":   {func(i int, l *ledger.Leaf) { l.Stored = gone(i == 7, l.Stored) }, "the entry of leaf 7 is gone"},
		"a leaf is gone":     {func(i int, l *ledger.Leaf) { l.Index = without(i == 7, l.Index) }, "the tree has no leaf 7"},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := audited(t, 20, c.change)
			require.Contains(t, strings.SplitN(problems(a), "\n", 3)[0]+problems(a), c.says)
		})
	}
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}

func gone(on bool, s ledger.Stored) ledger.Stored {
	if on {
		return ledger.Stored{Ordinal: s.Ordinal}
	}
	return s
}

func without(on bool, index int64) int64 {
	if on {
		return -1
	}
	return index
}

// Everything was made up anew and fits itself: only a checkpoint kept elsewhere tells.
func TestAnOlderCheckpointTellsWhatWasMadeUpAnew(t *testing.T) {
	a, roots := audited(t, 20, func(int, *ledger.Leaf) {})
	old := ledger.Signed{Checkpoint: ledger.Checkpoint{Size: 20, Root: roots[18]}, Name: "the older checkpoint"}
	a.Hold(old)
	require.Contains(t, problems(a), "an entry with index 0 to 19 was changed, removed or added")
	a.TooLarge(ledger.Signed{Checkpoint: ledger.Checkpoint{Size: 25}, Name: "the older checkpoint"})
	require.Contains(t, problems(a), "entries with index 20 to 24 are gone")
}
