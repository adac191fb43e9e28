package ledger

import (
	"bytes"
	"fmt"
)

// Leaf is a place in the tree with the entry that lies at it.
type Leaf struct {
	Index  int64
	Hashes []byte // the nodes completed with it, as stored; the leaf hash first
	Stored Stored // without a Digest when the entry is gone
}

// Signed is a checkpoint to hold the tree against, with the words by which a report
// names it.
type Signed struct {
	Checkpoint
	Name string
}

// Audit re-derives the tree from the leaves, in order, and holds it against signed
// checkpoints on the way. Memory grows with the objects of the record, not with its
// entries.
type Audit struct {
	Chain Chain
	// Problems of the tree; those of the entries are in Chain.Breaks.
	Problems []Break

	tree    Frontier
	nodes   []Hash
	row     []byte
	good    int64 // size of the largest checkpoint that fitted
	checked int64 // size of the largest one looked at
	wrong   bool  // a leaf or an entry before the next checkpoint was found wrong by itself
}

// Size of the tree so far.
func (a *Audit) Size() int64 { return a.tree.Size() }

// Root of the tree so far.
func (a *Audit) Root() Hash { return a.tree.Root() }

// Proven is up to which size checkpoints confirm the tree.
func (a *Audit) Proven() int64 { return a.good }

// Add takes the next leaf.
func (a *Audit) Add(l Leaf) {
	if l.Index != a.tree.Size() {
		a.tell(l, fmt.Sprintf("the tree has no leaf %d: leaves were removed", a.tree.Size()))
		a.tree.size = l.Index // the roots no longer mean anything; the entries are still read
		a.tree.edges = make([]Hash, len(edgesOf(l.Index)))
	}
	leaf := leafOf(l)
	if l.Stored.Digest == "" && l.Stored.Canonical == nil {
		a.tell(l, fmt.Sprintf("the entry of leaf %d is gone", l.Index))
	} else {
		before := len(a.Chain.Breaks)
		a.Chain.Add(l.Stored)
		own := LeafHash(l.Stored.Canonical)
		a.wrong = a.wrong || len(a.Chain.Breaks) > before
		if own != leaf {
			a.tell(l, fmt.Sprintf("leaf %d of the tree is not the hash of its entry", l.Index))
		}
		leaf = own
	}
	a.nodes = a.tree.Append(leaf, a.nodes)
	a.row = a.row[:0]
	for _, h := range a.nodes {
		a.row = append(a.row, h[:]...)
	}
	if !a.wrong && !bytes.Equal(a.row, l.Hashes) {
		a.tell(l, fmt.Sprintf("the stored nodes of the tree at leaf %d do not follow from the leaves", l.Index))
	}
}

func edgesOf(size int64) (bits []int) {
	for b := 0; size>>b > 0; b++ {
		if size>>b&1 == 1 {
			bits = append(bits, b)
		}
	}
	return bits
}

func leafOf(l Leaf) (h Hash) {
	if len(l.Hashes) >= HashBytes {
		copy(h[:], l.Hashes)
	}
	return h
}

func (a *Audit) tell(l Leaf, problem string) {
	a.wrong = true
	a.Problems = append(a.Problems, Break{l.Stored.Ordinal, l.Stored.Columns.ID, problem})
}

// Hold compares the tree with a checkpoint of its present size.
func (a *Audit) Hold(s Signed) {
	if s.Size != a.tree.Size() {
		return
	}
	a.checked = max(a.checked, s.Size)
	if a.tree.Root() == s.Root {
		a.good = s.Size
		return
	}
	where := fmt.Sprintf("an entry with index %d to %d was changed, removed or added", a.good, s.Size-1)
	if a.wrong {
		where = "see the first wrong entry"
	}
	a.Problems = append(a.Problems, Break{Problem: fmt.Sprintf("%s (size %d) has another root than the entries give: %s", s.Name, s.Size, where)})
}

// TooLarge tells of a checkpoint for more leaves than there are.
func (a *Audit) TooLarge(s Signed) {
	a.Problems = append(a.Problems, Break{Problem: fmt.Sprintf("%s is of %d entries and the tree has %d: entries with index %d to %d are gone", s.Name, s.Size, a.tree.Size(), a.tree.Size(), s.Size-1)})
}
