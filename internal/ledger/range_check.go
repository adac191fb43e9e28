package ledger

import (
	"bytes"
	"fmt"
)

// RangeCheck follows a tree leaf by leaf from the entries' bytes and stops at the
// first thing that is not as it was written.
type RangeCheck struct {
	nodes []Hash
	row   []byte
}

// Add adds l to tree and returns "" when its entry, its digest and its stored nodes agree.
func (c *RangeCheck) Add(tree *Frontier, l Leaf) (problem string) {
	switch {
	case l.Index != tree.Size():
		return fmt.Sprintf("the tree has no leaf %d: leaves were removed", tree.Size())
	case l.Stored.Digest == "":
		return fmt.Sprintf("the entry of leaf %d is gone", l.Index)
	case !isDigest(l.Stored.Digest, l.Stored.Canonical):
		return fmt.Sprintf("entry %d (leaf %d) was changed: its content does not match its digest", l.Stored.Ordinal, l.Index)
	}
	c.nodes = tree.Append(LeafHash(l.Stored.Canonical), c.nodes)
	c.row = c.row[:0]
	for _, h := range c.nodes {
		c.row = append(c.row, h[:]...)
	}
	if !bytes.Equal(c.row, l.Hashes) {
		return fmt.Sprintf("the stored nodes of the tree at leaf %d do not follow from the entries", l.Index)
	}
	return ""
}
