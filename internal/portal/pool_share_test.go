package portal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
)

func TestShareOfANodePool(t *testing.T) {
	known := func(s string) fleet.Measure { return fleet.Known(fleet.MustQuantity(s)) }
	require.Equal(t, "12", share(known("96"), known("8"), 1).String())
	require.Equal(t, "11", share(known("95500m"), known("8"), 1).String(), "rounded down: what the system keeps is not given away")
	require.Equal(t, "127Gi", share(known("1023Gi"), known("8"), 1<<30).String())
	require.Equal(t, "0", share(fleet.Unknown, known("8"), 1).String())
	require.Equal(t, "0", share(known("96"), known("0"), 1).String())
}
