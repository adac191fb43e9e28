package paths

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIdsAreEscapedOnce(t *testing.T) {
	require.Equal(t, "/projects/R&D%2F1", Project("R&D/1"))
	require.Equal(t, "/approvals?team=R%26D", With(Approvals, "team", "R&D", "sort", ""))
	require.Equal(t, "/approvals", With(Approvals, "team", ""))
}
