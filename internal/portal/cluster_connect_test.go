package portal_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/work"
)

const secretToken = "eyJhbGciOiJSUzI1NiJ9.payload.signature"

func (y *yard) connectable() {
	y.Probe = func(_ context.Context, c portal.Connection) (fleet.Cluster, error) {
		require.Equal(y.t, secretToken, c.Token)
		return y.sim, nil
	}
	y.Seal = func(plain []byte, context string) ([]byte, error) {
		return []byte("sealed for " + context + ": " + strings.Repeat("*", len(plain))), nil
	}
}

func connection() portal.ConnectInput {
	return portal.ConnectInput{Name: "West 1", Server: "https://10.0.0.1:6443", Token: secretToken}
}

func TestAConnectedClusterIsReadFirst(t *testing.T) {
	y := newYard(t)
	y.connectable()
	tested, err := y.TestConnection(t.Context(), y.as("pia"), connection())
	require.NoError(t, err)
	require.Len(t, tested.Discovery.Pools, 3)
	_, err = y.store.Cluster(t.Context(), "west-1")
	require.Equal(t, fault.NotFound, fault.KindOf(err), "a test keeps nothing")

	_, err = y.ConnectCluster(t.Context(), y.tired("pia"), connection())
	require.ErrorIs(t, err, portal.ErrStepUp)
	for _, who := range []string{"ana", "ben", "cleo", "otto"} {
		_, err = y.ConnectCluster(t.Context(), y.as(who), connection())
		require.Equal(t, fault.Forbidden, fault.KindOf(err), who)
	}
	in := connection()
	in.Key = "form"
	for range 2 { // a second click
		tested, err = y.ConnectCluster(t.Context(), y.as("pia"), in)
		require.NoError(t, err)
	}
	c, err := y.store.Cluster(t.Context(), "west-1")
	require.NoError(t, err)
	require.Equal(t, fleet.Observe, c.Mode)
	require.True(t, c.HasToken)
	pools, err := y.store.Pools(t.Context())
	require.NoError(t, err)
	require.Len(t, pools, 5)

	// The token is nowhere but in the sealed column.
	for row, err := range y.store.StreamEntries(t.Context(), portal.EntryQuery{}) {
		require.NoError(t, err)
		require.NotContains(t, string(row.Canonical), secretToken)
		text, err := json.Marshal(row.Openings)
		require.NoError(t, err)
		require.NotContains(t, string(text), secretToken)
	}
	require.Equal(t, 1, y.of(ledger.ClusterConnected, "west-1"))
	sealed, err := y.store.ClusterToken(t.Context(), "west-1")
	require.NoError(t, err)
	require.Equal(t, "sealed for west-1: "+strings.Repeat("*", len(secretToken)), string(sealed))
}

func TestAConnectionIsAddressCertificatesAndToken(t *testing.T) {
	y := newYard(t)
	y.connectable()
	for field, spoil := range map[string][]func(*portal.ConnectInput){
		"server": {
			func(in *portal.ConnectInput) { in.Server = "http://10.0.0.1:6443" },
			func(in *portal.ConnectInput) { in.Server = "file:///etc/passwd" },
			func(in *portal.ConnectInput) { in.Server = "https://admin:pw@10.0.0.1" },
			func(in *portal.ConnectInput) { in.Server = "10.0.0.1:6443" },
			func(in *portal.ConnectInput) { in.Server = "https://10.0.0.1/?x=1" },
		},
		"ca": {
			func(in *portal.ConnectInput) { in.CA = "/etc/ssl/ca.pem" },
			func(in *portal.ConnectInput) {
				in.CA = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"
			},
		},
		"token": {
			func(in *portal.ConnectInput) { in.Token = "" },
			func(in *portal.ConnectInput) { in.Token = "two\nlines" },
		},
		"name": {
			func(in *portal.ConnectInput) { in.Name = "" },
			func(in *portal.ConnectInput) { in.Name = strings.Repeat("n", 61) },
		},
	} {
		for _, f := range spoil {
			in := connection()
			f(&in)
			_, err := y.ConnectCluster(t.Context(), y.as("pia"), in)
			require.Equal(t, fault.Invalid, fault.KindOf(err), "%s: %+v", field, in)
			require.Equal(t, field, fault.As(err).Fields[0].Name)
		}
	}
}

func TestModesGoStepByStepOnRecord(t *testing.T) {
	y := newYard(t)
	y.mode(fleet.PlanOnly, fleet.Observe)
	_, err := y.ChangeClusterMode(t.Context(), y.as("cleo"), portal.ModeInput{ClusterID: "east", Mode: fleet.Enforce})
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	_, err = y.ChangeClusterMode(t.Context(), y.as("pia"), portal.ModeInput{ClusterID: "east", Mode: fleet.PlanOnly})
	require.NoError(t, err, "to write less, or to look, is open to platform admins")
	_, err = y.ChangeClusterMode(t.Context(), y.as("pia"), portal.ModeInput{ClusterID: "east", Mode: fleet.Enforce})
	require.Equal(t, fault.Forbidden, fault.KindOf(err), "who connects a cluster does not decide that it is enforced")
	_, err = y.Portal.ChangeClusterMode(t.Context(), y.tired("cleo"), portal.ModeInput{ClusterID: "east", Mode: fleet.Enforce})
	require.ErrorIs(t, err, portal.ErrStepUp)
	y.mode(fleet.Enforce)
	for _, who := range []string{"ana", "ben", "otto"} {
		_, err = y.ChangeClusterMode(t.Context(), y.as(who), portal.ModeInput{ClusterID: "east", Mode: fleet.PlanOnly})
		require.Equal(t, fault.Forbidden, fault.KindOf(err), who)
		_, err = y.PauseCluster(t.Context(), y.as(who), portal.PauseInput{ClusterID: "east", Paused: true})
		require.Equal(t, fault.Forbidden, fault.KindOf(err), who)
	}
	v, err := y.ViewCluster(t.Context(), y.as("otto"), "east")
	require.NoError(t, err)
	require.False(t, v.MayManage)
	_, err = y.ViewCluster(t.Context(), y.as("ana"), "east")
	require.Equal(t, fault.Forbidden, fault.KindOf(err))
}

func TestAnAdoptedQueueKeepsWhatItHas(t *testing.T) {
	l40s := fleet.Limit{Pool: fleet.PoolKey{Flavor: "l40s", Resource: "nvidia.com/gpu"}, Nominal: fleet.Count(3)}
	cpu := fleet.Limit{Pool: fleet.PoolKey{Flavor: "h100", Resource: "cpu"}, Nominal: fleet.Count(64)}
	y := newYard(t, theirs("quartermaster", h100Limit(8), l40s, cpu))
	b := y.adopt()
	require.True(t, b.Adopted)
	require.Equal(t, "street-prod", b.Namespace)
	d, err := y.DesiredFor(t.Context(), y.store, b.ID, y.clock())
	require.NoError(t, err)
	require.Len(t, d.Limits, 2, "the flavor that nobody knew became a pool; cpu is none")
	plan, err := y.sim.Plan(t.Context(), d)
	require.NoError(t, err)
	require.False(t, plan.Changed(), "adopting changes nothing")

	in := portal.AdoptInput{ClusterID: "east", Queue: "street-prod", ProjectID: "street", Environment: "development"}
	_, err = y.AdoptBinding(t.Context(), y.as("pia"), in)
	require.Equal(t, fault.Conflict, fault.KindOf(err), "one queue, one binding")
	in.Queue = "nowhere"
	_, err = y.AdoptBinding(t.Context(), y.as("pia"), in)
	require.Equal(t, fault.Invalid, fault.KindOf(err))

	ref, out := y.granted(ask("h100", 12))
	require.Equal(t, portal.ChangeVerified, y.apply(out.Changes[0]).State)
	fields := y.sim.ObjectFields(fleet.ObjectRef{Kind: "ClusterQueue", Name: "street-prod"})
	require.Equal(t, []string{"12", "3", "64"}, []string{fields["h100 nvidia.com/gpu nominalQuota"], fields["l40s nvidia.com/gpu nominalQuota"], fields["h100 cpu nominalQuota"]})
	v, err := y.ViewProject(t.Context(), y.as("ana"), "street", portal.Day)
	require.NoError(t, err)
	require.NotEmpty(t, v.Row.Lines)
	require.Equal(t, ref.Number, v.Requests[0].Number)
	_, err = y.ViewProject(t.Context(), y.as("tom"), "street", portal.Day)
	require.Equal(t, fault.NotFound, fault.KindOf(err), "another team's project is not there")
}

// C086: asking twice asks twice; only an unfinished one stands for both.
func TestAskingAClusterAgainRunsAgain(t *testing.T) {
	y := newYard(t)
	jobs := func() (n int) {
		require.NoError(t, y.store.DB().Get(&n, `SELECT count(*) FROM river_job WHERE kind = $1 AND args->>'slot' IS NULL`, work.UsagePoll{}.Kind()))
		return n
	}
	before := jobs()
	for range 2 {
		_, err := y.TestCluster(t.Context(), y.as("pia"), "east")
		require.NoError(t, err)
	}
	require.Equal(t, before+1, jobs(), "one that waits is enough")
	_, err := y.store.DB().Exec(`UPDATE river_job SET state = 'completed', finalized_at = now()`)
	require.NoError(t, err)
	_, err = y.TestCluster(t.Context(), y.as("pia"), "east")
	require.NoError(t, err)
	require.Equal(t, before+2, jobs(), "a finished one stands in nobody's way")
}
