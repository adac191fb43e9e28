package handlers

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// note collects what the one line about a request says; handlers further in add to it.
type note struct {
	person string
	err    error
}

type noteKey struct{}

func noteOf(r *http.Request) *note {
	n, _ := r.Context().Value(noteKey{}).(*note)
	if n == nil {
		return &note{}
	}
	return n
}

// logged writes one line a request, with ids only: the pattern instead of the
// path, the person's random id, never a query, a form or a name.
func (s *server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		n := &note{}
		r = r.WithContext(context.WithValue(r.Context(), noteKey{}, n))
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			status := ww.Status()
			if status == 0 {
				status = http.StatusOK
			}
			took := time.Since(began)
			pattern := patternOf(r)
			s.count.observe(r.Method, pattern, status, took)
			level := slog.LevelInfo
			line := []slog.Attr{
				slog.String("request", requestID(r)), slog.String("method", known(r.Method)), slog.String("route", pattern),
				slog.Int("status", status), slog.Duration("took", took), slog.Int("bytes", ww.BytesWritten()),
				slog.String("client", ClientAddress(r)),
			}
			if n.person != "" {
				line = append(line, slog.String("person", n.person))
			}
			if n.err != nil {
				line = append(line, slog.String("error", n.err.Error()))
				if status >= 500 {
					level = slog.LevelError
				}
			}
			if quiet(pattern) && status < 400 {
				level = slog.LevelDebug
			}
			s.Log.LogAttrs(r.Context(), level, "request", line...)
		}()
		next.ServeHTTP(ww, r)
	})
}

// patternOf is the route's pattern, so that the log and the metrics have one
// name for one route and hold no id that a stranger made up.
func patternOf(r *http.Request) string {
	if c := chi.RouteContext(r.Context()); c != nil && c.RoutePattern() != "" {
		return c.RoutePattern()
	}
	return "none"
}

// known keeps methods that strangers invent out of the log and the metrics.
func known(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// quiet routes are asked every few seconds by machines, or come in dozens with one page.
func quiet(pattern string) bool {
	return pattern == "/healthz" || pattern == "/readyz" || pattern == "/metrics" || pattern == "/assets/*"
}
