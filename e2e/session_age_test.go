package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/site"
)

// ageProof makes the proofs of two factors that a person gave eleven minutes older, as
// if they had gone for a coffee: they no longer serve a decision.
func ageProof(t *testing.T, s *site.Site, user string) {
	t.Helper()
	done, err := s.DB(t).Exec(`UPDATE step_up SET at = at - interval '11 minutes' FROM person p WHERE p.id = step_up.person_id AND p.subject = $1`, user)
	require.NoError(t, err)
	n, err := done.RowsAffected()
	require.NoError(t, err)
	require.NotZero(t, n, "%s proved two factors", user)
}
