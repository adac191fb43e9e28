package web

import (
	"fmt"
	"strings"
	"time"
)

// SignedOut is the page outside a session. Posts nothing; the link signs in.
type SignedOut struct {
	SignIn string // address that starts sign-in, with the way back
	Why    string // "signed out", "session ended after 30 min without use"
	Demo   bool   // the built-in identity provider: for demonstration and small labs
	Codes  string // address of its page of one-time codes; "" hides
}

// SignInRefused says why a sign-in did not count.
type SignInRefused struct {
	Reason string // public: "the identity token has expired"
	Do     string // what to do
	SignIn string
	Record string // ledger number of the refused attempt
}

// StepUp asks for a second factor. Posts to paths.StepUp:
//
//	code (six digits), back (path), idempotency_key
//
// and every name of Hidden, so that a form that was sent survives.
type StepUp struct {
	What   string // "to approve R-1042"
	Error  string // "this code was used already; wait for the next"
	Back   string
	Hidden []Filter
	Window string // "10 min"
	// Recovery asks for a recovery code instead (name recovery); Lost is the address
	// that leads there, "" where the person has no codes.
	Recovery bool
	Lost     string
	// Enrol is set the first time: the secret as text and as a QR picture (SVG path data in modules).
	Enrol *Enrol
}

// Enrol shows a new TOTP secret.
type Enrol struct {
	Secret string // base32, in groups of four
	URI    string // otpauth://…
	// QR holds the rows of the code, '1' for a dark module; empty shows the text only.
	QR []string
}

// RecoveryCodes shows new codes, once.
type RecoveryCodes struct {
	Codes []string
	Go    string // where to go on
}

// SecondFactor is a person's own second factor. Posts proof to paths.RecoveryCodes, and
// proof and code to paths.FactorReplace.
type SecondFactor struct {
	Enrolled bool
	Provider bool // the identity provider proves two factors
	Left     int  // recovery codes not used yet, of Made
	Made     int
	MadeAt   *time.Time
	Confirm  string // "codes" or "replace": proven, waits for the last word
	Proof    string
	Error    string
	Enrol    *Enrol // a new secret that waits for its first code
}

func (v SecondFactor) left() string {
	if v.MadeAt == nil {
		return "None were made yet."
	}
	return fmt.Sprintf("%d of %d left.", v.Left, v.Made)
}

// few: it is time for new ones.
func (v SecondFactor) few() bool { return v.Left < 3 }

func (v StepUp) windowHint() string {
	if v.Window == "" {
		return "Six digits. Each code counts once."
	}
	return "Six digits. Each code counts once, for this alone, within " + v.Window + "."
}

// path draws the dark modules, with a quiet zone of four.
func (e Enrol) path() string {
	var b strings.Builder
	for y, row := range e.QR {
		for x, module := range row {
			if module == '1' {
				fmt.Fprintf(&b, "M%d %dh1v1h-1z", x+4, y+4)
			}
		}
	}
	return b.String()
}
