package handlers

import (
	"net/http"

	"quartermaster/internal/fault"
	"quartermaster/internal/paths"
)

// fromElsewhere are the addresses that a machine without a browser posts to and
// that prove themselves with what they carry: a signed logout token.
var fromElsewhere = map[string]bool{paths.BackChannelLogout: true}

// sameSite refuses requests that would change something and were not made by a
// page of this portal. net/http lets those pass that carry neither Sec-Fetch-Site
// nor Origin, since old browsers and tools send none; here a person's browser is
// the only one that posts, and every browser since 2020 sends one of them.
func (s *server) sameSite(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	if err := protection.AddTrustedOrigin(s.origin); err != nil {
		panic(err) // New checked the address
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		safe := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
		if safe || fromElsewhere[r.URL.Path] {
			next.ServeHTTP(w, r)
			return
		}
		if err := protection.Check(r); err != nil {
			s.showError(w, r, crossSite(err))
			return
		}
		if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" {
			s.showError(w, r, crossSite(nil))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func crossSite(cause error) error {
	return fault.New(fault.Forbidden, "This was sent from outside the portal, so it was not done. Open the page here and send it again.").Because(cause)
}
