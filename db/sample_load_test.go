package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

func TestALimitOnAChartIsOneThatWasInForce(t *testing.T) {
	w := newWorld(t)
	b := w.binding("cv", "east")
	for i, limit := range []int64{4, 12} {
		at := noon.Add(time.Duration(i) * 30 * time.Second)
		w.poll(observation(at), portal.UsageRow{Binding: b, PoolID: "east-h100", At: at, Nominal: fleet.Known(fleet.Count(limit)), InUse: fleet.Known(fleet.Count(limit / 2))})
	}
	day, err := w.BindingSamples(t.Context(), b.ID, "east-h100", noon.Add(-time.Hour), noon.Add(23*time.Hour))
	require.NoError(t, err)
	require.Len(t, day, 1, "both polls fall into one bucket")
	require.InDelta(t, 12, *day[0].Nominal, 0, "the last one, not 8")
	require.InDelta(t, 4, *day[0].InUse, 0, "use is averaged")
}
