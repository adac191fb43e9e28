package web

// ErrorView is a page for what did not work: what happened, and what to do next.
// Status picks the heading: 400, 403, 404, 409, 429, 500, 503.
type ErrorView struct {
	Status int
	Text   string // public message of the fault
	// Needs says which role opens this, and Givers who can give it (403).
	Needs  string
	Givers string
	Rule   string // the rule that refused, by name
	Fields []Fact // invalid fields
	Do     []Link // what to do next
}

// ErrorTitle is the heading of a status, for Frame.Title.
func ErrorTitle(status int) string {
	switch status {
	case 400, 422:
		return "Something in this does not fit"
	case 403:
		return "Not open to you"
	case 404:
		return "Nothing is here"
	case 409:
		return "It changed meanwhile"
	case 429:
		return "Too many tries"
	case 503:
		return "Not available now"
	default:
		return "This did not work"
	}
}

func (v ErrorView) tone() Tone {
	switch {
	case v.Status == 404:
		return NotKnown
	case v.Status == 409 || v.Status == 429 || v.Status == 503:
		return Waiting
	default:
		return Refused
	}
}

func (v ErrorView) icon() string {
	switch v.Status {
	case 403:
		return "lock"
	case 404:
		return "unknown"
	case 503:
		return "broken"
	default:
		return string(v.tone())
	}
}
