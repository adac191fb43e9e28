package handlers

import (
	"net/http"
	"time"

	"quartermaster/internal/paths"
	"quartermaster/web"
)

// stallLimit is how long a reader of a download may take for one piece.
const stallLimit = 30 * time.Second

// historyCSV is the address that links used to have: taking the record away asks first.
func (s *server) historyCSV(w http.ResponseWriter, r *http.Request) error {
	return seeOther(w, r, paths.HistoryExport+query(r.URL.RequestURI()))
}

// historyExportAsk says what would be taken away. After a second factor it names the
// proof, which one download uses up.
func (s *server) historyExportAsk(w http.ResponseWriter, r *http.Request) error {
	q, err := s.historyQuery(r)
	if err != nil {
		return err
	}
	q.Before, q.After = 0, 0
	f, waited := s.takeKept(r, r.URL.RequestURI())
	if !waited {
		f = formOf(nil)
	}
	page, err := s.Portal.SearchHistory(r.Context(), actorOf(r), q)
	if err != nil {
		return err
	}
	count := web.Many(int64(page.Count), "entry", "entries")
	if page.More {
		count = "more than " + web.Count(int64(page.Count)) + " entries"
	}
	v := web.ConfirmView{
		Title: "Export the history", Verb: "Download CSV", Action: r.URL.RequestURI(), IdempotencyKey: newKey(), Hidden: proofOf(f), Stays: true,
		Text: []string{
			"A CSV file of " + count + ", " + periodOf(q) + ", as the list is filtered. That you took it stands in the record.",
			"One proof of your second factor serves one download.",
		},
		Cancel: web.Link{Text: "Back to the list", Href: paths.History + query(r.URL.RequestURI())},
	}
	if waited {
		v.Text[1] = "Second factor proven, for one download."
	}
	return s.render(w, r, web.ConfirmPage(s.frame(r, v.Title, web.Link{Text: "History", Href: paths.History}), v))
}

// historyExport streams what is filtered as CSV. The export is on record before
// the first byte; after it an error can only cut the download off, so that a
// partial file is never taken for a whole one.
func (s *server) historyExport(w http.ResponseWriter, r *http.Request) error {
	q, err := s.historyQuery(r)
	if err != nil {
		return err
	}
	f, err := readForm(r)
	if err != nil {
		return err
	}
	q.Before, q.After, q.Limit = 0, 0, 0
	begun := false
	out := &steady{w: w, c: http.NewResponseController(w)}
	err = s.Portal.ExportHistory(r.Context(), provingOf(r, f), q, out, func() {
		begun = true
		s.csvHeader(w, "history")
	})
	if err != nil && begun {
		noteOf(r).err = err
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		return s.stepUpOr(w, r, err, f, r.URL.RequestURI(), "to export the history")
	}
	return nil
}

func (s *server) csvHeader(w http.ResponseWriter, name string) {
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", `attachment; filename="quartermaster-`+name+`-`+s.Now().UTC().Format("20060102T150405Z")+`.csv"`)
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
