package portal_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/ledger"
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
