package portal

import (
	"context"
	"strconv"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
)

// ChangeClusterMode goes one way along observe → plan → enforce, or back, on record.
// Entering enforce is decided by the capacity manager; it releases what was held, and
// has every adopted baseline read back. Leaving it holds what is not written yet.
func (p *Portal) ChangeClusterMode(ctx context.Context, actor Actor, in ModeInput) (Cluster, error) {
	may := p.steers
	if in.Mode == fleet.Enforce {
		may = p.enforces
	}
	return p.writeCluster(ctx, actor, in.ClusterID, "cluster_mode", string(in.Mode), in.Key, in.Reason, in, may, func(c Cluster) (Cluster, error) {
		if !in.Mode.Valid() {
			return c, fault.New(fault.Invalid, "Choose observe, plan or enforce.").At("mode", "Choose observe, plan or enforce.")
		}
		// Enforcing starts from a plan that somebody could look at.
		if c.Mode == fleet.Observe && in.Mode == fleet.Enforce {
			return c, fault.New(fault.Conflict, "This cluster is in mode observe. Put it into mode plan first and look at what would change.")
		}
		c.Mode = in.Mode
		return c, nil
	})
}

// PauseCluster stops writing with one recorded step, or resumes it.
func (p *Portal) PauseCluster(ctx context.Context, actor Actor, in PauseInput) (Cluster, error) {
	return p.writeCluster(ctx, actor, in.ClusterID, "cluster_pause", strconv.FormatBool(in.Paused), in.Key, in.Reason, in, p.steers, func(c Cluster) (Cluster, error) {
		c.Paused = in.Paused
		return c, nil
	})
}

// writeCluster changes what may be written to a cluster. Whatever mode or pause held
// runs again once writing is allowed.
func (p *Portal) writeCluster(ctx context.Context, actor Actor, id, useCase, to, key, reason string, sent any, may mayWrite, with func(Cluster) (Cluster, error)) (Cluster, error) {
	out, err := once(ctx, p, actor, useCase, key, sent, func(ctx context.Context, tx Tx) (Cluster, error) {
		before, err := tx.Cluster(ctx, id)
		if err != nil {
			return Cluster{}, err
		}
		authority, err := may(ctx, tx, actor, id)
		if err != nil {
			return Cluster{}, err
		}
		after, err := with(before)
		if err != nil || after.Mode == before.Mode && after.Paused == before.Paused {
			return before, err
		}
		proof, err := p.spendUnlessSystem(ctx, tx, actor, actDigest(useCase, id, to))
		if err != nil {
			return Cluster{}, err
		}
		if err := tx.SaveClusterMode(ctx, id, after.Mode, after.Paused); err != nil {
			return Cluster{}, err
		}
		e := provenBy(by(p.entry(actor, ledger.ClusterMode, "cluster", id), authority), proof)
		e.Facts["mode_before"], e.Facts["mode"] = string(before.Mode), string(after.Mode)
		e.Facts["paused_before"], e.Facts["paused"] = strconv.FormatBool(before.Paused), strconv.FormatBool(after.Paused)
		if _, err := tx.Append(ctx, e, EntryRefs{ClusterID: id}, openingsOf(actor, map[string]string{OpeningReason: reason})); err != nil {
			return Cluster{}, err
		}
		if after.Mode == fleet.Enforce && before.Mode != fleet.Enforce {
			if err := p.verifyBaselines(ctx, tx, actor, id); err != nil {
				return Cluster{}, err
			}
		}
		// In mode plan a held change runs too: it keeps the plan that people want to see.
		if after.Writes() || after.Mode == fleet.PlanOnly && before.Mode == fleet.Observe {
			return after, p.release(ctx, tx, id, ChangeHeld)
		}
		return after, nil
	})
	if err != nil {
		return Cluster{}, p.refused(ctx, actor, ledger.ClusterMode, "cluster", id, EntryRefs{ClusterID: id}, err)
	}
	return out, nil
}
