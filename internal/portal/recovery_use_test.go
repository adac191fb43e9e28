package portal_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/signin"
)

// enrolled is ben with an authenticator and the codes that he was shown.
func enrolled(t *testing.T) (*desk, portal.Actor, []string) {
	d := newDesk(t)
	plain := func(text []byte, _ string) ([]byte, error) { return text, nil }
	d.Seal, d.Open = plain, plain
	ben := d.tired("ben")
	_, err := d.ProposeTOTP(t.Context(), ben.Person.ID, "GEZDGNBVGY3TQOJQ")
	require.NoError(t, err)
	codes, done, err := d.ConfirmTOTP(t.Context(), signin.Session{ID: "tired", PersonID: ben.Person.ID}, 7)
	require.NoError(t, err)
	require.True(t, done)
	require.Len(t, codes, 10)
	return d, ben, codes
}

func TestARecoveryCodeCountsOnce(t *testing.T) {
	d, ben, codes := enrolled(t)
	use := func(a portal.Actor, code string) (int, bool) {
		left, ok, err := d.UseRecoveryCode(t.Context(), a, code)
		require.NoError(t, err)
		return left, ok
	}
	var kept []string
	require.NoError(t, d.store.DB().Select(&kept, `SELECT digest FROM recovery_code`))
	require.Len(t, kept, 10)
	for _, c := range codes {
		require.NotContains(t, kept, c, "only digests are kept")
	}
	_, ok := use(d.tired("cleo"), codes[0])
	require.False(t, ok, "somebody else's code")
	left, ok := use(ben, codes[0])
	require.True(t, ok)
	require.Equal(t, 9, left)
	_, ok = use(ben, codes[0])
	require.False(t, ok)

	var all sync.WaitGroup
	took := make([]bool, 6)
	for i := range took {
		all.Go(func() { _, took[i], _ = d.UseRecoveryCode(t.Context(), ben, codes[1]) })
	}
	all.Wait()
	n := 0
	for _, x := range took {
		if x {
			n++
		}
	}
	require.Equal(t, 1, n, "also of many uses at once")
	require.Equal(t, 2, d.count(ledger.RecoveryUsed), "each use is on record")
	state, err := d.FactorOf(t.Context(), ben.Person.ID)
	require.NoError(t, err)
	require.True(t, state.Enrolled)
	require.Equal(t, 8, state.Recovery.Left)
	d.intact()
}

func TestNewRecoveryCodesNeedAStepUpAndRetireTheOld(t *testing.T) {
	d, ben, old := enrolled(t)
	_, err := d.RenewRecoveryCodes(t.Context(), ben)
	ben.Proof = d.prove(ben, needed(t, err).Digests...)
	codes, err := d.RenewRecoveryCodes(t.Context(), ben)
	require.NoError(t, err)
	require.Len(t, codes, 10)
	_, ok, err := d.UseRecoveryCode(t.Context(), ben, old[3])
	require.NoError(t, err)
	require.False(t, ok)
	_, ok, err = d.UseRecoveryCode(t.Context(), ben, codes[3])
	require.NoError(t, err)
	require.True(t, ok)
	_, err = d.RenewRecoveryCodes(t.Context(), ben)
	require.Equal(t, "spent", needed(t, err).Why)
	_, err = d.RenewRecoveryCodes(t.Context(), d.tired("cleo"))
	require.Equal(t, fault.Conflict, fault.KindOf(err), "nothing to recover")
	d.intact()
}

func TestAnAuthenticatorIsReplacedByWhoProvedTwoFactors(t *testing.T) {
	d, ben, old := enrolled(t)
	ask := needed(t, d.ProposeFactor(t.Context(), ben, "NEWNEWNEWNEWNEWN")).Digests
	_, err := d.ReplaceFactor(t.Context(), ben, 9)
	needed(t, err)
	_, err = d.FactorProposed(t.Context(), ben)
	needed(t, err)

	ben.Proof = d.prove(ben, ask...)
	require.NoError(t, d.ProposeFactor(t.Context(), ben, "NEWNEWNEWNEWNEWN"))
	secret, _, err := d.TOTPOf(t.Context(), ben.Person.ID)
	require.NoError(t, err)
	require.Equal(t, "GEZDGNBVGY3TQOJQ", secret, "the old one stays until the new one is confirmed")
	shown, err := d.FactorProposed(t.Context(), ben)
	require.NoError(t, err)
	require.Equal(t, "NEWNEWNEWNEWNEWN", shown)
	codes, err := d.ReplaceFactor(t.Context(), ben, 9)
	require.NoError(t, err)
	require.Len(t, codes, 10)
	secret, last, err := d.TOTPOf(t.Context(), ben.Person.ID)
	require.NoError(t, err)
	require.Equal(t, "NEWNEWNEWNEWNEWN", secret)
	require.EqualValues(t, 9, last)
	_, ok, err := d.UseRecoveryCode(t.Context(), ben, old[0])
	require.NoError(t, err)
	require.False(t, ok, "the old codes go with the old authenticator")
	_, err = d.ReplaceFactor(t.Context(), ben, 10)
	require.Equal(t, "spent", needed(t, err).Why)
	d.intact()
}
