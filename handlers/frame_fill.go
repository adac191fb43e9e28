package handlers

import (
	"net/http"
	"strings"

	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/web"
)

// countLimit bounds what the navigation counts; more reads as the limit.
const countLimit = 100

// frame is what surrounds every page: who, where, what waits. It costs one
// look at the record's state and at most one bounded count.
func (s *server) frame(r *http.Request, title string, crumbs ...web.Link) web.Frame {
	f := web.Frame{
		Title: title, Crumbs: crumbs, Path: r.URL.Path, Theme: themeOf(r),
		Now: s.Now(), RequestID: requestID(r), Version: s.Version,
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		f.Back = r.URL.RequestURI()
	}
	a := actorOf(r)
	if a.Person.ID == "" {
		return f
	}
	f.Person = web.Person{Name: a.Person.Name, Roles: roleWords(a.Person.Roles)}
	f.Said = s.session.Take(r.Context(), saidKey)
	if state, err := s.Portal.RecordState(r.Context()); err != nil {
		f.Failed = append(f.Failed, "whether the record is as it was written")
	} else {
		f.Alarm = alarmOf(state)
	}
	counts := map[string]int{}
	if decides.includes(a.Person) {
		n, err := s.Portal.CountApprovals(r.Context(), a, countLimit)
		if err != nil {
			f.Failed = append(f.Failed, "how many approvals wait for you")
		}
		counts[paths.Approvals] = n
	}
	if operates.includes(a.Person) {
		n, err := s.Portal.CountOwnFindings(r.Context(), a, countLimit)
		if err != nil {
			f.Failed = append(f.Failed, "how many findings are yours")
		}
		counts[paths.Findings] = n
	}
	f.Nav = web.Navigation(func(path string) bool { return s.mayOpen(a.Person, path) }, counts)
	return f
}

// saidKey keeps the one sentence about what the last action did until the next page shows it.
const saidKey = "said"

// say leaves a sentence for the page that the browser opens next.
func (s *server) say(r *http.Request, text string) { s.session.Keep(r.Context(), saidKey, text) }

// roleWords are roles as people say them: "team manager of team vision".
func roleWords(roles []org.Assignment) []string {
	var out []string
	for _, a := range roles {
		out = append(out, roleWord(a))
	}
	return out
}

func roleWord(a org.Assignment) string {
	word := lowerFirst(a.Role.Label())
	if a.Scope.Kind == org.Everywhere || a.Scope.Kind == "" {
		return word
	}
	return word + " of " + a.Scope.String()
}

// lowerFirst makes a label fit into a sentence.
func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
