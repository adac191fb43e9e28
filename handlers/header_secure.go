package handlers

import (
	"net/http"
	"strings"

	"quartermaster/internal/paths"
)

// secured sets the headers that bound what a page may do in the browser.
func (s *server) secured(next http.Handler) http.Handler {
	targets := strings.Join(append([]string{"'self'"}, s.SignInOrigins...), " ")
	// Everything from here, nothing inline. form-action also bounds where a posted
	// form may be redirected to, so the identity provider has to be named.
	policy := "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action " + targets
	// River's pages style themselves inline; nothing else of the portal does.
	jobs := policy + "; style-src 'self' 'unsafe-inline'; font-src 'self' data:"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		if r.URL.Path == paths.Jobs || strings.HasPrefix(r.URL.Path, paths.Jobs+"/") {
			h.Set("Content-Security-Policy", jobs)
		}
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		// Not no-referrer: browsers then send Origin: null with our own forms.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		if s.https {
			h.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
		}
		next.ServeHTTP(w, r)
	})
}
