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

// KeptWhat is the key under which the page that asks for a step-up leaves what it
// serves, for the person and for the record: "to approve R-1042". The path is that
// of the page to come back to, which keeps its form in the same way: the proof
// alone never decides.
func KeptWhat(back string) string { return "what:" + back }

// whatFor comes from the session, never from the address: it goes on record.
func (h *Handler) whatFor(ctx context.Context, back string) string {
	return orElse(h.Peek(ctx, KeptWhat(back)), "to go on")
}
