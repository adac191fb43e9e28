package signin

import "context"

// Keep remembers a text in the session until Take removes it. Names are the
// caller's own; they never meet those of this package.
func (h *Handler) Keep(ctx context.Context, name, text string) {
	h.sessions.Put(ctx, "page:"+name, text)
}

// Take returns what Keep stored, once; "" where there is nothing.
func (h *Handler) Take(ctx context.Context, name string) string {
	return h.sessions.PopString(ctx, "page:"+name)
}
