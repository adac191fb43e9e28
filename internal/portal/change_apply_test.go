package portal_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/dev/sim"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
)

func TestAChangeComesTrueAndIsReadBack(t *testing.T) {
	y := newYard(t)
	ref, out := y.granted(ask("h100", 16))
	require.Equal(t, request.Applying, y.state(ref.Number))
	res := y.apply(out.Changes[0])
	require.Equal(t, portal.ChangeVerified, res.State, res.Problem)
	require.Equal(t, "16", y.live(place))
	require.Equal(t, request.Active, y.state(ref.Number))
	c := y.change(out.Changes[0])
	require.NotNil(t, c.Plan)
	require.NotNil(t, c.AppliedAt)
	require.NotNil(t, c.VerifiedAt)
	require.NotEmpty(t, c.Receipt.Written)
	require.True(t, c.ReadBack.Verified())
	require.True(t, c.ReadBack.Active)

	// Again, as the job queue may: nothing is written, nothing recorded.
	writes := y.writes(place)
	require.Equal(t, portal.ChangeVerified, y.apply(out.Changes[0]).State)
	require.Equal(t, writes, y.writes(place))
	for _, typ := range []ledger.Type{ledger.ChangeBegun, ledger.ChangeApplied, ledger.ChangeVerified} {
		require.Equal(t, 1, y.of(typ, c.ID), typ)
	}
	y.intact()
}

func TestHeldUntilTheClusterMayBeWritten(t *testing.T) {
	y := newYard(t)
	y.mode(fleet.PlanOnly)
	ref, out := y.granted(ask("h100", 16))
	res := y.apply(out.Changes[0])
	require.Equal(t, portal.ChangeHeld, res.State)
	require.Contains(t, res.Problem, "mode plan")
	require.NotNil(t, y.change(out.Changes[0]).Plan, "what would change is shown")
	require.Empty(t, y.live(place))
	y.apply(out.Changes[0])
	require.Equal(t, 1, y.of(ledger.ChangeHeld, out.Changes[0]), "once, however often it is looked at")

	y.mode(fleet.Enforce)
	require.Equal(t, portal.ChangePlanned, y.change(out.Changes[0]).State)
	_, err := y.PauseCluster(t.Context(), y.as("pia"), portal.PauseInput{ClusterID: "east", Paused: true, Reason: "maintenance"})
	require.NoError(t, err)
	require.Contains(t, y.apply(out.Changes[0]).Problem, "paused")
	_, err = y.PauseCluster(t.Context(), y.as("pia"), portal.PauseInput{ClusterID: "east", Paused: false})
	require.NoError(t, err)
	require.Equal(t, portal.ChangeVerified, y.apply(out.Changes[0]).State)
	require.Equal(t, 1, y.of(ledger.ChangeBegun, out.Changes[0]), "the plan of mode plan was none that was begun")
	require.Equal(t, request.Active, y.state(ref.Number))
}

func TestAClusterThatIsDownIsWaitedFor(t *testing.T) {
	y := newYard(t)
	_, out := y.granted(ask("h100", 16))
	y.down()
	for range 3 {
		res := y.apply(out.Changes[0])
		require.Equal(t, portal.ChangeWaiting, res.State)
		require.Positive(t, res.Again)
	}
	require.Equal(t, 1, y.of(ledger.ChangeWaiting, out.Changes[0]))
	ok, err := y.PollCluster(t.Context(), "east")
	require.NoError(t, err)
	require.False(t, ok)
	require.Equal(t, portal.ChangeWaiting, y.change(out.Changes[0]).State)

	y.sim.Intercept(nil)
	ok, err = y.PollCluster(t.Context(), "east")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, portal.ChangePlanned, y.change(out.Changes[0]).State, "the first good poll releases it")
	require.Equal(t, portal.ChangeVerified, y.apply(out.Changes[0]).State)
	require.Equal(t, "16", y.live(place))
}

func TestAnOlderChangeNeverLandsAfterANewerOne(t *testing.T) {
	y := newYard(t)
	first, older := y.granted(ask("h100", 16))
	second, newer := y.granted(ask("h100", 8))
	require.Equal(t, portal.ChangeVerified, y.apply(newer.Changes[0]).State)
	require.Equal(t, portal.ChangeSuperseded, y.apply(older.Changes[0]).State)
	require.Equal(t, "8", y.live(place))
	require.Equal(t, request.Superseded, y.state(first.Number))
	require.Equal(t, request.Active, y.state(second.Number))

	// Both at once, in any order: the fence lets one after the other.
	_, a := y.granted(ask("h100", 20))
	_, b := y.granted(ask("h100", 4))
	var both sync.WaitGroup
	for _, id := range []string{a.Changes[0], b.Changes[0], a.Changes[0], b.Changes[0]} {
		both.Go(func() {
			_, err := y.ApplyChange(t.Context(), id)
			require.NoError(t, err)
		})
	}
	both.Wait()
	require.Equal(t, "4", y.live(place))
	require.Equal(t, portal.ChangeVerified, y.change(b.Changes[0]).State)
	require.Equal(t, portal.ChangeSuperseded, y.change(a.Changes[0]).State)
}

// Two requests of one place for different pools: the newer change carries both, and both become active.
func TestANewerChangeCarriesTheOlderGrant(t *testing.T) {
	y := newYard(t)
	first, _ := y.granted(ask("h100", 16))
	second, out := y.granted(ask("a100", 8))
	require.Equal(t, portal.ChangeVerified, y.apply(out.Changes[0]).State)
	require.Equal(t, request.Active, y.state(first.Number))
	require.Equal(t, request.Active, y.state(second.Number))
	require.Equal(t, "16", y.live(place))
}

func TestAnotherBaseThanTheDeciderSawStops(t *testing.T) {
	y := newYard(t)
	_, out := y.granted(ask("h100", 8))
	y.apply(out.Changes[0])
	ref := y.submitted(quota(ask("h100", 16)))
	y.decide("ben", acknowledged(approve(ref, "team")))
	view, err := y.ViewDecision(t.Context(), y.as("cleo"), ref.Number, nil)
	require.NoError(t, err)
	require.NotEmpty(t, view.Base)
	in := acknowledged(approve(ref, "capacity"))
	in.Base = view.Base
	out = y.decide("cleo", in)
	edit(t, y.sim, place, "quartermaster", "10")
	res := y.apply(out.Changes[0])
	require.Equal(t, portal.ChangeStopped, res.State)
	require.Contains(t, res.Problem, "is 10 now; it was 8")
	require.Equal(t, "10", y.live(place))
	require.Equal(t, request.Applying, y.state(ref.Number))

	// Somebody looked and starts it again, from what is live now.
	_, err = y.RetryChange(t.Context(), y.as("pia"), portal.ChangeInput{ChangeID: out.Changes[0]})
	require.Equal(t, fault.Forbidden, fault.KindOf(err), "a platform admin approves nothing")
	_, err = y.RetryChange(t.Context(), y.as("cleo"), portal.ChangeInput{ChangeID: out.Changes[0], Reason: "the ten was a test"})
	require.NoError(t, err)
	require.Equal(t, portal.ChangeVerified, y.apply(out.Changes[0]).State)
	require.Equal(t, "16", y.live(place))
}

func edit(t *testing.T, c *sim.Cluster, queue, manager, nominal string) {
	t.Helper()
	require.NoError(t, c.Edit(fleet.ObjectRef{Kind: "ClusterQueue", Name: queue}, manager, map[string]*string{"h100 nvidia.com/gpu nominalQuota": &nominal}))
}

func theirs(manager string, limits ...fleet.Limit) sim.Queue {
	return sim.Queue{Name: "street-prod", Cohort: "vision", Parent: "east", Namespace: "street-prod", LocalQueue: "main", Manager: manager, Limits: limits}
}

func h100Limit(n int64) fleet.Limit {
	b := fleet.Count(0)
	return fleet.Limit{Pool: h100Key, Nominal: fleet.Count(n), Borrowing: &b}
}

func (y *yard) adopt() fleet.Binding {
	y.t.Helper()
	b, err := y.AdoptBinding(y.t.Context(), y.as("pia"), portal.AdoptInput{ClusterID: "east", Queue: "street-prod", ProjectID: "street", Environment: "production"})
	require.NoError(y.t, err)
	return b
}

func TestTakingOverIsDecidedOnRecord(t *testing.T) {
	y := newYard(t, theirs("kubectl-client-side-apply", h100Limit(8)))
	b := y.adopt()
	base, err := y.store.Baselines(t.Context(), b.ID)
	require.NoError(t, err)
	require.Equal(t, "8", base["h100"].Nominal.String())

	ref, out := y.granted(ask("h100", 12))
	id := out.Changes[0]
	res := y.apply(id)
	require.Equal(t, portal.ChangeStopped, res.State)
	require.Contains(t, res.Problem, "kubectl-client-side-apply")
	require.Equal(t, "8", y.live("street-prod"))

	in := portal.ChangeInput{ChangeID: id, Reason: "the manifest was removed from the repository"}
	_, err = y.TakeoverChange(t.Context(), y.as("ben"), in)
	require.Equal(t, fault.Forbidden, fault.KindOf(err))
	_, err = y.TakeoverChange(t.Context(), y.tired("cleo"), in)
	require.ErrorIs(t, err, portal.ErrStepUp)
	require.Equal(t, portal.ChangeStopped, y.change(id).State)
	_, err = y.TakeoverChange(t.Context(), y.as("cleo"), in)
	require.NoError(t, err)
	require.Equal(t, portal.ChangeVerified, y.apply(id).State)
	require.Equal(t, "12", y.live("street-prod"))
	require.Equal(t, request.Active, y.state(ref.Number))
	require.Equal(t, 2, y.of(ledger.ChangeTakeover, id), "a refusal and one that was done; a factor asked for is neither")
	_, err = y.TakeoverChange(t.Context(), y.as("cleo"), in)
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	y.intact()
}

func TestWhoApprovedMustStillHoldTheRole(t *testing.T) {
	y := newYard(t)
	_, out := y.granted(ask("h100", 16))
	cleo := y.people["cleo"]
	cleo.Groups = []string{"vision"}
	y.tx(func(ctx context.Context, tx portal.Tx) error {
		_, err := tx.UpsertPerson(ctx, cleo, nil)
		return err
	})
	res := y.apply(out.Changes[0])
	require.Equal(t, portal.ChangeStopped, res.State)
	require.Contains(t, res.Problem, "Cleo approved this and no longer holds")
	require.Empty(t, y.live(place))
}

// Somebody else writes between plan and apply: planned again, from what is there then.
func TestAStalePlanIsMadeAgain(t *testing.T) {
	y := newYard(t)
	_, out := y.granted(ask("h100", 8))
	y.apply(out.Changes[0])
	_, out = y.granted(ask("h100", 16))
	plans, applies := 0, 0
	y.sim.Intercept(func(_ context.Context, call string) error {
		switch call {
		case "plan":
			plans++
		case "apply":
			if applies++; applies == 1 {
				return fault.New(fault.Stale, "changed meanwhile")
			}
		}
		return nil
	})
	require.Equal(t, portal.ChangeVerified, y.apply(out.Changes[0]).State)
	require.Equal(t, 2, plans)
	require.Equal(t, 1, y.of(ledger.ChangeBegun, out.Changes[0]))
	require.Equal(t, "16", y.live(place))
}

// The connection breaks after some objects were written: what is left is written
// later, and the record shows one beginning with the values from before.
func TestAnApplyThatBreaksOffIsFinished(t *testing.T) {
	y := newYard(t)
	_, out := y.granted(ask("h100", 8))
	id := out.Changes[0]
	y.sim.AfterWrite(func(ref fleet.ObjectRef) error {
		if ref.Kind == "ClusterQueue" {
			return fault.New(fault.Unavailable, "The connection broke.")
		}
		return nil
	})
	require.Equal(t, portal.ChangeWaiting, y.apply(id).State)
	y.sim.AfterWrite(nil)
	_, err := y.PollCluster(t.Context(), "east")
	require.NoError(t, err)
	require.Equal(t, portal.ChangeVerified, y.apply(id).State)
	require.Equal(t, 1, y.of(ledger.ChangeBegun, id))
	require.Equal(t, 1, y.of(ledger.ChangeApplied, id))
	require.True(t, y.change(id).Plan.Objects[0].Create, "the first plan stands")
}

func TestWhatIsNotThereWhenReadBackStops(t *testing.T) {
	y := newYard(t)
	_, out := y.granted(ask("h100", 8))
	y.apply(out.Changes[0])
	ref, out := y.granted(ask("h100", 16))
	y.sim.Intercept(func(_ context.Context, call string) error {
		if call == "read back" {
			eight := "8"
			return y.sim.Edit(fleet.ObjectRef{Kind: "ClusterQueue", Name: place}, "quartermaster", map[string]*string{"h100 nvidia.com/gpu nominalQuota": &eight})
		}
		return nil
	})
	res := y.apply(out.Changes[0])
	require.Equal(t, portal.ChangeStopped, res.State)
	require.Contains(t, res.Problem, "is 8 instead of 16")
	require.Equal(t, request.Applying, y.state(ref.Number), "sent is not done")
}

// Lowered below what is in use: what runs keeps running, nothing new is admitted.
func TestLoweringEvictsNothing(t *testing.T) {
	y := newYard(t)
	_, out := y.granted(ask("h100", 16))
	y.apply(out.Changes[0])
	_, err := y.sim.Submit(place, "long", h100Key, 12, 24*time.Hour)
	require.NoError(t, err)
	_, err = y.PollCluster(t.Context(), "east")
	require.NoError(t, err)
	ref := y.submitted(quota(ask("h100", 4)))
	y.decide("ben", acknowledged(approve(ref, "team")))
	_, err = y.DecideRequest(t.Context(), y.as("cleo"), approve(ref, "capacity"))
	require.Equal(t, fault.Invalid, fault.KindOf(err), "needs an acknowledgement")
	out = y.decide("cleo", acknowledged(approve(ref, "capacity")))
	require.Equal(t, portal.ChangeVerified, y.apply(out.Changes[0]).State)
	require.Equal(t, "4", y.live(place))
	_, err = y.PollCluster(t.Context(), "east")
	require.NoError(t, err)
	u, err := y.store.Usage(t.Context(), portal.UsageQuery{ProjectID: "street", PoolID: "h100"})
	require.NoError(t, err)
	require.Equal(t, "12", u[0].InUse.String())
	require.Equal(t, "4", u[0].Nominal.String())
}

func acknowledged(in portal.DecideInput) portal.DecideInput {
	in.Acknowledged, in.Reason = true, "The run ends on Friday."
	return in
}

// C009: a freeze is done when read-back says Hold, and evicts nothing.
func TestAFreezeIsDoneWhenItHolds(t *testing.T) {
	y := newYard(t)
	_, out := y.granted(ask("h100", 16))
	y.apply(out.Changes[0])
	_, err := y.sim.Submit(place, "long", h100Key, 4, 24*time.Hour)
	require.NoError(t, err)
	ref := y.submitted(quota(ask("h100", 0)))
	y.decide("ben", acknowledged(approve(ref, "team")))
	out = y.decide("cleo", acknowledged(approve(ref, "capacity")))
	open := true
	y.sim.Intercept(func(_ context.Context, call string) error {
		if call == "read back" && open { // a queue that went on admitting
			none := "None"
			return y.sim.Edit(fleet.ObjectRef{Kind: "ClusterQueue", Name: place}, "quartermaster", map[string]*string{"stopPolicy": &none})
		}
		return nil
	})
	res := y.apply(out.Changes[0])
	require.Equal(t, portal.ChangeStopped, res.State)
	require.Contains(t, res.Problem, "stopPolicy")
	open = false
	_, err = y.RetryChange(t.Context(), y.as("cleo"), portal.ChangeInput{ChangeID: out.Changes[0]})
	require.NoError(t, err)
	require.Equal(t, portal.ChangeVerified, y.apply(out.Changes[0]).State)
	require.Equal(t, "Hold", y.sim.ObjectFields(fleet.ObjectRef{Kind: "ClusterQueue", Name: place})["stopPolicy"])
	o, err := y.sim.Observe(t.Context())
	require.NoError(t, err)
	require.Equal(t, fleet.Admitted, o.Workloads[0].State, "what runs stays")
}
