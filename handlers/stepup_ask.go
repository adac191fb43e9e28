package handlers

import (
	"errors"
	"net/http"

	"quartermaster/handlers/signin"
	"quartermaster/internal/portal"
)

// stepUpOr keeps the form on the server and asks for the second factor, where
// that is all that was missing. back shows the form again to be confirmed: the
// proof alone never decides. Any other error is returned as it is.
func (s *server) stepUpOr(w http.ResponseWriter, r *http.Request, err error, f *form, back, what string) error {
	if !errors.Is(err, portal.ErrStepUp) {
		return err
	}
	s.session.AskStepUp(w, r, signin.Ask{What: what, Back: back, Form: f.values})
	return nil
}

// takeKept returns the form that waited for the second factor at this path, once.
func (s *server) takeKept(r *http.Request, path string) (*form, bool) {
	values, ok := s.session.KeptForm(r.Context(), path)
	if !ok || values == nil {
		return nil, false
	}
	return formOf(values), true
}
