package ledger

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// Hash is a node of the RFC 6962 tree over the leaf hashes of entries.
type Hash = tlog.Hash

// HashBytes is the length of a Hash.
const HashBytes = tlog.HashSize

// Frontier is the right edge of a tree: what is needed to add leaves and to say the
// root, in memory of the tree's height. The zero value is the empty tree.
type Frontier struct {
	size  int64
	edges []Hash // roots of the complete subtrees, the largest first: one for each bit set in size
}

// Size is how many leaves the tree has.
func (f *Frontier) Size() int64 { return f.size }

// Append adds a leaf and returns the nodes it completes, the leaf first: exactly what
// tlog stores for this record. They are valid until the next call.
func (f *Frontier) Append(leaf Hash, room []Hash) []Hash {
	done := append(room[:0], leaf)
	for n := f.size; n&1 == 1; n >>= 1 {
		last := len(f.edges) - 1
		leaf = tlog.NodeHash(f.edges[last], leaf)
		f.edges = f.edges[:last]
		done = append(done, leaf)
	}
	f.edges = append(f.edges, leaf)
	f.size++
	return done
}

// Root is the tree's hash. The empty tree has that of RFC 6962: SHA-256 of nothing.
func (f *Frontier) Root() Hash {
	if f.size == 0 {
		root, _ := tlog.TreeHash(0, nil) // reads nothing
		return root
	}
	root := f.edges[len(f.edges)-1]
	for i := len(f.edges) - 2; i >= 0; i-- {
		root = tlog.NodeHash(f.edges[i], root)
	}
	return root
}

// FrontierAt reads the right edge of the tree of size leaves. Compare its Root with a
// signed one before trusting it.
func FrontierAt(size int64, r tlog.HashReader) (*Frontier, error) {
	f := &Frontier{size: size}
	var need []int64
	var before int64
	for level := bits.Len64(uint64(size)) - 1; level >= 0; level-- {
		if size>>level&1 == 1 {
			need = append(need, tlog.StoredHashIndex(level, before>>level))
			before += 1 << level
		}
	}
	if len(need) == 0 {
		return f, nil
	}
	var err error
	if f.edges, err = r.ReadHashes(need); err != nil {
		return nil, fmt.Errorf("right edge of the tree of %d: %w", size, err)
	}
	if len(f.edges) != len(need) {
		return nil, errors.New("right edge of the tree: not all nodes were read")
	}
	return f, nil
}

// NodePlace says where a node that tlog counts as stored lies: with which leaf it was
// completed, and at which place among the nodes of that leaf.
func NodePlace(stored int64) (leaf int64, place int) {
	level, n := tlog.SplitStoredHashIndex(stored)
	return (n+1)<<level - 1, level
}

// LeafHash is the tree's leaf of canonical bytes; Digest is the same in hex.
func LeafHash(canonical []byte) Hash { return tlog.RecordHash(canonical) }

// JoinHashes lays nodes one after the other.
func JoinHashes(nodes []Hash) []byte {
	out := make([]byte, 0, len(nodes)*HashBytes)
	for _, h := range nodes {
		out = append(out, h[:]...)
	}
	return out
}

// ParseDigest is the leaf hash that Digest wrote.
func ParseDigest(digest string) (h Hash, err error) {
	n, err := hex.Decode(h[:], []byte(digest[:min(len(digest), 2*HashBytes)]))
	if err != nil || n != HashBytes || len(digest) != 2*HashBytes {
		return h, fmt.Errorf("%.80q is no digest", digest)
	}
	return h, nil
}

// Clone is a copy that grows by itself.
func (f *Frontier) Clone() *Frontier {
	return &Frontier{size: f.size, edges: append([]Hash(nil), f.edges...)}
}
