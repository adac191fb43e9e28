package finding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/finding"
	"quartermaster/internal/fleet"
)

var (
	noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	gpu  = fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}
)

func q(s string) fleet.Quantity { return fleet.MustQuantity(s) }
func p(s string) *fleet.Quantity {
	v := q(s)
	return &v
}

func place() finding.Place {
	return finding.Place{Written: true, Desired: fleet.Desired{
		Binding: fleet.Binding{ID: "b", Namespace: "ns", LocalQueue: "main", ClusterQueue: "cq", Cohort: "team"},
		Limits:  []fleet.Limit{{Pool: gpu, Nominal: q("12"), Borrowing: p("3Gi"), Lending: p("0.5")}},
	}}
}

func queue() fleet.Queue {
	selector := fleet.NamespaceSelector("ns")
	return fleet.Queue{Name: "cq", Cohort: "team", StopPolicy: "None", LocalQueues: []string{"ns/main"}, Managers: []string{fleet.Manager}, Selector: &selector,
		Flavors: []fleet.FlavorUse{{Pool: gpu, Nominal: fleet.Known(q("12000m")), Borrowing: p("3072Mi"), Lending: p("500m")}}}
}

func compare(pl finding.Place, queues ...fleet.Queue) *finding.Comparison {
	return finding.Compare(fleet.Kubernetes, []finding.Place{pl}, fleet.Observation{QueuesKnown: true, QuotasKnown: true, LooseKnown: true, Queues: queues})
}

// C044, C045, C018: notation is no drift.
func TestEqualAmountsAreNoDriftHoweverTheyAreWritten(t *testing.T) {
	require.Empty(t, compare(place(), queue()).Seen)
}

func TestEachDifferenceIsSeenOnce(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*fleet.Queue)
		field    string
		live     string
		severity finding.Severity
	}{
		"more":     {func(x *fleet.Queue) { x.Flavors[0].Nominal = fleet.Known(q("13")) }, "h100 nvidia.com/gpu nominalQuota", "13", finding.High},
		"less":     {func(x *fleet.Queue) { x.Flavors[0].Nominal = fleet.Known(q("1")) }, "h100 nvidia.com/gpu nominalQuota", "1", finding.Medium},
		"no limit": {func(x *fleet.Queue) { x.Flavors[0].Borrowing = nil }, "h100 nvidia.com/gpu borrowingLimit", "", finding.High},
		"lending":  {func(x *fleet.Queue) { x.Flavors[0].Lending = nil }, "h100 nvidia.com/gpu lendingLimit", "", finding.Medium},
		"flavor":   {func(x *fleet.Queue) { x.Flavors = nil }, "h100 nvidia.com/gpu nominalQuota", "", finding.Medium},
		"held":     {func(x *fleet.Queue) { x.StopPolicy = "Hold" }, finding.FieldStop, "Hold", finding.Medium},
		"cohort":   {func(x *fleet.Queue) { x.Cohort = "other" }, finding.FieldCohort, "other", finding.Medium},
		"selector": {func(x *fleet.Queue) { all := "every namespace"; x.Selector = &all }, finding.FieldSelector, "every namespace", finding.High},
		"target":   {func(x *fleet.Queue) { x.LocalQueues = nil }, finding.FieldTarget, "", finding.High},
		"manager":  {func(x *fleet.Queue) { x.Managers = []string{"kubectl-edit"} }, finding.FieldManager, "kubectl-edit", finding.Low},
	} {
		x := queue()
		c.change(&x)
		seen := compare(place(), x).Seen
		require.Len(t, seen, 1, name)
		require.Equal(t, c.field, seen[0].Field, name)
		require.Equal(t, c.severity, seen[0].Severity, name)
		if c.live == "" {
			require.Nil(t, seen[0].Live, name)
		} else {
			require.Equal(t, c.live, *seen[0].Live, name)
		}
	}
	gone := compare(place()).Seen
	require.Equal(t, finding.FieldExists, gone[0].Field)
}

func TestUnknownAndSettlingAreNeitherSeenNorOver(t *testing.T) {
	x := queue()
	x.Flavors[0].Nominal = fleet.Unknown
	c := compare(place(), x)
	require.Empty(t, c.Seen)
	open := finding.Finding{Seen: finding.Seen{Key: finding.Key{Object: fleet.ObjectRef{Kind: "ClusterQueue", Name: "cq"}, Field: "h100 nvidia.com/gpu nominalQuota"}, Kind: finding.Drift, BindingID: "b"}}
	require.False(t, c.Judged(open))
	settling := place()
	settling.Settling = true
	c = compare(settling)
	require.Empty(t, c.Seen)
	require.False(t, c.Judged(open))
	require.True(t, compare(place(), queue()).Judged(open))
	blind := finding.Compare(fleet.Kubernetes, []finding.Place{place()}, fleet.Observation{})
	require.Empty(t, blind.Seen)
	require.False(t, blind.Judged(open))
}

// An account has one number; no limit there is more than any.
func TestAnAccountsOneNumber(t *testing.T) {
	pl := finding.Place{Desired: fleet.Desired{Binding: fleet.Binding{ID: "b", Account: "vision"}, Limits: []fleet.Limit{{Pool: fleet.PoolKey{Flavor: "gpu", Resource: "gres/gpu"}, Nominal: q("6"), Borrowing: &fleet.Quantity{}}}}}
	x := fleet.Queue{Name: "vision", Flavors: []fleet.FlavorUse{{Pool: pl.Desired.Limits[0].Pool, Nominal: fleet.Known(q("0"))}}}
	o := fleet.Observation{QueuesKnown: true, Queues: []fleet.Queue{x}}
	seen := finding.Compare(fleet.Slurm, []finding.Place{pl}, o).Seen
	require.Len(t, seen, 1)
	require.Equal(t, "account vision", seen[0].Object.String())
	require.Nil(t, seen[0].Live, "no limit")
	require.Equal(t, finding.High, seen[0].Severity)
	o.Queues[0].Flavors[0].Nominal, o.Queues[0].Flavors[0].Borrowing = fleet.Known(q("6")), &fleet.Quantity{}
	require.Empty(t, finding.Compare(fleet.Slurm, []finding.Place{pl}, o).Seen)
}

func TestAFindingComesGoesAndComesBackAsTheSame(t *testing.T) {
	s := compare(place()).Seen[0]
	f := finding.New("f", "east", "", s, noon)
	f, event := f.See(s, noon.Add(time.Minute))
	require.Equal(t, finding.None, event)
	require.Equal(t, noon, f.Since)
	f, event = f.Miss(noon.Add(2*time.Minute), false)
	require.Equal(t, finding.ResolvedNow, event)
	require.Equal(t, finding.Gone, f.How)
	f, event = f.See(s, noon.Add(3*time.Minute))
	require.Equal(t, finding.ReopenedNow, event)
	require.Equal(t, 1, f.Reopened)
	f, _ = f.Miss(noon.Add(4*time.Minute), false)
	require.False(t, f.Continues(noon.Add(48*time.Hour)))
}
