package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/portal"
	"quartermaster/jobs"
)

// Two replicas, each with a sequencer and a signer: a decision is pushed once its
// proof is signed, nothing is numbered twice, and when one replica ends the other goes on.
func TestTwoReplicasKeepOneRecord(t *testing.T) {
	y := newYard(t)
	y.Include = nil // by notice, as in production
	with := func(c *jobs.Config) {
		c.Signer = y.NewSigner(y.record.Store, y.record.Key, y.record.Trusted)
	}
	first := y.runner(with)
	y.runner(with)
	ref, _ := y.grant("east-h100", "development", 8, nil, nil)
	y.eventually("enforced", func() bool { return y.live("east", "development") == "8" })
	require.NoError(t, first.Stop(t.Context()))
	second, _ := y.grant("west-h100", "development", 4, nil, nil)
	y.eventually("enforced by the replica that is left", func() bool { return y.live("west", "development") == "4" })
	for _, n := range []int64{ref.Number, second.Number} {
		y.eventually("active", func() bool { return y.state(n) == "active" })
	}
	y.eventually("every entry has its leaf", func() bool {
		return y.count(`SELECT (SELECT count(*) FROM ledger_entry) - (SELECT count(*) FROM ledger_leaf)`) == 0
	})
	require.Zero(t, y.count(`SELECT max(index) + 1 - count(*) FROM ledger_leaf`), "no gap")
	require.Equal(t, 1, y.count(`SELECT count(*) FROM ledger_check WHERE kind = 'whole'`), "the day's check ran once")
	v, err := y.VerifyRecord(t.Context(), portal.VerifyInput{})
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	require.Positive(t, v.Signed)
}
