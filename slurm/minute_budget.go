package slurm

import "fmt"

// MinuteBudget is a limit of GPU-minutes (GrpTRESMins) with the two figures that people
// take for its use. Slurm enforces against what it counts, part of which it forgets with
// time; the accounting keeps every minute. Neither replaces the other; nil is unknown.
type MinuteBudget struct {
	Limit     int64
	Counted   *int64 // by the scheduler, decayed: what is enforced
	Accounted *int64 // by sreport, never decayed: what was used
}

// Left is what may still be used: by the figure that Slurm enforces.
func (b MinuteBudget) Left() (int64, bool) {
	if b.Counted == nil {
		return 0, false
	}
	return max(b.Limit-*b.Counted, 0), true
}

func (b MinuteBudget) String() string {
	text := fmt.Sprintf("minutes: limit %d", b.Limit)
	if left, ok := b.Left(); ok {
		text += fmt.Sprintf(", counted by Slurm now (decays) %d, left %d", *b.Counted, left)
	}
	if b.Accounted != nil {
		text += fmt.Sprintf(", used by the accounting %d", *b.Accounted)
	}
	return text
}
