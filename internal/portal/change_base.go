package portal

import (
	"context"
	"fmt"

	"quartermaster/internal/fleet"
)

// baseMoved compares the limits that the decider saw live with those live now; it
// returns a sentence when somebody changed them since. A limit that already is as
// desired is no difference: a run that was cut short left it so, or somebody did by hand what was decided.
func (r *push) baseMoved(ctx context.Context) (string, error) {
	if len(r.c.Expected) == 0 {
		return "", nil
	}
	expected := r.desired
	expected.Limits, expected.Companions = r.c.Expected, nil
	seen, err := r.remote.ReadBack(ctx, expected)
	if err != nil {
		return "", err
	}
	now, err := r.remote.ReadBack(ctx, r.desired)
	if err != nil {
		return "", err
	}
	desired := map[string]fleet.Field{}
	for _, o := range now.Objects {
		for _, f := range o.Fields {
			desired[o.Object.String()+"\x00"+f.Path] = f
		}
	}
	for _, o := range seen.Objects {
		// The portal's own ResourceQuota follows from the queue's limits.
		if o.Object.Kind == "ResourceQuota" {
			continue
		}
		absent := absentPools(o)
		for _, f := range o.Fields {
			pool, field, _ := f.Names()
			if !f.Limit || field == fleet.LendingField || !f.Changed() {
				continue
			}
			if absent[pool] && (field != fleet.NominalField && field != fleet.TotalField || isZero(f.After)) {
				continue // nothing there is what a decider sees as 0
			}
			if want, ok := desired[o.Object.String()+"\x00"+f.Path]; ok && !want.Changed() {
				continue
			}
			when := "when the request was decided"
			if r.c.RequestID == "" {
				when = "when it was adopted or last granted"
			}
			return fmt.Sprintf("%s of %s is %s now; it was %s %s. Look at who changed it, then ask again or try again.", f.Path, o.Object, shown(f.Before), shown(f.After), when), nil
		}
	}
	return "", nil
}

// absentPools are those of which no field is live. Where one number is the whole
// limit, an absent one on an object that exists says that there is no limit.
func absentPools(o fleet.ObjectDiff) map[fleet.PoolKey]bool {
	out := map[fleet.PoolKey]bool{}
	for _, f := range o.Fields {
		pool, field, _ := f.Names()
		if _, seen := out[pool]; !seen {
			out[pool] = true
		}
		if f.Before != nil || field == fleet.TotalField && !o.Create {
			out[pool] = false
		}
	}
	return out
}

func isZero(v *string) bool {
	if v == nil {
		return false
	}
	q, err := fleet.ParseQuantity(*v)
	return err == nil && q.Sign() == 0
}
