package handlers

import (
	"quartermaster/internal/policy"
	"quartermaster/web"
)

// checkOf is one check with its verdict in a word.
func checkOf(r policy.Result) web.Check {
	c := web.Check{Name: r.Title, Reason: r.Message}
	switch {
	case r.Outcome == policy.Pass:
		c.Tone, c.Word = web.Done, "holds"
	case r.Outcome == policy.Unknown:
		c.Tone, c.Word = web.NotKnown, "not known"
	case r.Severity == policy.Deny:
		c.Tone, c.Word = web.Refused, "refuses"
	case r.Severity == policy.NeedsApproval:
		c.Tone, c.Word = web.NeedsYou, "needs approval"
	default:
		c.Tone, c.Word = web.Waiting, "warns"
	}
	return c
}

func checksOf(all []policy.Result) []web.Check {
	var out []web.Check
	for _, r := range all {
		out = append(out, checkOf(r))
	}
	return out
}
