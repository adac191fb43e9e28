package ledger

import (
	"fmt"
	"math"
	"strings"

	"github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/note"

	"quartermaster/internal/fault"
)

// Checkpoint says what the tree of Size leaves is: C2SP tlog-checkpoint.
type Checkpoint struct {
	Origin string
	Size   int64
	Root   Hash
}

// Origin is what a log calls itself in checkpoints, and the name of its signer's key.
func Origin(logName string) string { return "quartermaster/" + logName }

// Sign returns the signed note of c.
func (c Checkpoint) Sign(by note.Signer) (string, error) {
	text := log.Checkpoint{Origin: c.Origin, Size: uint64(c.Size), Hash: c.Root[:]}.Marshal()
	out, err := note.Sign(&note.Note{Text: string(text)}, by)
	if err != nil {
		return "", fmt.Errorf("sign checkpoint: %w", err)
	}
	return string(out), nil
}

// OpenCheckpoint reads a note and fails unless one of the trusted keys signed it and
// it is of this origin ("" takes any).
func OpenCheckpoint(text string, trusted note.Verifiers, origin string) (Checkpoint, error) {
	n, err := note.Open([]byte(text), trusted)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("signature of checkpoint: %w", err)
	}
	return readCheckpoint(n.Text, origin)
}

// ReadCheckpoint reads a note without asking who signed it.
func ReadCheckpoint(text, origin string) (Checkpoint, error) {
	body, _, _ := strings.Cut(text, "\n\n")
	return readCheckpoint(body+"\n", origin)
}

func readCheckpoint(body, origin string) (Checkpoint, error) {
	var raw log.Checkpoint
	if _, err := raw.Unmarshal([]byte(body)); err != nil {
		return Checkpoint{}, fmt.Errorf("read checkpoint: %w", err)
	}
	c := Checkpoint{Origin: raw.Origin, Size: int64(raw.Size)}
	if len(raw.Hash) != HashBytes || raw.Size > math.MaxInt64 {
		return Checkpoint{}, fmt.Errorf("read checkpoint: a size or hash that cannot be")
	}
	copy(c.Root[:], raw.Hash)
	if origin != "" && c.Origin != origin {
		return Checkpoint{}, fmt.Errorf("the checkpoint is of %s, not of %s", c.Origin, origin)
	}
	return c, nil
}

// Trust reads public keys, one a line ("name+hash+key", as the key command prints
// them); empty lines and those that begin with # are passed over.
func Trust(text string) (note.Verifiers, int, error) {
	var all []note.Verifier
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		v, err := note.NewVerifier(line)
		if err != nil {
			return nil, 0, fault.Newf(fault.Invalid, "This is not a public key: %.40s", line).Because(err)
		}
		all = append(all, v)
	}
	return note.VerifierList(all...), len(all), nil
}
