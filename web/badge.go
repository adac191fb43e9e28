package web

// Tone is what a colour and a shape mean; a word always stands beside them.
type Tone string

// The tones. One colour a meaning, on every page.
const (
	Waiting  Tone = "waiting"   // amber: somebody else, or the machine, has to act
	NeedsYou Tone = "needs-you" // blue: the reader has to act
	Done     Tone = "done"      // green: true now, or finished as meant
	Refused  Tone = "refused"   // red: refused, failed, broken
	NotKnown Tone = "unknown"   // grey, dashed: could not be read
	Neutral  Tone = "neutral"   // grey: neither
)

// Badge is a state in one word or two.
type Badge struct {
	Tone Tone
	Word string
}

// stateTones gives each state of a request its tone; design.md's states.
var stateTones = map[string]Tone{
	"draft": Neutral, "submitted": Waiting, "in review": Waiting, "approved": Waiting,
	"scheduled": Waiting, "applying": Waiting, "active": Done, "expired": Neutral,
	"revoked": Refused, "superseded": Neutral, "rejected": Refused, "returned": NeedsYou,
	"withdrawn": Neutral, "lapsed": Refused, "partially applied": Waiting,
}

// StateBadge is the badge of a request's state ("in review", "active", …). A
// state this page does not know is shown as it is, in the tone of the unknown.
func StateBadge(state string) Badge {
	tone, ok := stateTones[state]
	if !ok {
		tone = NotKnown
	}
	return Badge{Tone: tone, Word: state}
}

// ModeBadge is the badge of a cluster's mode.
func ModeBadge(mode string) Badge {
	tones := map[string]Tone{"observe": Neutral, "plan": Waiting, "enforce": Done}
	tone, ok := tones[mode]
	if !ok {
		tone = NotKnown
	}
	return Badge{Tone: tone, Word: mode}
}
