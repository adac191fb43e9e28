package handlers

import (
	"net/http"
	"time"
)

// stallLimit is how long a reader of a download may take for one piece.
const stallLimit = 30 * time.Second

// historyExport streams what is filtered as CSV. The export is on record before
// the first byte; after it an error can only cut the download off, so that a
// partial file is never taken for a whole one.
func (s *server) historyExport(w http.ResponseWriter, r *http.Request) error {
	q, err := s.historyQuery(r)
	if err != nil {
		return err
	}
	q.Before, q.After, q.Limit = 0, 0, 0
	if r.Method == http.MethodHead {
		s.csvHeader(w)
		return nil // nothing was taken away, so nothing goes on record
	}
	begun := false
	out := &steady{w: w, c: http.NewResponseController(w)}
	err = s.Portal.ExportHistory(r.Context(), actorOf(r), q, out, func() {
		begun = true
		s.csvHeader(w)
	})
	if err != nil && begun {
		noteOf(r).err = err
		panic(http.ErrAbortHandler)
	}
	return err
}

func (s *server) csvHeader(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", `attachment; filename="quartermaster-history-`+s.Now().UTC().Format("20060102T150405Z")+`.csv"`)
	h.Set("Cache-Control", "no-store")
}

// steady ends a download whose reader stopped reading: it holds a database
// connection as long as it runs.
type steady struct {
	w http.ResponseWriter
	c *http.ResponseController
}

func (s *steady) Write(b []byte) (int, error) {
	_ = s.c.SetWriteDeadline(time.Now().Add(stallLimit)) // a test recorder has no deadline
	return s.w.Write(b)
}
