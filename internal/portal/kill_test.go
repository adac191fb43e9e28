package portal_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"quartermaster/db"
	"quartermaster/db/dbtest"
	"quartermaster/internal/dev/sim"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/internal/soak"
)

// The kill tests run the last decision and the push that follows in a process of
// their own, which ends itself with SIGKILL at a named point: no deferred call, no
// rollback, no goodbye to the database or the cluster. It is run again without, and must end where an undisturbed run ends.

// childJob is what the process is told to do.
type childJob struct {
	Database string
	Signer   string // address of the signer
	Key      string // of the log, private
	Public   string
	SimFile  string
	Number   int64
	Digest   string
	Now      time.Time
	KillAt   string
	Roll     bool // roll up usage instead
}

const childVar = "QM_TEST_CHILD"

func TestMain(m *testing.M) {
	if raw := os.Getenv(childVar); raw != "" {
		if err := runChild([]byte(raw)); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func runChild(raw []byte) error {
	var job childJob
	if err := json.Unmarshal(raw, &job); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, err := db.Open(ctx, job.Database, db.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	kill := func(point string) {
		if point == job.KillAt {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // nothing more happens until the signal arrives
		}
	}
	now := func() time.Time { return job.Now }
	remote, err := sim.Open(sim.Config{ID: "east", Idle: true, Now: now, File: job.SimFile, Pools: yardPools()})
	if err != nil {
		return err
	}
	remote.AfterWrite(func(ref fleet.ObjectRef) error { kill("written " + ref.Kind); return nil })
	p := &portal.Portal{Store: store, Now: now, NewID: uuid.NewString, BaseURL: "https://qm.example.org", Log: slog.New(slog.DiscardHandler), Reach: kill,
		Dial: func(context.Context, string) (fleet.Cluster, error) { return remote, nil }}
	if job.Roll {
		_, err := p.RollUsage(ctx)
		return err
	}
	if err := job.keepRecord(ctx, p); err != nil {
		return err
	}
	cleo, err := store.PersonBySubject(ctx, testIssuer, "cleo")
	if err != nil {
		return err
	}
	actor := portal.Actor{Person: cleo, Via: "web", AMR: []string{"pwd", "otp"}, SessionID: "s-cleo", AuthTime: job.Now.Add(-time.Hour)}
	in := acknowledged(approve(portal.RequestRef{Number: job.Number, Digest: job.Digest}, "capacity"))
	in.Key = "the one form"
	out, err := proven(ctx, p, actor, func() (portal.DecideResult, error) { return p.DecideRequest(ctx, actor, in) })
	if err != nil {
		return err
	}
	for _, id := range out.Changes {
		if _, err := p.ApplyChange(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// keepRecord lets p sequence and sign whenever something waits.
func (job childJob) keepRecord(ctx context.Context, p *portal.Portal) error {
	store, err := db.OpenSign(ctx, job.Signer, db.Options{})
	if err != nil {
		return err
	}
	key, err := note.NewSigner(job.Key)
	if err != nil {
		return err
	}
	if p.Trusted, _, err = ledger.Trust(job.Public); err != nil {
		return err
	}
	sequencer, signer := p.NewSequencer(), p.NewSigner(store, key, p.Trusted)
	p.Include = func(ctx context.Context) error {
		if _, err := sequencer.Run(ctx, true); err != nil {
			return err
		}
		_, err := signer.Sign(ctx)
		return err
	}
	return nil
}

// child runs the job and reports whether it was killed.
func child(t *testing.T, job childJob) (killed bool) {
	t.Helper()
	raw, err := json.Marshal(job)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+string(raw))
	text, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok && status.Signaled() && status.Signal() == syscall.SIGKILL, "the process failed by itself: %v\n%s", err, text)
	return true
}

var killPoints = []string{
	"decision.commit.before", "decision.commit.after", "change.planned.before", "change.planned.after",
	"written Namespace", "written ClusterQueue", "written LocalQueue", "written ResourceQuota",
	"record.sequenced.before", "record.sequenced.after", "record.signed.before", "record.signed.after",
	"change.applied.before", "change.applied.after", "change.read", "change.verified.before", "change.verified.after",
}

func TestKilledAnywhereItEndsTheSame(t *testing.T) {
	for range soak.Count(1, 10) {
		for _, point := range killPoints {
			t.Run(point, func(t *testing.T) { killAt(t, point) })
		}
	}
}

func killAt(t *testing.T, point string) {
	d := newDesk(t)
	d.Log = slog.New(slog.DiscardHandler)
	y := &yard{desk: d}
	y.mode(fleet.PlanOnly, fleet.Enforce)
	ref := d.submitted(quota(ask("h100", 16)))
	d.decide("ben", acknowledged(approve(ref, "team")))
	job := childJob{Database: dbtest.AppURL(t, d.owner), Signer: dbtest.SignerURL(t, d.owner), Key: d.record.Private, Public: d.record.Public, SimFile: filepath.Join(t.TempDir(), "east.json"), Number: ref.Number, Digest: ref.Digest, Now: d.clock(), KillAt: point}

	require.True(t, child(t, job), "the process reaches %s", point)
	decisions, entries := len(d.detail(ref.Number).Decisions), len(d.entries(ref.Number, ledger.RequestDecided, ledger.Done))
	require.Equal(t, decisions, entries, "no decision without its entry, no entry without its decision")
	if strings.HasPrefix(point, "decision.commit.before") {
		require.Equal(t, 1, decisions)
	} else {
		require.Equal(t, 2, decisions)
	}
	d.intact()

	job.KillAt = ""
	for range 2 { // the second time there is nothing left to do
		require.False(t, child(t, job))
	}
	v := d.detail(ref.Number)
	require.Equal(t, request.Active, v.Request.State)
	require.Len(t, v.Decisions, 2)
	require.Len(t, v.Changes, 1)
	require.Equal(t, portal.ChangeVerified, v.Changes[0].State)
	for _, typ := range []ledger.Type{ledger.GrantMade, ledger.BindingMade, ledger.ChangePlanned, ledger.ChangeBegun, ledger.ChangeApplied, ledger.ChangeVerified} {
		require.Len(t, d.entries(ref.Number, typ, ledger.Done), 1, typ)
	}
	d.intact()

	remote, err := sim.Open(sim.Config{ID: "east", Idle: true, Now: d.clock, File: job.SimFile, Pools: yardPools()})
	require.NoError(t, err)
	queue := fleet.ObjectRef{Kind: "ClusterQueue", Name: place}
	require.Equal(t, "16", remote.ObjectFields(queue)["h100 nvidia.com/gpu nominalQuota"])
	require.Equal(t, 2, remote.Writes(queue), "its shape once, its limits once")
	require.Equal(t, 1, remote.Writes(fleet.ObjectRef{Kind: "Namespace", Name: place}))
	require.Equal(t, 1, remote.Writes(fleet.ObjectRef{Kind: "LocalQueue", Namespace: place, Name: "default"}))
}

// A tick that dies before its commit has done nothing, one that dies after it everything.
func TestATickDoesAllOrNothing(t *testing.T) {
	y := newYard(t)
	ref, out := y.granted(during(ask("h100", 16), nil, after(time.Hour)))
	y.apply(out.Changes[0])
	y.pass(2 * time.Hour)
	broken := fault.New(fault.Unavailable, "The database went away.")
	y.Reach = func(point string) {
		if point == "grants.ticked.before" {
			panic(broken)
		}
	}
	require.PanicsWithValue(t, broken, func() { y.TickGrants(t.Context()) })
	y.Reach = nil
	require.Empty(t, y.entries(ref.Number, ledger.GrantEnded, ledger.Done))
	require.Equal(t, 1, y.tick())
	require.Len(t, y.entries(ref.Number, ledger.GrantEnded, ledger.Done), 1)
}
