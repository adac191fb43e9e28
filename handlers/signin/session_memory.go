package signin

import (
	"context"
	"strings"
)

// mostKept bounds the texts of one session.
const mostKept = 20

// Keep remembers a text in the session until Take removes it. Names are the
// caller's own; they never meet those of this package.
func (h *Handler) Keep(ctx context.Context, name, text string) {
	if len(text) > formLimit {
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
	h.sessions.Put(ctx, keyKept+name, text)
}

// Take returns what Keep stored, once; "" where there is nothing.
func (h *Handler) Take(ctx context.Context, name string) string {
	if !h.sessions.Exists(ctx, keyKept+name) {
		return "" // nothing to write back
	}
	return h.sessions.PopString(ctx, keyKept+name)
}
