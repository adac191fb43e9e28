package slurm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The harness itself: a job over the account's limit waits, and runs once it is raised.
func TestSlurmEnforcesAnAccountsLimit(t *testing.T) {
	s := Start(t)
	s.Admin(t, "sacctmgr", "-i", "add", "account", "lab-a", "cluster="+Name)
	user := s.Submitters()[0]
	s.AddUser(t, user, "lab-a")
	s.Admin(t, "sacctmgr", "-i", "modify", "account", "lab-a", "set", "GrpTRES=gres/gpu=2")
	first := s.Submit(t, user, "lab-a", "gpu:2")
	second := s.Submit(t, user, "lab-a", "gpu:2")
	until := func(job int, want string) {
		require.Eventually(t, func() bool {
			state, reason := s.Queue(t, job)
			return state == want || state+" "+reason == want
		}, time.Minute, 100*time.Millisecond)
	}
	until(first, "RUNNING")
	until(second, "PENDING AssocGrpGRES")
	s.Admin(t, "sacctmgr", "-i", "modify", "account", "lab-a", "set", "GrpTRES=gres/gpu=4")
	until(second, "RUNNING")
	s.Cancel(t, first, second)
}
