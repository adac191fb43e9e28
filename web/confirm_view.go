package web

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
	Stays          bool // the answer is a download: the page stays, and its button with it
}
