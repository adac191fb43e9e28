package portal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
)

// ImportInput is a file of objects for one cluster.
type ImportInput struct {
	ClusterID string
	FileName  string
	File      []byte
	Reason    string
	Key       string
}

// ImportReport is what a file says beside what the portal held of the cluster before.
type ImportReport struct {
	Cluster  Cluster
	FileName string
	Digest   string
	// Held says what was compared with: a reading of the cluster, an earlier file, or nothing.
	Held        string
	HeldAt      time.Time
	Differences []fleet.Difference
	Documents   []fleet.Document
	// Entry is the ledger entry of a kept file; "" while nothing is kept.
	Entry string
	dump  fleet.Dump
}

// Count is how many differences are of a state.
func (r ImportReport) Count(s fleet.DifferenceState) int {
	n := 0
	for _, d := range r.Differences {
		if d.State == s {
			n++
		}
	}
	return n
}

// Refused is how many objects of the file could not be read.
func (r ImportReport) Refused() int {
	n := 0
	for _, d := range r.Documents {
		if d.State == fleet.DocumentRefused {
			n++
		}
	}
	return n
}

// PreviewImport reads a file of objects and compares it with what is held of the
// cluster: its last good reading, or for one that was never read the file kept last.
func (p *Portal) PreviewImport(ctx context.Context, actor Actor, in ImportInput) (ImportReport, error) {
	if _, err := p.manages(actor, in.ClusterID); err != nil {
		return ImportReport{}, err
	}
	return p.readImport(ctx, p.Store, in)
}

func (p *Portal) readImport(ctx context.Context, r Reader, in ImportInput) (ImportReport, error) {
	sum := sha256.Sum256(in.File)
	out := ImportReport{FileName: fileName(in.FileName), Digest: hex.EncodeToString(sum[:])}
	var err error
	if out.Cluster, err = r.Cluster(ctx, in.ClusterID); err != nil {
		return out, err
	}
	if out.Cluster.Kind == fleet.Slurm {
		return out, fault.New(fault.Invalid, "Files of Kubernetes objects are for Kubernetes clusters; this is a Slurm.").At("file", "Choose another cluster.")
	}
	if p.ReadDump == nil {
		return out, fmt.Errorf("import objects: no reader is wired")
	}
	if out.dump, err = p.ReadDump(in.File, p.Now()); err != nil {
		return out, err
	}
	out.Documents = out.dump.Documents
	held := fleet.Discovery{}
	kept, err := r.NewestImport(ctx, in.ClusterID)
	switch {
	case err != nil:
		return out, err
	case out.Cluster.Reachable() && out.Cluster.Discovery != nil:
		held, out.Held, out.HeldAt = *out.Cluster.Discovery, "the cluster as it was read", out.Cluster.Discovery.At
		if o := out.Cluster.Observation; o != nil && o.At.After(held.At) {
			held.Queues, held.Quotas, held.Pools, out.HeldAt = o.Queues, o.Quotas, o.Pools, o.At
		}
	case kept != nil:
		held, out.Held, out.HeldAt = kept.Dump.Discovery, "file "+kept.FileName, kept.At
	}
	out.Differences = out.dump.Compare(held)
	return out, nil
}

// fileName is the last part of a name, short enough to be shown.
func fileName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if r := []rune(name); len(r) > 100 {
		name = string(r[:100])
	}
	if name = strings.TrimSpace(name); name == "" {
		return "objects"
	}
	return name
}

// KeepImport keeps what a file says, on record. For a cluster that the portal cannot
// ask it is what is known of it from then on: its pools are made, and its queues can be
// adopted. A cluster that is read keeps its own word; the file stands beside it.
func (p *Portal) KeepImport(ctx context.Context, actor Actor, in ImportInput) (ImportReport, error) {
	refs := EntryRefs{ClusterID: in.ClusterID}
	authority, err := p.manages(actor, in.ClusterID)
	if err != nil {
		return ImportReport{}, p.refused(ctx, actor, ledger.ObjectsImported, "cluster", in.ClusterID, refs, err)
	}
	sum := sha256.Sum256(in.File)
	var out ImportReport
	entry, err := once(ctx, p, actor, "import_objects", in.Key, [2]string{in.ClusterID, hex.EncodeToString(sum[:])}, func(ctx context.Context, tx Tx) (string, error) {
		var err error
		if out, err = p.readImport(ctx, tx, in); err != nil {
			return "", err
		}
		proof, err := p.spendUnlessSystem(ctx, tx, actor, actDigest("import_objects", in.ClusterID, out.Digest))
		if err != nil {
			return "", err
		}
		i := ObjectImport{ID: p.NewID(), ClusterID: in.ClusterID, FileName: out.FileName, Digest: out.Digest, Dump: out.dump, At: p.Now()}
		if err := tx.InsertObjectImport(ctx, i); err != nil {
			return "", err
		}
		if !out.Cluster.Reachable() {
			if err := p.addPools(ctx, tx, in.ClusterID, out.dump.Pools); err != nil {
				return "", err
			}
			if err := tx.SaveDiscovery(ctx, in.ClusterID, out.dump.Discovery); err != nil {
				return "", err
			}
		}
		e := provenBy(by(p.entry(actor, ledger.ObjectsImported, "cluster", in.ClusterID), authority), proof)
		e.After = out.Digest
		e.Facts["file"], e.Facts["import"], e.Facts["compared_with"] = out.FileName, i.ID, out.Held
		e.Facts["new"], e.Facts["changed"], e.Facts["same"] = strconv.Itoa(out.Count(fleet.DifferenceNew)), strconv.Itoa(out.Count(fleet.DifferenceChanged)), strconv.Itoa(out.Count(fleet.DifferenceSame))
		e.Facts["refused"] = strconv.Itoa(out.Refused())
		if _, err := tx.Append(ctx, e, refs, openingsOf(actor, map[string]string{OpeningReason: in.Reason})); err != nil {
			return "", err
		}
		return e.ID, nil
	})
	if err != nil {
		return ImportReport{}, p.refused(ctx, actor, ledger.ObjectsImported, "cluster", in.ClusterID, refs, err)
	}
	if out.Digest == "" { // kept by the first of two sends
		if out, err = p.readImport(ctx, p.Store, in); err != nil {
			return out, err
		}
	}
	out.Entry = entry
	return out, nil
}
