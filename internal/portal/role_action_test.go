package portal_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/portal"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Who may do what, on one page: each person of a role tries each action on a
// request of the team Vision that waits in the stage named.
func TestRoleByActionGolden(t *testing.T) {
	d := newDesk(t)
	ctx := t.Context()
	people := []struct{ role, subject string }{
		{"requester, asked for it", "ana"}, {"requester of the team", "bob"}, {"requester elsewhere", "tom"}, {"team manager", "ben"},
		{"capacity manager", "cleo"}, {"compliance officer", "iris"}, {"auditor", "otto"}, {"platform admin", "pia"}, {"finance", "finn"},
		{"every role, by the requester's other account", "ana-admin"},
	}
	draft := func() portal.RequestRef {
		ref, err := d.DraftRequest(ctx, d.as("ana"), portal.DraftInput{Content: quota(ask("h100", 4))})
		require.NoError(t, err)
		return ref
	}
	// Once something was granted and not read yet, a reason and an acknowledgement are due.
	reasoned := func(ref portal.RequestRef, stage string) portal.DecideInput {
		in := approve(ref, stage)
		in.Reason, in.Acknowledged = "As agreed.", true
		return in
	}
	inCapacity := func() portal.RequestRef {
		ref := d.submitted(quota(ask("h100", 4)))
		d.decide("eve", reasoned(ref, "team"))
		return ref
	}
	actions := []struct {
		name string
		do   func(a portal.Actor) error
	}{
		{"ask", func(a portal.Actor) error {
			_, err := d.DraftRequest(ctx, a, portal.DraftInput{Content: quota(ask("h100", 4))})
			return err
		}},
		{"edit a draft", func(a portal.Actor) error {
			ref := draft()
			_, err := d.EditRequest(ctx, a, portal.EditInput{Number: ref.Number, Digest: ref.Digest, Content: quota(ask("h100", 5))})
			return err
		}},
		{"submit", func(a portal.Actor) error {
			ref := draft()
			_, err := d.SubmitRequest(ctx, a, portal.SubmitInput{Number: ref.Number, Digest: ref.Digest})
			return err
		}},
		{"withdraw", func(a portal.Actor) error {
			_, err := d.WithdrawRequest(ctx, a, portal.WithdrawInput{Number: d.submitted(quota(ask("h100", 4))).Number})
			return err
		}},
		{"comment", func(a portal.Actor) error {
			_, err := d.CommentRequest(ctx, a, portal.CommentInput{Number: d.submitted(quota(ask("h100", 4))).Number, Text: "Noted."})
			return err
		}},
		{"view", func(a portal.Actor) error {
			_, err := d.ViewRequest(ctx, a, d.submitted(quota(ask("h100", 4))).Number)
			return err
		}},
		{"decide stage team", func(a portal.Actor) error {
			_, err := d.DecideRequest(ctx, a, approve(d.submitted(quota(ask("h100", 4))), "team"))
			return err
		}},
		{"reject stage team", func(a portal.Actor) error {
			in := approve(d.submitted(quota(ask("h100", 4))), "team")
			in.Outcome, in.Reason, in.Granted = approval.Reject, "Not now.", nil
			_, err := d.DecideRequest(ctx, a, in)
			return err
		}},
		{"decide stage capacity", func(a portal.Actor) error {
			_, err := d.DecideRequest(ctx, a, reasoned(inCapacity(), "capacity"))
			return err
		}},
		{"list people", func(a portal.Actor) error { _, err := d.ListPeople(ctx, a, portal.PeopleQuery{}); return err }},
		{"search history", func(a portal.Actor) error { _, err := d.SearchHistory(ctx, a, portal.EntryQuery{}); return err }},
		{"export history", func(a portal.Actor) error { return d.ExportHistory(ctx, a, portal.EntryQuery{}, io.Discard, nil) }},
		{"import organisation", func(a portal.Actor) error {
			o, err := portal.ParseOrganisation([]byte(deskOrg))
			require.NoError(t, err)
			_, err = d.ImportOrg(ctx, a, o, false)
			return err
		}},
	}
	var b strings.Builder
	for _, a := range actions {
		fmt.Fprintf(&b, "%s\n", a.name)
		for _, who := range people {
			word := "yes"
			if err := a.do(d.as(who.subject)); err != nil {
				require.NotEmpty(t, fault.KindOf(err), "%s by %s: %v", a.name, who.subject, err)
				word = string(fault.KindOf(err))
			}
			fmt.Fprintf(&b, "  %-46s%s\n", who.role, word)
		}
	}
	d.intact()
	file := filepath.Join("testdata", "role_by_action.txt")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())
}
