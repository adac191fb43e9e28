package handlers

import (
	"errors"
	"net/http"
	"net/url"

	"quartermaster/handlers/signin"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
)

// keptForm is where in the session a form waits while its person proves a second factor.
func keptForm(path string) string { return "form:" + path }

// stepUpOr keeps the form on the server and asks for the second factor, where
// that is all that was missing. back shows the form again to be confirmed: the
// proof alone never decides. Any other error is returned as it is.
func (s *server) stepUpOr(w http.ResponseWriter, r *http.Request, err error, f *form, back, what string) error {
	if !errors.Is(err, portal.ErrStepUp) {
		return err
	}
	s.session.Keep(r.Context(), keptForm(back), f.values.Encode())
	s.session.Keep(r.Context(), signin.KeptWhat(back), what)
	return seeOther(w, r, paths.With(paths.StepUp, "back", back))
}

// takeKept returns the form that waited for the second factor at this path, once.
func (s *server) takeKept(r *http.Request, path string) (*form, bool) {
	raw := s.session.Take(r.Context(), keptForm(path))
	if raw == "" {
		return nil, false
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, false
	}
	return formOf(values), true
}
