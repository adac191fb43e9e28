package ledger

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Inclusion proves that one entry is in a tree whose checkpoint was signed.
type Inclusion struct {
	Index      int64
	Nodes      []Hash // from the leaf to the root
	Checkpoint string // the signed note
}

// Check returns the checkpoint under which canonical is proven to stand.
func (p Inclusion) Check(canonical []byte, trusted note.Verifiers, origin string) (Checkpoint, error) {
	c, err := OpenCheckpoint(p.Checkpoint, trusted, origin)
	if err != nil {
		return c, err
	}
	if p.Index < 0 || p.Index >= c.Size {
		return c, fmt.Errorf("entry %d is not in the tree of %d", p.Index, c.Size)
	}
	if err := tlog.CheckRecord(tlog.RecordProof(p.Nodes), c.Size, c.Root, p.Index, LeafHash(canonical)); err != nil {
		return c, fmt.Errorf("the proof does not lead from the entry to the signed root")
	}
	return c, nil
}

// proofVersion is the first line of a C2SP tlog-proof.
const proofVersion = "c2sp.org/tlog-proof@v1"

// Text is p in the form of C2SP tlog-proof.
func (p Inclusion) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nindex %d\n", proofVersion, p.Index)
	for _, h := range p.Nodes {
		fmt.Fprintln(&b, h)
	}
	fmt.Fprintf(&b, "\n%s", p.Checkpoint)
	return b.String()
}

// ParseInclusion reads what Text wrote.
func ParseInclusion(text string) (p Inclusion, err error) {
	head, checkpoint, ok := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if !ok || len(lines) < 2 || lines[0] != proofVersion {
		return p, fmt.Errorf("this is not a proof of the form %s", proofVersion)
	}
	index, ok := strings.CutPrefix(lines[1], "index ")
	if !ok {
		return p, fmt.Errorf("the proof names no index")
	}
	if p.Index, err = strconv.ParseInt(index, 10, 64); err != nil {
		return p, fmt.Errorf("the index of the proof: %w", err)
	}
	for _, line := range lines[2:] {
		raw, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(raw) != HashBytes {
			return p, fmt.Errorf("a line of the proof is no hash")
		}
		p.Nodes = append(p.Nodes, Hash(raw))
	}
	p.Checkpoint = checkpoint
	return p, nil
}

// Receipt is what somebody who decided takes away: the entry and its proof. It
// holds no free text, so it may be shown.
type Receipt struct {
	V     string `json:"v"`
	Entry string `json:"entry"` // canonical
	Proof string `json:"proof"` // Inclusion.Text
}

// NewReceipt of an entry.
func NewReceipt(canonical []byte, p Inclusion) Receipt {
	return Receipt{V: Version, Entry: string(canonical), Proof: p.Text()}
}

// ParseReceipt reads a receipt's file.
func ParseReceipt(raw []byte) (Receipt, error) {
	var r Receipt
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("read receipt: %w", err)
	}
	if r.V != Version {
		return r, fmt.Errorf("read receipt: version %q is not known", r.V)
	}
	return r, nil
}

// Check verifies the receipt offline and returns what it is about.
func (r Receipt) Check(trusted note.Verifiers) (Entry, Inclusion, Checkpoint, error) {
	p, err := ParseInclusion(r.Proof)
	if err != nil {
		return Entry{}, p, Checkpoint{}, err
	}
	e, err := Parse([]byte(r.Entry))
	if err != nil {
		return e, p, Checkpoint{}, err
	}
	c, err := p.Check([]byte(r.Entry), trusted, Origin(e.Log))
	return e, p, c, err
}
