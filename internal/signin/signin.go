// Package signin owns the facts about a person's presence: how strongly they
// proved who they are, how long that counts, and the portal's own second
// factor. The sign-in handlers, the use cases that demand a step-up and the
// built-in identity provider call it. It holds no clock, randomness, storage or
// network of its own: every function takes the time and the values it judges.
package signin

import (
	"slices"
	"time"
)

// Session is what the portal remembers about one signed-in browser. It is kept
// on the server; the browser holds only a random token that leads to it.
type Session struct {
	ID       string // random; names the session in lists and in the ledger, opens nothing
	PersonID string // the portal's own id of the person

	// Issuer and Subject are the person's identity. E-mail and name are labels.
	Issuer  string
	Subject string
	Name    string
	Email   string

	ACR             string    // authentication context, from the signed ID token only
	AMR             []string  // authentication methods, from the signed ID token only
	AuthTime        time.Time // when the provider saw the person; zero where it did not say
	ProviderSession string    // the provider's sid claim; empty where it sends none
	Groups          []string
	GroupsNote      string // why Groups is empty although a claim was there or expected

	Began time.Time // signed in at the portal
	Seen  time.Time // last request, to the minute

	// Reauthed is when the provider last asked the person again in this session,
	// though with one factor only; zero where it never did.
	Reauthed time.Time
}

// Proof names how two factors were proven.
type Proof string

const (
	ProofProvider Proof = "provider" // the identity provider said so in a signed token
	ProofTOTP     Proof = "totp"     // the portal's own one-time code
	ProofRecovery Proof = "recovery" // a recovery code of the portal
)

// Rules are the times a session lives by.
type Rules struct {
	Idle     time.Duration // without a request
	Absolute time.Duration // from sign-in, whatever happens
	StepUp   time.Duration // how long a sign-in lets a second factor be enrolled, and a proof serves decisions
}

// DefaultRules are 30 minutes idle, 12 hours in all, 10 minutes for a step-up.
func DefaultRules() Rules {
	return Rules{Idle: 30 * time.Minute, Absolute: 12 * time.Hour, StepUp: 10 * time.Minute}
}

// clockSlack is how far two clocks of one installation may be apart.
const clockSlack = time.Minute

// End is why a session no longer counts.
type End string

const (
	InForce       End = ""
	EndedIdle     End = "idle"
	EndedAbsolute End = "absolute"
)

// End judges the session's age at now.
func (s Session) End(now time.Time, r Rules) End {
	switch {
	case !now.Before(s.Began.Add(r.Absolute)):
		return EndedAbsolute
	case !now.Before(s.Seen.Add(r.Idle)):
		return EndedIdle
	}
	return InForce
}

// FirstFactorFresh tells whether the person signed in, or was asked again, within
// the step-up window. A second factor may be enrolled only then: a session that
// was left open must not be enough to attach one.
func (s Session) FirstFactorFresh(now time.Time, r Rules) bool {
	last := s.Began
	if s.Reauthed.After(last) {
		last = s.Reauthed
	}
	return !last.After(now.Add(clockSlack)) && now.Before(last.Add(r.StepUp))
}

// SamePerson tells whether a second authentication was by the person of this
// session. A step-up by somebody else must not strengthen it.
func (s Session) SamePerson(issuer, subject string) bool {
	return s.Subject != "" && s.Issuer == issuer && s.Subject == subject
}

// Clone returns a copy which shares no memory with s.
func (s Session) Clone() Session {
	s.AMR = slices.Clone(s.AMR)
	s.Groups = slices.Clone(s.Groups)
	return s
}
