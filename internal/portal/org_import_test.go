package portal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/dev/demo"
	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

func TestDemonstrationOrganisationIsRight(t *testing.T) {
	o, err := portal.ParseOrganisation(demo.Org)
	require.NoError(t, err)
	assert.Len(t, o.Teams, 3)
	assert.Len(t, o.Projects, 6)
	assert.Len(t, o.Clusters, 2)
	crlf, err := portal.ParseOrganisation([]byte("\xef\xbb\xbf" + strings.ReplaceAll(string(demo.Org), "\n", "\r\n")))
	require.NoError(t, err)
	assert.Equal(t, o, crlf, "a byte order mark and CRLF change nothing")
}

// Every mistake is named with its line, entry and field.
func TestParseOrganisationNamesMistakes(t *testing.T) {
	for name, c := range map[string]struct{ file, where, says string }{
		"empty":             {"", "file", "Name at least one team"},
		"null":              {"null\n", "file", "Name at least one team"},
		"no team":           {"units: []\n", "file", "Name at least one team"},
		"hidden characters": {"teams:\n  - {id: a, name: \"A\\u202E\"}\n", "line 2, teams a, name", "cannot be seen"},
		"NUL in a name":     {"teams:\n  - {id: a, name: \"A\\0b\"}\n", "line 2, teams a, name", "cannot be seen"},
		"endless name":      {"teams:\n  - {id: a, name: " + strings.Repeat("a", 5000) + "}\n", "line 2, teams a, name", "at most 120"},
		"no owner":          {"teams: [{id: a, name: A}]\nprojects:\n  - {id: p, name: P, team: a, environments: [production]}\n", "line 3, projects p, owner", "is needed"},
		"unknown owner":     {"teams: [{id: a, name: A}]\nprojects:\n  - {id: p, name: P, team: a, owner: x, environments: [production]}\n", "line 3, projects p, owner", "nobody with the subject"},
		"alias of itself":   {"teams: &a\n  - *a\n", "line 1", "cannot unmarshal"},
		"unknown key":       {"teams:\n  - {id: a, name: A, colour: red}\n", "line 2", "there is no colour here"},
		"unknown section":   {"teem: []\n", "line 1", "there is no teem here"},
		"wrong type":        {"pools:\n  - {id: a, hourly_cents: much}\n", "line 2", "cannot unmarshal"},
		"not YAML":          {"teams: [\n", "file", ""},
		"two documents":     {"teams: []\n---\nteams: []\n", "file", "one document"},
		"unknown unit":      {"units: []\nteams:\n  - {id: a, name: A, unit: x}\n", "line 3, teams a, unit", `there is no "x"`},
		"id twice":          {"teams:\n  - {id: a, name: A}\n  - {id: a, name: B}\n", "line 3, teams a, id", "is there twice"},
		"bad id":            {"teams:\n  - {id: A b, name: A}\n", "line 2, teams A b, id", "lower-case"},
		"no name":           {"teams:\n  - {id: a, name: ' '}\n", "line 2, teams a, name", "is needed"},
		"bad environment":   {"teams: [{id: a, name: A}]\nprojects:\n  - {id: p, name: P, team: a, owner: o, environments: [prod]}\npeople: [{subject: o, name: O}]\n", "line 3, projects p, environments", `"prod" is not one of`},
		"bad role":          {"roles:\n  - {group: g, role: king, scope: {kind: organisation}}\n", "line 2, roles g, role", `"king"`},
		"scope of nothing":  {"roles:\n  - {group: g, role: requester, scope: {kind: team, id: x}}\n", "line 2, roles g, scope", `there is no "x"`},
		"bad quantity":      {"pools:\n  - {id: a, cpu_per_unit: 1GB}\n", "file", "not an amount"},
		"auditor decides":   {"route:\n  - {key: a, name: A, role: auditor, scope: team, quorum: 1}\n", "line 2, route a, role", "does not decide"},
		"no quorum":         {"route:\n  - {key: a, name: A, role: team_manager, scope: team}\n", "line 2, route a, quorum", "at least 1"},
		"linked to nobody":  {"people:\n  - {subject: a, name: A, linked_to: b}\n", "line 2, people a, linked_to", "another subject"},
		"flavor twice":      {"clusters: [{id: c, name: C, kind: kubernetes}]\npools:\n  - {id: a, name: A, cluster: c, flavor: f, resource: r}\n  - {id: b, name: B, cluster: c, flavor: f, resource: r}\n", "line 4, pools b, flavor", "same flavor"},
		"currency in words": {"clusters: [{id: c, name: C, kind: kubernetes}]\npools:\n  - {id: a, name: A, cluster: c, flavor: f, resource: r, hourly_cents: 5, currency: euro}\n", "line 3, pools a, currency", "three letters"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := portal.ParseOrganisation([]byte(c.file))
			require.Equal(t, fault.Invalid, fault.KindOf(err), "%v", err)
			f := fault.As(err)
			require.NotEmpty(t, f.Fields, "%v", err)
			assert.Equal(t, c.where, f.Fields[0].Name)
			assert.Contains(t, f.Fields[0].Message, c.says)
			assert.NotContains(t, f.Fields[0].Message, "portal.", "no word of Go")
			assert.NoError(t, f.Cause, "the fields say it all")
		})
	}
}

// The same file twice changes nothing the second time; a dry run says what would
// change and changes nothing.
func TestImportIsIdempotent(t *testing.T) {
	d := newDesk(t)
	system := portal.Actor{System: "cli", Via: "import"}
	o, err := portal.ParseOrganisation([]byte(deskOrg))
	require.NoError(t, err)
	again, err := d.ImportOrg(t.Context(), system, o, false)
	require.NoError(t, err)
	assert.True(t, again.Empty, strings.Join(again.Lines, "\n"))

	changed, err := portal.ParseOrganisation([]byte(strings.NewReplacer(
		"name: Vision,", "name: Vision & Sound,", "hourly_cents: 190", "hourly_cents: 200",
		"  - {group: audit, role: auditor, scope: {kind: organisation}}\n", "",
		"quorum: 1, respond_within: 48h}\n  - {key: capacity", "quorum: 2, respond_within: 48h}\n  - {key: capacity",
		"units: [", "units: [{id: ops, name: Operations}, ").Replace(deskOrg)))
	require.NoError(t, err)
	dry, err := d.ImportOrg(t.Context(), system, changed, true)
	require.NoError(t, err)
	want := []string{
		"+ unit ops",
		"~ team vision: name Vision → Vision & Sound",
		"~ pool a100: rate 1.90 EUR an hour → 2.00 EUR an hour",
		`~ route: stages team ("Team manager", 1 × team_manager of team within 48h0m0s), capacity ("Capacity manager", 1 × capacity_manager of pools within 48h0m0s) → team ("Team manager", 2 × team_manager of team within 48h0m0s), capacity ("Capacity manager", 1 × capacity_manager of pools within 48h0m0s)`,
		"- role auditor for group audit at organisation",
	}
	assert.Equal(t, want, dry.Lines)
	still, err := d.store.Person(t.Context(), d.people["otto"].ID)
	require.NoError(t, err)
	assert.True(t, still.Has(org.Auditor), "a dry run changes nothing")

	done, err := d.ImportOrg(t.Context(), system, changed, false)
	require.NoError(t, err)
	assert.Equal(t, want, done.Lines)
	assert.Positive(t, done.Version)
	otto, err := d.store.Person(t.Context(), d.people["otto"].ID)
	require.NoError(t, err)
	assert.False(t, otto.Has(org.Auditor), "a mapping that was taken out gives nothing")
	page, err := d.SearchHistory(t.Context(), d.as("pia"), portal.EntryQuery{Types: []ledger.Type{ledger.OrgImported}})
	require.NoError(t, err)
	assert.Len(t, page.Rows, 2, "an import that changed nothing leaves no entry")
	_, err = d.ImportOrg(t.Context(), d.as("ana"), changed, false)
	assert.Equal(t, fault.Forbidden, fault.KindOf(err))
	d.intact()
}
