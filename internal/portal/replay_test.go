package portal_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
)

// A form that comes back with the same key and other contents, for another request or
// with a text changed after going back in the browser, was not done; nobody is told
// that it was. The same contents get the first result.
func TestKeyAnswersOnlyWhatItWasSentWith(t *testing.T) {
	d := newDesk(t)
	a, b := d.submitted(quota(ask("h100", 4))), d.submitted(quota(ask("h100", 5)))
	ana := d.as("ana")
	sentOtherwise := func(err error, about int64) {
		t.Helper()
		require.Equal(t, fault.Conflict, fault.KindOf(err), "%v", err)
		var changed *portal.RequestChanged
		require.True(t, errors.As(err, &changed))
		assert.Equal(t, about, changed.Number, "the page leads to what was done")
	}

	in := portal.WithdrawInput{Number: a.Number, Reason: "not needed", Key: "k1"}
	first, err := d.WithdrawRequest(t.Context(), ana, in)
	require.NoError(t, err)
	again, err := d.WithdrawRequest(t.Context(), ana, in)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	in.Number = b.Number
	_, err = d.WithdrawRequest(t.Context(), ana, in)
	sentOtherwise(err, a.Number)
	assert.Equal(t, request.Submitted, d.detail(b.Number).Request.State)
	assert.Len(t, d.entries(b.Number, ledger.RequestWithdrawn, ledger.Done), 0)

	draft := portal.DraftInput{Content: quota(ask("h100", 6)), Key: "k2"}
	kept, err := d.DraftRequest(t.Context(), ana, draft)
	require.NoError(t, err)
	draft.Content.Purpose = "Something else"
	_, err = d.DraftRequest(t.Context(), ana, draft)
	sentOtherwise(err, kept.Number)

	comment := portal.CommentInput{Number: b.Number, Text: "First words", Key: "k3"}
	_, err = d.CommentRequest(t.Context(), ana, comment)
	require.NoError(t, err)
	comment.Text = "Other words"
	_, err = d.CommentRequest(t.Context(), ana, comment)
	sentOtherwise(err, b.Number)
	assert.Len(t, d.detail(b.Number).Comments, 1)

	decision := approve(b, "team", 5)
	decision.Key = "k4"
	_, err = d.DecideRequest(t.Context(), d.as("ben"), decision)
	require.NoError(t, err)
	decision.Granted[0].Amount = ask("h100", 3).Asked
	_, err = d.DecideRequest(t.Context(), d.as("ben"), decision)
	sentOtherwise(err, b.Number)
	d.intact()
}

// An approval that gives nothing would take the limit that is there from somebody who
// asked for more; that is a rejection and needs its reason.
func TestApprovalGrantsSomething(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 4)))
	err := d.refused(d.as("ben"), approve(ref, "team", 0), fault.Invalid)
	require.Len(t, fault.As(err).Fields, 1)
	assert.Equal(t, "granted.h100", fault.As(err).Fields[0].Name)
}
