package finding

import "time"

// Event is what became of a finding. Frozen strings.
type Event string

const (
	None        Event = ""
	Opened      Event = "opened"
	Changed     Event = "changed" // the evidence differs
	ReopenedNow Event = "reopened"
	ResolvedNow Event = "resolved"
)

const (
	// sameWithin: what comes back within this time is the same finding again.
	sameWithin = 24 * time.Hour
	// restlessTurns within restlessFor make a finding restless: something writes to and
	// fro. It then stays open until it was quiet for that long, and its comings and
	// goings are no longer told one by one.
	restlessTurns = 6
	restlessFor   = time.Hour
)

// Restless reports whether f changes all the time.
func (f Finding) Restless(now time.Time) bool {
	return f.Turns >= restlessTurns && now.Sub(f.TurnsFrom) < restlessFor
}

func (f *Finding) turn(now time.Time) {
	if now.Sub(f.TurnsFrom) >= restlessFor {
		f.Turns, f.TurnsFrom = 0, now
	}
	f.Turns++
}

// Continues reports whether a new sight of f's key belongs to f, rather than to a
// finding of its own.
func (f Finding) Continues(now time.Time) bool {
	return f.State == Open || f.ResolvedAt != nil && now.Sub(*f.ResolvedAt) < sameWithin
}

// See takes a sight of what f is about. Only LastSeen moves while it tells the same.
func (f Finding) See(s Seen, now time.Time) (Finding, Event) {
	f.LastSeen = now
	switch {
	case f.State == Resolved:
		f.turn(now)
		f.Seen, f.State, f.Since, f.ResolvedAt, f.How, f.By = s, Open, now, nil, "", ""
		f.ChangeID, f.RequestID = "", ""
		f.Reopened++
		return f, ReopenedNow
	case f.Seen.Same(s) || f.Restless(now):
		return f, None
	}
	f.turn(now)
	f.Seen = s
	return f, Changed
}

// Miss takes that a poll which looked saw nothing of f. A restless one stays open
// until it was not seen for a while. accepted: its request was approved.
func (f Finding) Miss(now time.Time, accepted bool) (Finding, Event) {
	if f.State != Open || f.Turns >= restlessTurns && now.Sub(f.LastSeen) < restlessFor {
		return f, None
	}
	if accepted {
		return f.Resolve(Accepted, now)
	}
	return f.Resolve(Gone, now)
}

// Resolve closes f.
func (f Finding) Resolve(how How, now time.Time) (Finding, Event) {
	if f.State != Open {
		return f, None
	}
	f.turn(now)
	f.State, f.ResolvedAt, f.How = Resolved, &now, how
	if how == Gone {
		f.By = "" // whoever meant to put it back or accept it did not need to
	}
	return f, ResolvedNow
}

// New opens a finding.
func New(id, clusterID, poolID string, s Seen, now time.Time) Finding {
	return Finding{ID: id, ClusterID: clusterID, PoolID: poolID, Seen: s, State: Open, Since: now, LastSeen: now, Turns: 1, TurnsFrom: now}
}
