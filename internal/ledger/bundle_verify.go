package ledger

import (
	"archive/zip"
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// BundleReport is what the verification of a bundle found.
type BundleReport struct {
	Manifest   Manifest
	Checkpoint Checkpoint
	Entries    int64
	Openings   int64
	Problems   []Break
	Incomplete []string
}

// VerifyBundle derives everything anew from a bundle alone. since are older checkpoints.
func VerifyBundle(z *zip.Reader, trusted note.Verifiers, since []Signed) (BundleReport, error) {
	v := bundleCheck{z: z, since: since}
	if trusted == nil {
		v.r.Incomplete = append(v.r.Incomplete, "no key is trusted, so no signature was checked: name the public keys with --policy")
	}
	if err := v.manifest(trusted); err != nil {
		return v.r, err
	}
	if err := v.checkpoint(trusted); err != nil {
		return v.r, err
	}
	return v.r, v.events()
}

// BundleCheckpoint is the checkpoint in a bundle, as --since takes it.
func BundleCheckpoint(z *zip.Reader) (string, error) {
	raw, err := readFile(z, bundleCheckpoint)
	return string(raw), err
}

type bundleCheck struct {
	z     *zip.Reader
	since []Signed
	r     BundleReport
}

func (v *bundleCheck) tell(problem string) {
	v.r.Problems = append(v.r.Problems, Break{Problem: problem})
}

// manifest reads it and compares the digest of each file with what it says.
func (v *bundleCheck) manifest(trusted note.Verifiers) error {
	raw, err := readFile(v.z, bundleManifest)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &v.r.Manifest); err != nil {
		return fmt.Errorf("%s: %w", bundleManifest, err)
	}
	sig, err := readFile(v.z, bundleSignature)
	switch {
	case err != nil:
		v.r.Incomplete = append(v.r.Incomplete, "the manifest is not signed")
	case trusted != nil:
		n, err := note.Open(sig, trusted)
		if err != nil {
			v.tell("the manifest is not signed by a trusted key")
		} else if n.Text != manifestNote(raw) {
			v.tell("the manifest is not the one that was signed")
		}
	}
	for _, f := range v.r.Manifest.Files {
		sum, err := sumFile(v.z, f.Name)
		if err != nil {
			v.tell(fmt.Sprintf("%s is missing or cannot be read", f.Name))
		} else if sum != f.SHA256 {
			v.tell(fmt.Sprintf("%s was changed: its SHA-256 is not that of the manifest", f.Name))
		}
	}
	return nil
}

func (v *bundleCheck) checkpoint(trusted note.Verifiers) error {
	raw, err := readFile(v.z, bundleCheckpoint)
	if err != nil {
		return err
	}
	origin := Origin(v.r.Manifest.Log)
	v.r.Checkpoint, err = ReadCheckpoint(string(raw), origin)
	if err != nil {
		v.tell(err.Error())
		return nil
	}
	if trusted != nil {
		if _, err := OpenCheckpoint(string(raw), trusted, origin); err != nil {
			v.tell("the checkpoint is not signed by a trusted key")
		}
	}
	v.since = append(v.since, Signed{Checkpoint: v.r.Checkpoint, Name: "the checkpoint of the bundle"})
	slices.SortStableFunc(v.since, func(a, b Signed) int { return int(a.Size - b.Size) })
	return nil
}

// events derives chain and tree, and holds each opening against its entry.
func (v *bundleCheck) events() error {
	f, err := v.z.Open(bundleEvents)
	if err != nil {
		v.tell("the bundle has no entries")
		return nil
	}
	defer f.Close()
	openings, done, err := v.openings()
	if err != nil {
		return err
	}
	defer done()
	var audit Audit
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 2*MaxBytes)
	for lines.Scan() {
		raw := lines.Bytes()
		e, err := Parse(raw)
		if err == nil && e.Log != v.r.Manifest.Log {
			err = fmt.Errorf("it is of another log")
		}
		if err != nil {
			v.r.Problems = append(v.r.Problems, Break{v.r.Entries, "", fmt.Sprintf("index %d: %v", v.r.Entries, err)})
		} else {
			audit.Chain.Add(Stored{Ordinal: v.r.Entries, Digest: Digest(raw), Canonical: raw, Columns: e.columns()})
			if err := openings.match(e, v); err != nil {
				return err
			}
		}
		audit.nodes = audit.tree.Append(LeafHash(raw), audit.nodes)
		v.r.Entries++
		for len(v.since) > 0 && v.since[0].Size <= v.r.Entries {
			audit.Hold(v.since[0])
			v.since = v.since[1:]
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", bundleEvents, err)
	}
	for _, s := range v.since {
		audit.TooLarge(s)
	}
	if openings.next != nil {
		v.tell(fmt.Sprintf("%s holds texts of entries that are not there, first of %s", bundleOpenings, openings.next.Entry))
	}
	for _, b := range audit.Chain.Breaks {
		b.Problem = fmt.Sprintf("index %d: %s", b.Ordinal, b.Problem)
		v.r.Problems = append(v.r.Problems, b)
	}
	v.r.Problems = append(v.r.Problems, audit.Problems...)
	return nil
}

func (e Entry) columns() Columns {
	return Columns{e.ID, string(e.Type), string(e.Outcome), e.At, e.Actor.ID, e.Object.Kind, e.Object.ID, e.Prev}
}

// Bound is the commitment under which e binds the text of this name.
func (e Entry) Bound(name string) string {
	switch name {
	case "reason":
		return e.Reason
	case "actor":
		return e.Actor.Commitment
	}
	return e.Facts[name]
}

// openingReader reads the texts beside the entries, in the same order.
type openingReader struct {
	lines *bufio.Scanner
	next  *Opening
}

func (v *bundleCheck) openings() (*openingReader, func() error, error) {
	f, err := v.z.Open(bundleOpenings)
	if err != nil {
		return &openingReader{}, func() error { return nil }, nil // a bundle without texts is whole
	}
	o := &openingReader{lines: bufio.NewScanner(f)}
	o.lines.Buffer(nil, 64*MaxBytes)
	return o, f.Close, o.advance()
}

func (o *openingReader) advance() error {
	o.next = nil
	if !o.lines.Scan() {
		return o.lines.Err()
	}
	o.next = &Opening{}
	return json.Unmarshal(o.lines.Bytes(), o.next)
}

func (o *openingReader) match(e Entry, v *bundleCheck) error {
	for o.next != nil && o.next.Entry == e.ID {
		v.r.Openings++
		salt, err := hex.DecodeString(o.next.Salt)
		if err != nil || Commit(salt, o.next.Text) != e.Bound(o.next.Name) {
			v.r.Problems = append(v.r.Problems, Break{v.r.Entries, e.ID, fmt.Sprintf("index %d: the text %q is not the one that the entry binds", v.r.Entries, o.next.Name)})
		}
		if err := o.advance(); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads one of the small files.
func readFile(z *zip.Reader, name string) ([]byte, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the bundle has no %s", name)
	}
	defer f.Close()
	const most = 1 << 20
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(raw) > most {
		err = errors.New("it is too large")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return raw, nil
}

func sumFile(z *zip.Reader, name string) (string, error) {
	if strings.ContainsAny(name, `/\`) {
		return "", errors.New("a name that no bundle has")
	}
	f, err := z.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
