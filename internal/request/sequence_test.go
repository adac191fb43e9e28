package request_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/request"
	"quartermaster/internal/soak"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.checks", strconv.Itoa(soak.Count(100, 20_000))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// Whatever people do in whatever order: a request becomes approved only through
// its whole route on the revision it has, by different people, and never for more than was asked.
func TestAnySequenceKeepsTheRules(t *testing.T) {
	people := []string{"ben", "cleo", "kofi"}
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		r, err := request.Request{ID: "r", State: request.Draft, RequesterID: "ana"}.Edit(content(16), "ana", now)
		require.NoError(t, err)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(time.Minute)
			before := r
			var next request.Request
			var err error
			switch rapid.IntRange(0, 5).Draw(t, "command") {
			case 0:
				next, err = r.Edit(content(rapid.Int64Range(9, 20).Draw(t, "asked")), "ana", now)
			case 1:
				next, err = r.Submit(route(), now)
			case 2:
				next, err = r.Withdraw(now)
			default:
				d := decision(r, rapid.SampledFrom([]string{"team", "capacity"}).Draw(t, "stage"), rapid.SampledFrom(people).Draw(t, "who"),
					rapid.SampledFrom([]approval.Outcome{approval.Approve, approval.Approve, approval.Approve, approval.Return, approval.Reject}).Draw(t, "outcome"),
					rapid.Int64Range(0, 22).Draw(t, "granted"))
				d.At = now
				if rapid.IntRange(0, 9).Draw(t, "stale") == 0 {
					d.Digest = "old"
				}
				next, err = r.Decide(d)
			}
			if err != nil {
				require.NotEmpty(t, fault.KindOf(err), "every refusal says why: %v", err)
				require.Equal(t, fmt.Sprint(before), fmt.Sprint(next), "a refused command changes nothing")
				continue
			}
			require.GreaterOrEqual(t, len(next.Decisions), len(before.Decisions), "decisions are never dropped")
			require.GreaterOrEqual(t, next.Revision.Number, before.Revision.Number)
			r = next
			check(t, r)
		}
	})
}

func check(t *rapid.T, r request.Request) {
	digest := r.Revision.Digest
	approved := r.State == request.Approved
	complete := r.Route.Current(r.Decisions, digest) == len(r.Route.Stages) && len(r.Route.Stages) > 0
	require.Equal(t, approved, complete && !r.State.Open() && r.State != request.Draft && r.State != request.Returned && r.State != request.Withdrawn && r.State != request.Rejected)
	if _, waits := r.Stage(); waits {
		require.True(t, r.State.Open())
	}
	if approved {
		for _, s := range r.Route.Stages {
			require.GreaterOrEqual(t, len(s.Approvers(r.Decisions, digest)), s.Quorum)
		}
	}
	for i, g := range r.Granted() {
		require.LessOrEqual(t, g.Amount.Cmp(r.Revision.Content.Lines[i].Asked), 0, "never more than asked")
		require.GreaterOrEqual(t, g.Amount.Cmp(fleet.Quantity{}), 0)
	}
	if r.State.Terminal() {
		require.NotNil(t, r.ClosedAt)
	}
}
