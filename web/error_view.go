package web

// ErrorView is a page for what did not work: what happened, and what to do next.
// Status picks the heading: 400, 403, 404, 409, 429, 500, 503.
type ErrorView struct {
	Status int
	Title  string // "" takes the heading of the status
	Text   string // public message of the fault
	// Needs says which role opens this, and Givers who can give it (403).
	Needs  string
	Givers string
	Rule   string // the rule that refused, by name
	Fields []Fact // invalid fields
	Do     []Link // what to do next
}

// ConfirmView asks before something that cannot be taken back. Without scripts a
// dialog is a page. It posts to Action with Hidden, idempotency_key and, where
// Reason has a name, the reason.
type ConfirmView struct {
	Title          string // "Withdraw R-1042"
	Text           []string
	Objects        []DiffObject
	Action         string
	Hidden         []Filter // name and value
	IdempotencyKey string
	Reason         Field
	Verb           string // "Withdraw R-1042"
	Danger         bool
	Cancel         Link
}

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
