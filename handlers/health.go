package handlers

import (
	"context"
	"net/http"
	"time"
)

// healthz says that this process answers; it asks nobody else.
func (s *server) healthz(w http.ResponseWriter, _ *http.Request) error {
	return line(w, http.StatusOK, "ok\n")
}

// readyz says whether requests can be served now. It names no cause: the log does.
func (s *server) readyz(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), 3*time.Second)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		noteOf(r).err = err
		return line(w, http.StatusServiceUnavailable, "not ready\n")
	}
	return line(w, http.StatusOK, "ready\n")
}

// line answers machines with a line of text.
func line(w http.ResponseWriter, status int, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the reader went away: nobody to tell
	return nil
}

// assets serves the built front end.
func (s *server) assets(w http.ResponseWriter, r *http.Request) error {
	s.Assets.ServeHTTP(w, r)
	return nil
}
