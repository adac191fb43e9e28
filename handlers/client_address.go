package handlers

import (
	"net/http"

	"github.com/go-chi/chi/v5/middleware"
)

// withClient finds the client's address: the peer's own, unless the peer is a
// trusted proxy. A client cannot choose it with a header.
func (s *server) withClient() func(http.Handler) http.Handler {
	if len(s.TrustedProxies) == 0 {
		return middleware.ClientIPFromRemoteAddr
	}
	prefixes := make([]string, len(s.TrustedProxies))
	for i, p := range s.TrustedProxies {
		prefixes[i] = p.String()
	}
	return middleware.ClientIPFromXFF(prefixes...)
}

// ClientAddress is the address a request comes from, "" where it cannot be told.
func ClientAddress(r *http.Request) string { return middleware.GetClientIP(r.Context()) }
