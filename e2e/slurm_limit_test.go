package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/browser"
	"quartermaster/e2e/site"
	"quartermaster/e2e/slurm"
)

const anyGPU = "any GPU · Batch"

// A real Slurm is connected, an account of its own adopted; a job over the granted 6 GPUs
// waits with AssocGrpGRES and the request page says so; once 8 are granted it runs, and the
// page says so; a limit changed by hand is seen. Nothing is simulated.
func TestSlurmHoldsAnAccountToWhatWasGranted(t *testing.T) {
	s := slurm.Start(t)
	s.Admin(t, "sacctmgr", "-i", "add", "account", "lab-a", "cluster="+slurm.Name)
	users := s.Submitters()
	for _, user := range users {
		s.AddUser(t, user, "lab-a")
	}
	b := testbed{site: site.New(t, "--poll", "1s", "--org", labOrganisation(t))}
	pia := b.connectSlurm(t, s)
	p := b.trio(t)
	enforce(p.cleo, "Batch")

	first := p.grantStreet(t, "6")
	require.Contains(t, s.Admin(t, "sacctmgr", "-nP", "show", "assoc", "where", "account=lab-a", "user=", "format=account,grptres"), "lab-a|gres/gpu=6")
	p.ana.Open(at(first))
	require.Regexp(t, `(?s)account lab-a.*gpu gres/gpu GrpTRES\s+unset\s+→\s+6\s+6`, p.ana.Text(), "object, field, old value, new value, read back")
	require.Contains(t, p.ana.Text(), "#SBATCH --account=lab-a")

	running := []int{s.Submit(t, users[0], "lab-a", "gpu:4"), s.Submit(t, users[0], "lab-a", "gpu:2")}
	over := s.Submit(t, users[len(users)-1], "lab-a", "gpu:2", "--job-name=over-the-limit")
	require.Eventually(t, func() bool { _, reason := s.Queue(t, over); return reason == "AssocGrpGRES" }, time.Minute, 100*time.Millisecond)
	p.ana.ReloadUntil("AssocGrpGRES: the account's GPU limit is in use")
	page := p.ana.ReloadUntilMatch(`asked\s+6\s*GPUs\s+granted\s+6\s*GPUs\s+enforced\s+6\s*GPUs\s+in use\s+6\s*GPUs`)
	require.Regexp(t, `over-the-limit\s+lab-a/gpu\s+by `+users[len(users)-1]+`\s+2\s*GPUs`, page)

	second := p.grantStreet(t, "8")
	require.Eventually(t, func() bool { state, _ := s.Queue(t, over); return state == "RUNNING" }, time.Minute, 100*time.Millisecond)
	p.ana.Open(at(second))
	p.ana.ReloadUntil("over-the-limit")
	require.Eventually(t, func() bool {
		p.ana.Open(at(second))
		return !strings.Contains(p.ana.Text(), "AssocGrpGRES")
	}, time.Minute, time.Second, "nothing waits any more")
	require.Regexp(t, `(?s)Running.*over-the-limit`, p.ana.Text())
	p.ana.ReloadUntilMatch(`enforced\s+8\s*GPUs\s+in use\s+8\s*GPUs`)

	// Somebody changes the limit by hand.
	s.Admin(t, "sacctmgr", "-i", "modify", "account", "lab-a", "set", "GrpTRES=gres/gpu=3")
	pia.Open("/clusters/batch")
	pia.ReloadUntil("differs from what is granted")
	s.Cancel(t, append(running, over)...)
	b.site.Intact(t)
}

// connectSlurm is what a platform admin does with a Slurm: test, connect, adopt the
// account that is there, then let the portal write.
func (b testbed) connectSlurm(t *testing.T, s *slurm.Slurm) *browser.Window {
	t.Helper()
	pia := as(t, b.site, "pia", browser.Wide)
	fill := func(token string) {
		pia.Fill("Name", "Batch")
		pia.Choose("Scheduler", "Slurm")
		pia.Fill("Server", s.Controller())
		pia.Fill("Token", token)
	}
	pia.Open("/clusters/connect")
	fill(s.Token(t, s.Portal(), -time.Hour))
	pia.Press("^Test connection$")
	pia.See("The token of Slurm user " + s.Portal() + " ended on")
	fill(s.Token(t, s.Portal(), time.Hour))
	pia.Press("^Test connection$")
	pia.See("answered in")
	for _, want := range []string{"Slurm 22.05", "gres/gpu:a100", "gres/gpu:h100", "any GPU", "account lab-a", "no limit"} {
		pia.See(want)
	}
	require.NotContains(t, pia.Text(), "Kueue")
	fill(s.Token(t, s.Portal(), time.Hour))
	toConfirm(pia, "^Connect cluster$")
	pia.Fill("Token", s.Token(t, s.Portal(), time.Hour))
	pia.Press("^Connect cluster$")
	pia.See("Batch is connected in mode observe")
	pia.ReloadUntil("account lab-a")
	pia.Follow("Adopt.*lab-a")
	pia.Choose("Project and environment", "Street Scenes · development")
	act(pia, "^Adopt lab-a$")
	pia.See("What it has now is the baseline")
	return pia
}

// grantStreet asks for a limit, has it approved, and waits until it is read back.
func (b trio) grantStreet(t *testing.T, amount string) int64 {
	t.Helper()
	request := ask{"Street Scenes · Vision", "development", "internal", "training", anyGPU, amount, hard, "Train the night-driving detector"}.submit(t, b.ana)
	approve(b.ben, request, "^Approve "+amount+" GPUs$")
	approve(b.cleo, request, "^Approve "+amount+" GPUs$")
	b.ana.Open(at(request))
	b.ana.ReloadUntil("Read back: Batch enforces what was granted.")
	return request
}
