package handlers

import (
	"context"
	"net/http"
	"strings"
	"unicode/utf8"

	"quartermaster/internal/fault"
	"quartermaster/internal/paths"
)

// maxBody bounds every form. The largest honest one is a request with 20 pools
// and 10,000 characters of reasons, some 60 KiB once escaped.
const maxBody = 1 << 20

// limited bounds what one request may cost, and refuses addresses with bytes
// that are no text: they could not be stored, compared or shown.
func (s *server) limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isText(r.URL.Path) {
			s.showError(w, r, fault.New(fault.NotFound, "There is nothing at this address."))
			return
		}
		for name, values := range r.URL.Query() {
			if !isText(name + strings.Join(values, "")) {
				s.showError(w, r, fault.New(fault.Invalid, "The address holds characters that are not text. Remove what follows the question mark and search again."))
				return
			}
		}
		most := int64(maxBody)
		if strings.HasPrefix(r.URL.Path, paths.Clusters+"/") && strings.HasSuffix(r.URL.Path, "/import") {
			most = maxFileForm // the one form that carries a file
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		if !lasting(r.URL.Path) {
			ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
			defer cancel()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// lasting addresses answer for as long as the reader reads.
func lasting(path string) bool {
	return path == paths.HistoryExport || strings.HasPrefix(path, paths.Jobs+"/")
}

// isText reports whether s can be stored and shown: UTF-8 without NUL, which
// PostgreSQL does not keep.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
