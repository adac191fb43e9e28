package handlers

import (
	"net/http"

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
	if err := f.err(); err != nil {
		return err
	}
	if _, err := s.Portal.CommentRequest(r.Context(), actorOf(r), portal.CommentInput{Number: n, Text: text, Key: key}); err != nil {
		return err
	}
	return seeOther(w, r, requestPath(n)+"#comments")
}
