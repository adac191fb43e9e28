package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"quartermaster/internal/fault"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

// includes reports whether p passes the gate.
func (g who) includes(p org.Person) bool {
	return g.public || g.door || g.anyone || p.HasAny(g.roles...)
}

// words names the roles that open a route: "team manager or capacity manager".
func (g who) words() string {
	var labels []string
	for _, role := range g.roles {
		labels = append(labels, strings.ToLower(role.Label()[:1])+role.Label()[1:])
	}
	if n := len(labels); n > 1 {
		return strings.Join(labels[:n-1], ", ") + " or " + labels[n-1]
	}
	return strings.Join(labels, "")
}

// mount puts one line of the table into the router.
func (s *server) mount(m chi.Router, e route) {
	switch {
	case e.who.public:
		m.Method(e.method, e.pattern, s.answer(e.do))
	case e.who.door:
		m.Method(e.method, e.pattern, s.session.Load(s.gate(e.who, e.do)))
	default:
		m.Method(e.method, e.pattern, s.session.Load(s.session.Require(s.gate(e.who, e.do))))
	}
}

// gate lets a request through to do, or refuses whoever has none of the roles. A
// refusal goes on record.
func (s *server) gate(g who, do page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok, err := s.session.Actor(r)
		if ok {
			noteOf(r).person = a.Person.ID
			r = r.WithContext(withActor(r.Context(), a))
		}
		switch {
		case err != nil:
		case !g.includes(a.Person):
			err = s.refuse(r, a, g)
		default:
			err = do(w, r)
		}
		if err != nil {
			s.showError(w, r, err)
		}
	})
}

// answer turns a page into a handler: what it returns becomes a page of its own.
func (s *server) answer(do page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := do(w, r); err != nil {
			s.showError(w, r, err)
		}
	})
}

// outside is for addresses without a route: with the frame of whoever is signed in.
func (s *server) outside(do page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.session.Load(s.gate(visitor, do)).ServeHTTP(w, r)
	}
}

// ownReferer is the path and query of the page of ours that sent r.
func ownReferer(r *http.Request) (string, bool) {
	u, err := r.URL.Parse(r.Referer())
	if err != nil || u.Host != r.Host || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") {
		return "", false
	}
	return u.RequestURI(), true
}

// isFragment reports whether htmx asks for a part of a page.
func isFragment(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }

// refuse records that somebody tried what their roles do not open, and says which would.
func (s *server) refuse(r *http.Request, a portal.Actor, g who) error {
	f := &refusal{fault: fault.Newf(fault.Forbidden, "This page is open to the %s.", g.words())}
	if err := s.recordRefusal(r, a); err != nil {
		return err // what cannot be recorded is not answered as if it had been
	}
	return f
}

func (s *server) recordRefusal(r *http.Request, a portal.Actor) error {
	return s.Portal.RecordRefusal(r.Context(), a, portal.Refusal{Route: known(r.Method) + " " + patternOf(r), RequestNumber: aimedAt(r)})
}

// aimedAt is the number of the request that a refused attempt aimed at, 0 if none.
func aimedAt(r *http.Request) int64 {
	n, err := numberIn(r, "request")
	if err != nil {
		return 0
	}
	return n
}

// allows lists the methods that an address takes.
func (s *server) allows(r *http.Request) []string {
	var out []string
	c := chi.RouteContext(r.Context())
	if c == nil || c.Routes == nil {
		return nil
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if c.Routes.Match(chi.NewRouteContext(), method, r.URL.Path) {
			out = append(out, method)
		}
	}
	if slices.Contains(out, http.MethodGet) {
		out = append(out, http.MethodHead)
	}
	return out
}
