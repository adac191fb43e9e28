package jobs_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/internal/soak"
	"quartermaster/internal/work"
	"quartermaster/jobs"
)

func TestADecisionComesTrueByItself(t *testing.T) {
	y := newYard(t)
	y.runner(nil)
	ref, _ := y.grant("east-h100", "production", 12, nil, nil)
	y.eventually("active", func() bool { return y.state(ref.Number) == request.Active })
	require.Equal(t, "12", y.live("east", "production"))
}

// A cluster that is away: the change waits without using up attempts, and the first
// good poll starts it at once, long before the snooze would end.
func TestADownClusterIsWaitedForAndReleased(t *testing.T) {
	y := newYard(t)
	gone := func(context.Context, string) error {
		return fault.New(fault.Unavailable, "The cluster cannot be reached.")
	}
	y.sims["east"].Intercept(gone)
	y.runner(nil)
	ref, out := y.grant("east-h100", "production", 12, nil, nil)
	y.eventually("waiting", func() bool {
		c, err := y.store.Change(t.Context(), out.Changes[0])
		return err == nil && c.State == portal.ChangeWaiting &&
			y.count(`SELECT count(*) FROM river_job WHERE kind = 'change_apply' AND state = 'scheduled'`) == 1
	})
	require.Zero(t, y.count(`SELECT count(*) FROM river_job WHERE kind = 'change_apply' AND cardinality(errors) > 0`))
	y.sims["east"].Intercept(nil)
	_, err := y.TestCluster(t.Context(), y.as("pia"), "east") // has it polled now
	require.NoError(t, err)
	y.eventually("active", func() bool { return y.state(ref.Number) == request.Active })
	require.Equal(t, "12", y.live("east", "production"))
	require.Equal(t, 1, y.count(`SELECT count(*) FROM ledger_entry WHERE type = 'change.waiting'`))
}

func TestEveryClusterIsPolledInItsTurnAndANewOneToo(t *testing.T) {
	y := newYard(t)
	hang := func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }
	y.sims["west"].Intercept(hang) // one that hangs holds up nobody
	y.PollTimeout = time.Second
	y.runner(func(c *jobs.Config) { c.Every = 2 * time.Second })
	y.runner(func(c *jobs.Config) { c.Every = 2 * time.Second }) // a second replica
	polled := func(id string, ok bool) int {
		return y.count(`SELECT count(*) FROM poll WHERE cluster_id = $1 AND ok = $2`, id, ok)
	}
	y.eventually("east polled", func() bool { return polled("east", true) >= 3 })
	y.eventually("west failed", func() bool { return polled("west", false) >= 1 })
	require.Zero(t, polled("west", true))
	require.Zero(t, y.count(`SELECT count(*) FROM (SELECT args->>'slot' FROM river_job WHERE kind = 'usage_poll' AND args->>'cluster_id' = 'east' GROUP BY 1 HAVING count(*) > 1) twice`),
		"two replicas, one poll a turn")

	y.sims["north"] = y.sims["east"]
	require.NoError(t, y.store.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
		c := portal.Cluster{Mode: fleet.Observe, CreatedAt: time.Now().UTC()}
		c.ID, c.Name, c.Kind = "north", "North", fleet.Simulated
		return tx.InsertCluster(ctx, c, "", nil)
	}))
	y.eventually("north polled", func() bool { return polled("north", true) >= 1 })
}

// C088: the end came while nothing ran; it is handled when the process starts, once.
func TestAnEndMissedWhileDownIsHandledAtStart(t *testing.T) {
	y := newYard(t)
	end := time.Now().UTC().Add(2 * time.Second)
	ref, out := y.grant("east-h100", "production", 12, nil, &end)
	for _, id := range out.Changes {
		_, err := y.ApplyChange(t.Context(), id)
		require.NoError(t, err)
	}
	require.Equal(t, "12", y.live("east", "production"))
	y.eventually("over", func() bool { return time.Now().After(end) })
	for range 2 {
		y.runner(nil)
	}
	y.eventually("expired", func() bool { return y.state(ref.Number) == request.Expired })
	y.eventually("taken back", func() bool { return y.live("east", "production") == "0" })
	require.Equal(t, 1, y.count(`SELECT count(*) FROM ledger_entry WHERE type = 'grant.ended'`))
	require.Equal(t, 2, y.count(`SELECT count(*) FROM change`))
}

func TestAScheduledGrantStartsOnTime(t *testing.T) {
	y := newYard(t)
	y.runner(nil)
	start := time.Now().UTC().Add(2 * time.Second)
	ref, _ := y.grant("east-h100", "production", 12, &start, nil)
	require.Equal(t, request.Scheduled, y.state(ref.Number))
	y.eventually("active", func() bool { return y.state(ref.Number) == request.Active })
	require.False(t, time.Now().Before(start))
	require.Equal(t, "12", y.live("east", "production"))
}

// What a process left in the middle is taken up by the next one, without waiting for
// the rescue of its job.
func TestWhatADeadProcessLeftIsTakenUp(t *testing.T) {
	y := newYard(t)
	ref, _ := y.grant("east-h100", "production", 12, nil, nil)
	_, err := y.store.DB().Exec(`UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now(), attempted_by = '{gone}' WHERE kind = 'change_apply'`)
	require.NoError(t, err)
	y.runner(nil)
	y.eventually("active", func() bool { return y.state(ref.Number) == request.Active })
}

// Many changes of many places, each queued several times: one effect each.
func TestEachJobTwiceHasOneEffect(t *testing.T) {
	y := newYard(t)
	refs := map[int64]bool{}
	for range soak.Count(2, 40) {
		for _, env := range []string{"development", "production"} {
			for _, pool := range []string{"east-h100", "west-h100"} {
				ref, out := y.grant(pool, env, int64(1+len(refs)%8), nil, nil)
				refs[ref.Number] = true
				require.NoError(t, y.store.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
					for _, id := range append(out.Changes, out.Changes...) {
						if err := tx.Enqueue(ctx, work.ChangeApply{ChangeID: id}); err != nil {
							return err
						}
					}
					return nil
				}))
			}
		}
	}
	y.runner(nil)
	y.runner(nil)
	y.eventually("nothing open", func() bool {
		return y.count(`SELECT count(*) FROM change WHERE state NOT IN ('verified', 'superseded')`) == 0
	})
	require.Zero(t, y.count(`SELECT count(*) FROM (SELECT object_id FROM ledger_entry WHERE type IN ('change.begun', 'change.applied', 'change.verified') GROUP BY type, object_id HAVING count(*) > 1) twice`))
	for n := range refs {
		require.Contains(t, []request.State{request.Active, request.Superseded}, y.state(n))
	}
	v, err := y.VerifyRecord(t.Context(), portal.VerifyInput{})
	require.NoError(t, err)
	require.Empty(t, v.Problems)
}

func TestOnlyOneReplicaWatches(t *testing.T) {
	y := newYard(t)
	_, out := y.grant("east-h100", "production", 12, nil, nil)
	_, err := y.ApplyChange(t.Context(), out.Changes[0])
	require.NoError(t, err)
	first := y.runner(nil)
	y.runner(nil)
	seen := func(name string) func() bool {
		return func() bool {
			return y.count(`SELECT count(*) FROM workload WHERE name = $1`, name) == 1
		}
	}
	_, err = y.sims["east"].Submit("vision-street-production", "one", h100, 2, time.Hour)
	require.NoError(t, err)
	y.eventually("watched", seen("one"))
	require.Equal(t, 1, y.count(`SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND (classid::bigint << 32 | objid::bigint) = hashtextextended('watch', 0)`))
	require.NoError(t, first.Stop(t.Context()))
	_, err = y.sims["east"].Submit("vision-street-production", "two", h100, 2, time.Hour)
	require.NoError(t, err)
	y.eventually("the other takes over", seen("two"))
}

func TestAJobOfAMissingChangeEnds(t *testing.T) {
	y := newYard(t)
	require.NoError(t, y.store.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
		return tx.Enqueue(ctx, work.ChangeApply{ChangeID: uuid.NewString()})
	}))
	y.runner(nil)
	y.eventually("cancelled", func() bool { return y.count(`SELECT count(*) FROM river_job WHERE state = 'cancelled'`) == 1 })
}

func TestThePagesOfJobsAreServed(t *testing.T) {
	y := newYard(t)
	r := y.runner(nil)
	server := httptest.NewServer(r.UI())
	defer server.Close()
	get := func(path string) string {
		res, err := http.Get(server.URL + path)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.StatusCode, path)
		return string(body)
	}
	require.Contains(t, strings.ToLower(get("/admin/jobs/")), "<!doctype html>")
	get("/admin/jobs/api/jobs?state=available")
}
