package handlers

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"quartermaster/internal/fault"
	"quartermaster/internal/paths"
	"quartermaster/web"
)

// refusal is a 403 of the gate, which says which roles would open the page.
type refusal struct {
	fault *fault.Error
}

func (e *refusal) Error() string { return e.fault.Error() }
func (e *refusal) Unwrap() error { return e.fault }

// plain is an answer about the request itself rather than about the product.
type plain struct {
	status int
	text   string
	allow  []string // for 405
}

func (e *plain) Error() string { return http.StatusText(e.status) }

// showError is the only place where an error becomes a status and a page. It is
// also where an error is noted for the request's one line in the log.
func (s *server) showError(w http.ResponseWriter, r *http.Request, err error) {
	noteOf(r).err = err
	v := s.explain(w, r, err)
	if v.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "10")
	}
	if isFragment(r) {
		// htmx swaps only answers that worked; a short text is enough for the log of the browser.
		http.Error(w, v.Text, v.Status)
		return
	}
	f := s.frame(r, web.ErrorTitle(v.Status))
	if s.show(w, r, v.Status, web.ErrorPage(f, v)) != nil {
		http.Error(w, "This did not work. Request "+requestID(r), v.Status)
	}
}

// explain maps what went wrong to what a person is told.
func (s *server) explain(w http.ResponseWriter, r *http.Request, err error) web.ErrorView {
	home := web.Link{Text: "Go to Home", Href: paths.Home}
	var tooLarge *http.MaxBytesError
	var p *plain
	var gate *refusal
	switch {
	case errors.As(err, &tooLarge):
		return web.ErrorView{Status: http.StatusRequestEntityTooLarge, Text: "This form is larger than the portal takes (1 MiB). Shorten the text and send it again.", Do: []web.Link{home}}
	case errors.As(err, &p):
		if len(p.allow) > 0 {
			w.Header().Set("Allow", strings.Join(p.allow, ", "))
		}
		return web.ErrorView{Status: p.status, Text: p.text, Do: []web.Link{home}}
	case errors.As(err, &gate):
		return web.ErrorView{Status: http.StatusForbidden, Text: gate.fault.Public,
			Givers: "A platform admin maps one of your groups to a role. The refused attempt is on record.", Do: []web.Link{home}}
	}
	f := fault.As(err)
	if f == nil && timedOut(r, err) {
		f = fault.New(fault.Unavailable, "This took too long and was stopped. Nothing was changed; try again.")
	}
	if f == nil {
		return web.ErrorView{Status: http.StatusInternalServerError, Text: "Something in the portal broke. It is in the log under the request id below.", Do: []web.Link{home}}
	}
	v := web.ErrorView{Status: statusOf(f.Kind), Text: f.Public, Do: []web.Link{home}}
	for _, field := range f.Fields {
		v.Fields = append(v.Fields, web.Fact{Label: fieldLabel(field.Name), Text: field.Message})
	}
	switch f.Kind {
	case fault.Conflict, fault.Stale:
		v.Do = append([]web.Link{{Text: "Look at it as it is now", Href: here(r)}}, home)
	case fault.Unavailable:
		v.Do = append([]web.Link{{Text: "Try again", Href: here(r)}}, home)
	}
	return v
}

// statusOf maps the kinds of internal/fault.
func statusOf(k fault.Kind) int {
	switch k {
	case fault.Invalid:
		return http.StatusUnprocessableEntity
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict, fault.Stale:
		return http.StatusConflict
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// timedOut: the page's own time is over. The database reports that as a cancelled
// statement, not as DeadlineExceeded, so the context is asked.
func timedOut(r *http.Request, err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(r.Context().Err(), context.DeadlineExceeded)
}

// here is the page that a failed form belongs to: an address that can be opened.
func here(r *http.Request) string {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return r.URL.RequestURI()
	}
	if back, ok := ownReferer(r); ok {
		return back
	}
	return paths.Home
}

func (s *server) notFound(http.ResponseWriter, *http.Request) error {
	return fault.New(fault.NotFound, "There is nothing at this address, or nothing that you may see.")
}

func (s *server) methodNotAllowed(_ http.ResponseWriter, r *http.Request) error {
	return &plain{status: http.StatusMethodNotAllowed, text: "This address does not take that kind of request. Open the page and use its buttons.", allow: s.allows(r)}
}
