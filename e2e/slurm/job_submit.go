package slurm

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Admin runs a command as Slurm's own user, as a site's administrator would by hand.
func (s *Slurm) Admin(t testing.TB, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin) // also serves a test's clean-up
	defer cancel()
	out, err := s.command(ctx, s.users.slurm, nil, program, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// AddUser lets a submitter use an account.
func (s *Slurm) AddUser(t testing.TB, user, account string) {
	t.Helper()
	s.Admin(t, "sacctmgr", "-i", "add", "user", user, "account="+account)
}

// Submit sends a job that sleeps, as user, and returns its number.
func (s *Slurm) Submit(t testing.TB, user, account, gres string, more ...string) int {
	t.Helper()
	args := append([]string{"--parsable", "--account=" + account, "--gres=" + gres, "--output=/dev/null", "--time=10"}, more...)
	out, err := s.command(t.Context(), s.submitter(t, user), []string{"HOME=" + s.path("jobs"), "USER=" + user}, "sbatch", append(args, "--wrap=exec sleep 600")...)
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		t.Fatalf("sbatch says %q", out)
	}
	return id
}

func (s *Slurm) submitter(t testing.TB, name string) account {
	t.Helper()
	for _, a := range s.users.submitters {
		if a.name == name {
			return a
		}
	}
	t.Fatalf("no submitter %s", name)
	return account{}
}

// Queue is what squeue says of a job: its state and reason.
func (s *Slurm) Queue(t testing.TB, job int) (state, reason string) {
	t.Helper()
	out := s.Admin(t, "squeue", "-h", "-t", "all", "-j", strconv.Itoa(job), "-o", "%T|%r")
	state, reason, _ = strings.Cut(strings.TrimSpace(out), "|")
	return state, reason
}

// Cancel ends jobs.
func (s *Slurm) Cancel(t testing.TB, jobs ...int) {
	t.Helper()
	for _, job := range jobs {
		s.Admin(t, "scancel", strconv.Itoa(job))
	}
}

// cancelAll ends every job and waits until none runs.
func (s *Slurm) cancelAll() {
	p := s.running["slurmctld"]
	if p == nil {
		return
	}
	select {
	case <-p.exited:
		return
	default:
	}
	if s.admin("scancel", "--state=PENDING") != nil || s.admin("scancel", "--state=RUNNING") != nil {
		return
	}
	_ = s.waitFor("slurmctld", func(ctx context.Context) error {
		out, err := s.command(ctx, s.users.slurm, nil, "squeue", "-h")
		if err == nil && out != "" {
			err = fmt.Errorf("jobs are left: %s", out)
		}
		return err
	})
}

// endSteps kills what is left of jobs: they belong to no daemon once slurmd is gone,
// and are known by the directory they run in, which is this installation's.
func (s *Slurm) endSteps() {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		where, err := os.Readlink(filepath.Join(p, "cwd"))
		if pid, bad := strconv.Atoi(filepath.Base(p)); err == nil && bad == nil && strings.HasPrefix(where, s.dir+"/") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// Token is a JWT for a Slurm user, as scontrol token makes it.
func (s *Slurm) Token(t testing.TB, user string, lifetime time.Duration) string {
	t.Helper()
	token, err := s.IssueToken(user, lifetime)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// IssueToken is Token for a TestMain.
func (s *Slurm) IssueToken(user string, lifetime time.Duration) (string, error) {
	key, err := os.ReadFile(s.path("etc", "jwt.key"))
	if err != nil {
		return "", err
	}
	now := time.Now()
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		encode(fmt.Appendf(nil, `{"exp":%d,"iat":%d,"sun":%q}`, now.Add(lifetime).Unix(), now.Unix(), user))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return text + "." + encode(mac.Sum(nil)), nil
}
