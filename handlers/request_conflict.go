package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"sort"
	"strings"

	"quartermaster/internal/fault"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// conflictOr answers a form that was filled from an older state with a page (409)
// that shows what changed and what the person had entered. Any other error is
// returned as it is.
func (s *server) conflictOr(w http.ResponseWriter, r *http.Request, err error, entered url.Values) error {
	var changed *portal.RequestChanged
	if !errors.As(err, &changed) {
		return err
	}
	noteOf(r).err = err
	v := web.RequestConflict{
		Number: requestWord(changed.Number), What: changed.What,
		Go:   web.Link{Text: "Open " + requestWord(changed.Number) + " as it is now", Href: changedPath(r, changed.Number)},
		Back: web.Link{Text: "Go to Requests", Href: paths.Requests},
	}
	if f := fault.As(err); f != nil && v.What == "" {
		v.What = f.Public
	}
	for _, c := range changed.Rows {
		v.Rows = append(v.Rows, web.ConflictRow{Field: c.Field, Then: c.Then, Now: c.Now})
	}
	v.Entered = enteredFacts(entered)
	f := s.frame(r, web.ErrorTitle(http.StatusConflict), web.Link{Text: "Requests", Href: paths.Requests}, requestLink(changed.Number))
	return s.show(w, r, http.StatusConflict, web.RequestConflictPage(f, v))
}

// changedPath is where the request can be looked at now: the page of this form,
// save where this form belongs to no page of that request.
func changedPath(r *http.Request, number int64) string {
	if strings.HasPrefix(r.URL.Path, requestPath(number)+"/") && r.URL.Path != paths.RequestComment(decimal(number)) {
		return r.URL.Path
	}
	return requestPath(number)
}

// enteredFacts lists what somebody typed, so that a conflict loses nothing.
func enteredFacts(values url.Values) []web.Fact {
	hidden := map[string]bool{"idempotency_key": true, "revision_digest": true, "stage": true, "lines": true, "base": true, "action": true}
	f := formOf(values)
	var out []web.Fact
	for name := range values {
		if text := f.typed(name); !hidden[name] && strings.TrimSpace(text) != "" {
			out = append(out, web.Fact{Label: fieldLabel(name), Text: text})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Label < out[j].Label })
	return out
}
