package signin

import (
	"context"
	"strings"
)

const (
	// keptLimit bounds one text; the longest honest form has a reason of some KB.
	keptLimit = 32 << 10
	// mostKept bounds the texts of one session.
	mostKept = 20
)

// Keep remembers a text in the session until Take removes it.
func (h *Handler) Keep(ctx context.Context, key, text string) {
	if len(text) > keptLimit {
		return
	}
	kept := 0
	for _, k := range h.sessions.Keys(ctx) {
		if strings.HasPrefix(k, keyKept) {
			if kept++; kept >= mostKept {
				h.sessions.Remove(ctx, k)
			}
		}
	}
	h.sessions.Put(ctx, keyKept+key, text)
}

// Take returns what Keep remembered and forgets it.
func (h *Handler) Take(ctx context.Context, key string) string {
	if h.Peek(ctx, key) == "" {
		return "" // nothing to write
	}
	return h.sessions.PopString(ctx, keyKept+key)
}

// Peek returns what Keep remembered.
func (h *Handler) Peek(ctx context.Context, key string) string {
	return h.sessions.GetString(ctx, keyKept+key)
}

// Ask is what a second factor is proven for. The page that needs it leaves it under
// KeptAsk of the path to come back to, where it keeps its form in the same way: the
// proof alone never decides. It comes from the session, never from an address, because
// the proof is bound to it and it goes on record.
type Ask struct {
	What    string   // in words: "to decide on R-1042"
	Digests []string // of what was shown
}

// Text is the form in which Keep takes it.
func (a Ask) Text() string { return strings.Join(append([]string{a.What}, a.Digests...), "\n") }

// KeptAsk is the key of the Ask of the page at back.
func KeptAsk(back string) string { return "ask:" + back }

// KeptProof is the key under which the id of a proof waits for the page at back.
func KeptProof(back string) string { return "proof:" + back }

// AskOf reads what Text wrote.
func AskOf(text string) Ask {
	what, digests, _ := strings.Cut(text, "\n")
	return Ask{What: orElse(what, "to go on"), Digests: strings.Fields(digests)}
}

// asked is what the page at back left; without digests there is nothing to prove.
func (h *Handler) asked(ctx context.Context, back string) Ask {
	return AskOf(h.Peek(ctx, KeptAsk(back)))
}
