package handlers

import (
	"time"

	"github.com/google/uuid"

	"quartermaster/web"
)

// newKey makes the idempotency key of one form.
func newKey() string { return uuid.NewString() }

// dayValue is a moment in a date field.
func dayValue(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// markStale says in the frame that a cluster's figures are old.
func markStale(f web.Frame, cluster string, h web.Headroom) web.Frame {
	if !h.Stale {
		return f
	}
	for _, s := range f.Stale {
		if s.Name == cluster {
			return f
		}
	}
	f.Stale = append(f.Stale, web.StaleSource{Name: cluster, AsOf: h.AsOf, Why: "the last poll failed"})
	return f
}

// markSimulated says in the frame that a cluster is simulated.
func markSimulated(f web.Frame, cluster string, simulated bool) web.Frame {
	if !simulated {
		return f
	}
	for _, name := range f.Simulated {
		if name == cluster {
			return f
		}
	}
	f.Simulated = append(f.Simulated, cluster)
	return f
}
