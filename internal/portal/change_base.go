package portal

import (
	"context"
	"fmt"
	"strings"

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
			pool, field := splitPath(f.Path)
			if !f.Limit || field == "lendingLimit" || !f.Changed() {
				continue
			}
			if absent[pool] && (field != "nominalQuota" || isZero(f.After)) {
				continue // nothing there is what a decider sees as 0
			}
			if want, ok := desired[o.Object.String()+"\x00"+f.Path]; ok && !want.Changed() {
				continue
			}
			return fmt.Sprintf("%s of %s is %s now; it was %s when the request was decided. Look at who changed it, then ask again or try again.", f.Path, o.Object, shown(f.Before), shown(f.After)), nil
		}
	}
	return "", nil
}

// absentPools are those of which no field is live.
func absentPools(o fleet.ObjectDiff) map[string]bool {
	out := map[string]bool{}
	for _, f := range o.Fields {
		pool, _ := splitPath(f.Path)
		if _, seen := out[pool]; !seen {
			out[pool] = true
		}
		if f.Before != nil {
			out[pool] = false
		}
	}
	return out
}

// splitPath cuts "h100 nvidia.com/gpu nominalQuota" before its last word.
func splitPath(path string) (pool, field string) {
	i := strings.LastIndexByte(path, ' ')
	return path[:max(i, 0)], path[i+1:]
}

func isZero(v *string) bool {
	if v == nil {
		return false
	}
	q, err := fleet.ParseQuantity(*v)
	return err == nil && q.Sign() == 0
}
