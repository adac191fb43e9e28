package signin

import "time"

// Attempts counts wrong passwords or codes of one account. It is a value: the
// caller stores what Fail returns and asks LockedUntil before it looks at the
// next guess.
type Attempts struct {
	Failed int
	Last   time.Time // of the last failure
}

const (
	freeAttempts = 5
	firstLock    = time.Minute
	longestLock  = 15 * time.Minute
	forgetAfter  = time.Hour
)

// Fail counts one more wrong guess. An hour without one starts anew.
func (a Attempts) Fail(now time.Time) Attempts {
	if now.Sub(a.Last) > forgetAfter {
		a.Failed = 0
	}
	return Attempts{Failed: a.Failed + 1, Last: now}
}

// LockedUntil is when the next guess is looked at; zero when it may be now.
// After five failures the account waits a minute, then two, four, eight, and
// fifteen at most: guessing is hopeless, and nobody is shut out for long.
func (a Attempts) LockedUntil(now time.Time) time.Time {
	if a.Failed < freeAttempts || now.Sub(a.Last) > forgetAfter {
		return time.Time{}
	}
	wait := longestLock
	if n := a.Failed - freeAttempts; n < 4 {
		wait = firstLock << n
	}
	if until := a.Last.Add(wait); now.Before(until) {
		return until
	}
	return time.Time{}
}
