package handlers

import "net/http"

// usageExport streams the account as CSV, one row a day. It is on record before the
// first byte; after it an error can only cut the download off. What it holds anybody who
// may open the page has read there, so no second factor is asked for.
func (s *server) usageExport(w http.ResponseWriter, r *http.Request) error {
	ask, err := s.usageAsk(r)
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		s.csvHeader(w, "usage")
		return nil // nothing was taken away, so nothing goes on record
	}
	begun := false
	out := &steady{w: w, c: http.NewResponseController(w)}
	err = s.Portal.ExportUsage(r.Context(), actorOf(r), ask, out, func() {
		begun = true
		s.csvHeader(w, "usage")
	})
	if err != nil && begun {
		noteOf(r).err = err
		panic(http.ErrAbortHandler)
	}
	return err
}
