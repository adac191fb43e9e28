package handlers

import (
	"net/http"

	"quartermaster/internal/fault"
	"quartermaster/internal/portal"
)

// requestComment adds a remark to a request.
func (s *server) requestComment(w http.ResponseWriter, r *http.Request) error {
	n, err := numberIn(r, "request")
	if err != nil {
		return err
	}
	f, err := readForm(r)
	if err != nil {
		return err
	}
	key, err := f.key()
	if err != nil {
		return err
	}
	text := f.long("text", maxReason)
	if text == "" && len(f.wrong) == 0 {
		f.reject("text", "Write something first.")
	}
	if f.err() != nil {
		return s.showRequest(w, r, http.StatusUnprocessableEntity, n, f)
	}
	if _, err := s.Portal.CommentRequest(r.Context(), actorOf(r), portal.CommentInput{Number: n, Text: text, Key: key}); err != nil {
		if fa := fault.As(err); fa != nil && fa.Kind == fault.Invalid {
			f.take(fa.Fields)
			return s.showRequest(w, r, http.StatusUnprocessableEntity, n, f)
		}
		return s.conflictOr(w, r, err, f.values)
	}
	return seeOther(w, r, requestPath(n)+"#comments")
}
