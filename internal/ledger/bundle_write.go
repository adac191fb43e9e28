package ledger

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"golang.org/x/mod/sumdb/note"
)

// Files of a bundle.
const (
	bundleEvents     = "events.jsonl"      // the canonical entries, one a line, by index
	bundleOpenings   = "openings.jsonl"    // salt and text of what entries bind, in the same order
	bundleCheckpoint = "checkpoint"        // the signed tree
	bundleManifest   = "manifest.json"     // what each file is
	bundleSignature  = "manifest.json.sig" // a note over the manifest's digest
	bundleReadme     = "README.txt"
)

const manifestTitle = "quartermaster bundle manifest"

// Manifest says what a bundle holds.
type Manifest struct {
	V         string         `json:"v"`
	Log       string         `json:"log"`
	Generator string         `json:"generator"`
	At        string         `json:"at"` // UTC
	Filter    string         `json:"filter"`
	From      string         `json:"from"` // time of the first entry and of the last one
	To        string         `json:"to"`
	First     int64          `json:"first_index"`
	Last      int64          `json:"last_index"`
	Size      int64          `json:"tree_size"`
	Files     []ManifestFile `json:"files"`
}

// ManifestFile is one file of a bundle.
type ManifestFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Rows   int64  `json:"rows,omitempty"`
}

// Opening is the text that an entry binds by a salted commitment.
type Opening struct {
	Entry string `json:"entry"`
	Name  string `json:"name"`
	Salt  string `json:"salt"` // hex
	Text  string `json:"text"`
}

// Bundle writes a bundle file by file: Events, Openings, then Close.
type Bundle struct {
	zip      *zip.Writer
	manifest Manifest
	out      io.Writer
	sum      hash.Hash
	rows     int64
}

// NewBundle begins a bundle of everything under a checkpoint.
func NewBundle(w io.Writer, m Manifest) *Bundle {
	m.V, m.Filter = Version, "none: every entry under the checkpoint"
	return &Bundle{zip: zip.NewWriter(w), manifest: m}
}

// Begin starts the file of events or openings.
func (b *Bundle) begin(name string) error {
	if err := b.finish(); err != nil {
		return err
	}
	w, err := b.zip.Create(name)
	if err != nil {
		return err
	}
	b.sum = sha256.New()
	b.out, b.rows = io.MultiWriter(w, b.sum), 0
	b.manifest.Files = append(b.manifest.Files, ManifestFile{Name: name})
	return nil
}

func (b *Bundle) finish() error {
	if b.sum == nil {
		return nil
	}
	last := &b.manifest.Files[len(b.manifest.Files)-1]
	last.SHA256, last.Rows = hex.EncodeToString(b.sum.Sum(nil)), b.rows
	b.sum = nil
	return nil
}

func (b *Bundle) line(raw []byte) error {
	b.rows++
	if _, err := b.out.Write(raw); err != nil {
		return err
	}
	_, err := b.out.Write([]byte{'\n'})
	return err
}

// Event adds the next entry.
func (b *Bundle) Event(canonical []byte, at string) error {
	if len(b.manifest.Files) == 0 {
		b.manifest.From = at
		if err := b.begin(bundleEvents); err != nil {
			return err
		}
	}
	b.manifest.To = at
	return b.line(canonical)
}

// Opening adds a text. All events come before the first, openings in their order.
func (b *Bundle) Opening(o Opening) error {
	if b.manifest.Files[len(b.manifest.Files)-1].Name != bundleOpenings {
		if err := b.begin(bundleOpenings); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return b.line(raw)
}

// Close adds the checkpoint, the manifest, signed where there is a key, and a README.
func (b *Bundle) Close(checkpoint string, size int64, key note.Signer) error {
	if err := b.whole(bundleCheckpoint, checkpoint); err != nil {
		return err
	}
	if err := b.whole(bundleReadme, fmt.Sprintf(bundleText, b.manifest.Log, size)); err != nil {
		return err
	}
	if err := b.finish(); err != nil {
		return err
	}
	b.manifest.Size, b.manifest.Last = size, size-1
	raw, err := json.MarshalIndent(b.manifest, "", "  ")
	if err != nil {
		return err
	}
	if err := b.plain(bundleManifest, raw); err != nil {
		return err
	}
	if key != nil {
		sig, err := note.Sign(&note.Note{Text: manifestNote(raw)}, key)
		if err != nil {
			return err
		}
		if err := b.plain(bundleSignature, sig); err != nil {
			return err
		}
	}
	return b.zip.Close()
}

func (b *Bundle) whole(name, text string) error {
	if err := b.begin(name); err != nil {
		return err
	}
	_, err := io.WriteString(b.out, text)
	return err
}

func (b *Bundle) plain(name string, raw []byte) error {
	w, err := b.zip.Create(name)
	if err != nil {
		return err
	}
	_, err = w.Write(raw)
	return err
}

func manifestNote(manifest []byte) string {
	sum := sha256.Sum256(manifest)
	return manifestTitle + "\n" + hex.EncodeToString(sum[:]) + "\n"
}

const bundleText = `The record of log %s up to its checkpoint of %d entries.

Verify it on any machine, without the portal and without a network:

    quartermaster verify --policy KEYS BUNDLE.zip

KEYS is a file with the public keys you trust, one a line; ask for them by another way
than the one by which this bundle came. With an older bundle or checkpoint,
--since OLD shows that nothing before it was changed since.

events.jsonl      the entries, canonical JSON (RFC 8785), one a line, by index
openings.jsonl    free text and names, each bound by a salted commitment in its entry
checkpoint        the root of the RFC 6962 tree over the entries, signed (C2SP tlog-checkpoint)
manifest.json     the SHA-256 of each file; manifest.json.sig signs it
There are no separate proofs: all leaves are here, so the whole tree is derived anew.
`
