package portal_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/db/dbtest"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

// BenchmarkPages times the reads behind the pages on a request with a history.
func BenchmarkPages(b *testing.B) {
	d := newDesk(b)
	ref := d.submitted(quota(ask("h100", 16), ask("a100", 4)))
	for i := range 20 {
		_, err := d.CommentRequest(b.Context(), d.as("ana"), portal.CommentInput{Number: ref.Number, Text: fmt.Sprint("note ", i)})
		require.NoError(b, err)
	}
	ctx, c := b.Context(), quota(ask("h100", 16), ask("a100", 4))
	for name, read := range map[string]func() error{
		"preview":   func() error { _, err := d.PreviewRequest(ctx, d.as("ana"), c); return err },
		"request":   func() error { _, err := d.ViewRequest(ctx, d.as("ben"), ref.Number); return err },
		"decide":    func() error { _, err := d.ViewDecision(ctx, d.as("ben"), ref.Number, nil); return err },
		"requests":  func() error { _, err := d.ListRequests(ctx, d.as("otto"), portal.RequestQuery{}); return err },
		"approvals": func() error { _, err := d.ListApprovals(ctx, d.as("ben"), portal.RequestQuery{}); return err },
		"history": func() error {
			_, err := d.SearchHistory(ctx, d.as("otto"), portal.EntryQuery{Types: []ledger.Type{ledger.RequestCommented}})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPreviewLarge is the live column in an organisation of 500 teams and 5,000 people.
func BenchmarkPreviewLarge(b *testing.B) {
	d := newDesk(b)
	o, err := portal.ParseOrganisation([]byte(deskOrg))
	require.NoError(b, err)
	for i := range 500 {
		team := fmt.Sprintf("team-%d", i)
		o.Teams = append(o.Teams, org.Team{ID: team, Name: team, UnitID: "research"})
		for _, role := range []org.Role{org.Requester, org.TeamManager} {
			group := team + "-" + string(role)
			o.Mappings = append(o.Mappings, org.Mapping{Group: group, Role: role, Scope: org.Scope{Kind: org.TeamScope, ID: team}})
			for n := range 5 {
				name := fmt.Sprintf("%s-%d", group, n)
				o.People = append(o.People, portal.OrgPerson{Issuer: testIssuer, Subject: name, Name: name, Groups: []string{group}})
			}
		}
	}
	_, err = d.ImportOrg(b.Context(), portal.Actor{System: "test", Via: "import"}, o, false)
	require.NoError(b, err)
	dbtest.Open(b, d.owner).MustExecContext(b.Context(), `ANALYZE`) // as autovacuum does
	c := quota(ask("h100", 16), ask("a100", 4))
	for b.Loop() {
		if _, err := d.PreviewRequest(b.Context(), d.as("ana"), c); err != nil {
			b.Fatal(err)
		}
	}
}
