package policy

import (
	"fmt"

	"quartermaster/internal/fleet"
)

// sanity is the check on limits found on a cluster, not on a request.
var sanity = rule{"quota-sanity", "1", "Quota is of the size of the pool", Warn, nil, nil}

// QuotaSanity compares the quotas found for a resource with what the nodes can
// allocate. A quota far below it is often a count of the wrong thing: nodes where
// cores were meant.
func QuotaSanity(pool, resource string, quota, capacity fleet.Measure) Result {
	r := Result{ID: sanity.id, Version: sanity.version, Title: sanity.title, Severity: sanity.severity, PoolID: pool, Outcome: Unknown,
		Message: "Quota or capacity is not known."}
	if !quota.Known || !capacity.Known {
		return r
	}
	share, ok := quota.Amount.ShareOf(capacity.Amount)
	if !ok {
		return r
	}
	r.Message = fmt.Sprintf("quota is %.1f percent of capacity %s", share, capacity.Amount.Display(resource))
	r.Outcome = Pass
	if share < 10 || share > 100 {
		r.Outcome = Fails
	}
	return r
}
