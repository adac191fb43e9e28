package handlers

import (
	"errors"
	"net/http"
	"net/url"

	"quartermaster/handlers/signin"
	"quartermaster/internal/fault"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// keptForm is where in the session a form waits while its person proves a second factor.
func keptForm(path string) string { return "form:" + path }

// proofField is the hidden field of a form by which it names the proof that was given for it.
const proofField = "proof"

// provingOf is who is signed in, with the proof that the form names.
func provingOf(r *http.Request, f *form) portal.Actor {
	a := actorOf(r)
	a.Proof = f.values.Get(proofField)
	return a
}

// stepUpOr keeps the form on the server and asks for the second factor, where
// that is all that was missing. back shows the form again to be confirmed: the
// proof alone never decides. Any other error is returned as it is.
func (s *server) stepUpOr(w http.ResponseWriter, r *http.Request, err error, f *form, back, what string) error {
	var need *portal.StepUpNeeded
	if !errors.As(err, &need) {
		return err
	}
	f.values.Del(proofField)
	f.values.Del("code")
	s.session.Keep(r.Context(), keptForm(back), f.values.Encode())
	s.session.Keep(r.Context(), signin.KeptAsk(back), signin.Ask{What: what, Digests: need.Digests}.Text())
	return seeOther(w, r, paths.With(paths.StepUp, "back", back))
}

// takeKept returns the form that waited for the second factor at this path, once. It
// names the proof that was given for it, if one was.
func (s *server) takeKept(r *http.Request, path string) (*form, bool) {
	raw := s.session.Take(r.Context(), keptForm(path))
	proof := s.session.Take(r.Context(), signin.KeptProof(path))
	if raw == "" {
		return nil, false
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, false
	}
	if proof != "" {
		values.Set(proofField, proof)
	}
	return formOf(values), true
}

// codeOr answers a need for two factors by the one-time code that came with the form:
// act runs again with the proof. Without a code, or when something else was wrong, err stays;
// a wrong code is said beside its field.
func (s *server) codeOr(r *http.Request, err error, f *form, what string, act func(portal.Actor) error) error {
	var need *portal.StepUpNeeded
	code := f.text("code")
	if code == "" || !errors.As(err, &need) {
		return err
	}
	proof, problem, err := s.session.ProveCode(r.Context(), code, signin.Ask{What: what, Digests: need.Digests})
	if err != nil {
		return err
	}
	if problem != "" {
		return wrongCode(problem)
	}
	f.values.Set(proofField, proof)
	return act(provingOf(r, f))
}

// proofOf is the hidden field by which a form that came back names its proof.
func proofOf(f *form) []web.Filter {
	if id := f.values.Get(proofField); id != "" {
		return []web.Filter{{Name: proofField, Value: id}}
	}
	return nil
}

// wrongCode is what a form says of a one-time code that did not count.
func wrongCode(problem string) error {
	return fault.New(fault.Invalid, problem).At("code", "%s", problem)
}

// wrongOf is what was wrong with a field; "" = nothing.
func wrongOf(f *form, name string) string {
	for _, w := range f.wrong {
		if w.Name == name {
			return w.Message
		}
	}
	return ""
}
