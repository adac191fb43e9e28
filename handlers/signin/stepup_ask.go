package signin

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"quartermaster/internal/paths"
)

// Ask is what a page wants a second factor for.
type Ask struct {
	What string // "to approve R-1042", after "A one-time code is needed"
	Back string // path of the page that asks for confirmation
	// Form is what the person had filled in. It waits in the session and is given
	// back to that page, once, by KeptForm.
	Form url.Values
}

type keptAsk struct {
	What string     `json:"what"`
	Form url.Values `json:"form"`
	At   time.Time  `json:"at"`
}

const (
	mostAsks  = 5
	formLimit = 32 << 10 // bytes of one form; the longest honest one has a reason of some KB
)

// AskStepUp keeps the form and sends the browser to prove a second factor. It
// writes the answer; the caller returns.
func (h *Handler) AskStepUp(w http.ResponseWriter, r *http.Request, a Ask) {
	ctx := r.Context()
	back := wayBack(a.Back)
	asks := h.asks(ctx)
	for len(asks) >= mostAsks {
		oldest := ""
		for path, other := range asks {
			if oldest == "" || other.At.Before(asks[oldest].At) {
				oldest = path
			}
		}
		delete(asks, oldest)
	}
	if len(a.Form.Encode()) > formLimit {
		a.Form = nil
	}
	asks[back] = keptAsk{a.What, a.Form, h.cfg.Now().UTC()}
	h.keep(ctx, keyAsks, asks)
	http.Redirect(w, r, paths.With(paths.StepUp, "back", back), http.StatusSeeOther)
}

// KeptForm takes back what AskStepUp kept for a path. The page shows it again
// for confirmation; only the person's own POST decides.
func (h *Handler) KeptForm(ctx context.Context, path string) (url.Values, bool) {
	asks := h.asks(ctx)
	path = wayBack(path)
	a, ok := asks[path]
	if !ok {
		return nil, false
	}
	delete(asks, path)
	h.keep(ctx, keyAsks, asks)
	return a.Form, true
}

func (h *Handler) asks(ctx context.Context) map[string]keptAsk {
	all := map[string]keptAsk{}
	h.read(ctx, keyAsks, &all)
	for path, a := range all {
		if h.cfg.Now().Sub(a.At) > h.cfg.Rules.Idle {
			delete(all, path)
		}
	}
	return all
}

func (h *Handler) askFor(ctx context.Context, back string) keptAsk { return h.asks(ctx)[back] }
