package web

import (
	"fmt"
	"strings"
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

func (v StepUp) windowHint() string {
	if v.Window == "" {
		return "Six digits. Each code counts once."
	}
	return "Six digits. Each code counts once; it is good for " + v.Window + "."
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
