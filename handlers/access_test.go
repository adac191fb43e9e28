package handlers

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
)

var update = flag.Bool("update", false, "write testdata/access.golden anew")

const accessGolden = "testdata/access.golden"

// as are the columns of the golden: nobody, somebody without a role, and one
// person of the demonstration for each role.
var as = []struct{ heading, subject string }{
	{"nobody", ""}, {"no role", "new"}, {"requester", "ana"}, {"team manager", "ben"}, {"capacity manager", "cleo"},
	{"compliance officer", "iris"}, {"auditor", "otto"}, {"platform admin", "pia"}, {"finance", "finn"},
}

// TestEveryRouteAnswersEveryRole writes down who gets where: each route of the
// router × each role → status, on a real request, cluster and entry. A POST
// carries a form without fields, so 422, 409 or 303 mean that the gate let it
// through; 403 that it did not. Look at each changed line of the golden.
func TestEveryRouteAnswersEveryRole(t *testing.T) {
	s := newSite(t)
	_, err := s.store.Person(t.Context(), s.signIn("ana", true).Person.ID)
	require.NoError(t, err)
	s.presence.actors["new"] = portal.Actor{Person: org.Person{ID: newKey(), Name: "New", Active: true, Identity: newKey()}, Via: "web"}
	fill := s.examples()

	var got bytes.Buffer
	fmt.Fprintf(&got, "%-46s", "route")
	for _, who := range as {
		fmt.Fprintf(&got, " %-18s", who.heading)
	}
	got.WriteString("\n")
	for _, line := range walk(t, s.h) {
		method, pattern, _ := strings.Cut(line, " ")
		row := fmt.Sprintf("%-46s", line)
		for _, who := range as {
			row += fmt.Sprintf(" %-18d", s.send(who.subject, method, fill(pattern), url.Values{}).Code)
		}
		got.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(accessGolden, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(accessGolden)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String(), "who gets where changed; run go test ./handlers -run EveryRoute -update and read the difference")
}

// TestEveryRouteStandsInTheTable fails for an address that got a handler past the table.
func TestEveryRouteStandsInTheTable(t *testing.T) {
	s, err := newServer(Config{Portal: without{}, Log: discard, BaseURL: "http://portal.test", Assets: http.NotFoundHandler(), Ready: ready})
	require.NoError(t, err)
	s.session = newPresence()
	h := s.router()
	var table []string
	for _, e := range s.entries {
		table = append(table, e.method+" "+e.pattern)
		require.True(t, e.who.public || e.who.door || e.who.anyone || len(e.who.roles) > 0, "%s %s says nobody may", e.method, e.pattern)
	}
	require.ElementsMatch(t, table, walk(t, h))
	for _, e := range s.entries {
		if e.method != http.MethodGet && e.who.public {
			require.Contains(t, []string{paths.Theme, paths.BackChannelLogout}, e.pattern, "a form that anybody may send")
		}
	}
}

// walk lists the routes that the router really has.
func walk(t *testing.T, h http.Handler) []string {
	t.Helper()
	var lines []string
	require.NoError(t, chi.Walk(h.(chi.Routes), func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		lines = append(lines, method+" "+pattern)
		return nil
	}))
	slices.SortFunc(lines, func(a, b string) int {
		am, ap, _ := strings.Cut(a, " ")
		bm, bp, _ := strings.Cut(b, " ")
		return strings.Compare(ap+" "+am, bp+" "+bm)
	})
	return lines
}

// examples puts something that exists into the patterns.
func (s *site) examples() func(pattern string) string {
	n := s.submitted()
	entries, err := s.store.Entries(s.t.Context(), portal.EntryQuery{Limit: 1, ProjectID: "street-scenes"})
	require.NoError(s.t, err)
	return strings.NewReplacer(
		"{request}", decimal(n), "{project}", "street-scenes", "{pool}", "aurora-h100", "{cluster}", "aurora",
		"{entry}", entries[0].Entry.ID, "{change}", "00000000-0000-4000-8000-000000000000", "*", "app.css",
	).Replace
}
