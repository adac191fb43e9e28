package handlers

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/a-h/templ"
)

// buffers and squeezers are shared: pages are 20 to 200 KiB and come in crowds.
var (
	buffers   = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	squeezers = sync.Pool{New: func() any { z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed); return z }}
)

// worthSqueezing is the size from which gzip saves a packet.
const worthSqueezing = 2 << 10

// render answers with a page, status 200.
func (s *server) render(w http.ResponseWriter, r *http.Request, c templ.Component) error {
	return s.show(w, r, http.StatusOK, c)
}

// show renders a page into one buffer before anything is sent, so that a page
// that fails half-way becomes an error page, and many small writes become one.
func (s *server) show(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	if err := c.Render(r.Context(), b); err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept-Encoding")
	if b.Len() > worthSqueezing && takesGzip(r) {
		small := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(small)
		small.Reset()
		z := squeezers.Get().(*gzip.Writer)
		defer squeezers.Put(z)
		z.Reset(small)
		if _, err := z.Write(b.Bytes()); err != nil {
			return fmt.Errorf("compress page: %w", err)
		}
		if err := z.Close(); err != nil {
			return fmt.Errorf("compress page: %w", err)
		}
		h.Set("Content-Encoding", "gzip")
		b = small
	}
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.Bytes()) // the reader went away: nobody to tell
	}
	return nil
}

// takesGzip reads Accept-Encoding: gzip is taken unless its q is 0.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		q, hasQ := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
		v, err := strconv.ParseFloat(q, 64)
		return !hasQ || err == nil && v > 0
	}
	return false
}

// seeOther ends a form that did something: the browser opens to, so that
// reloading does not send the form again.
func seeOther(w http.ResponseWriter, r *http.Request, to string) error {
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}
