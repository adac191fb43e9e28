package handlers

import (
	"net/http"

	"quartermaster/internal/fault"
)

// jobsUI shows River's own pages, read only: retrying and cancelling are actions
// of the portal with a record of their own.
func (s *server) jobsUI(w http.ResponseWriter, r *http.Request) error {
	if s.JobsUI == nil {
		return fault.New(fault.NotFound, "The job pages are not part of this process.")
	}
	w.Header().Set("Cache-Control", "no-store")
	s.JobsUI.ServeHTTP(w, r)
	return nil
}
