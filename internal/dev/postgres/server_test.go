package postgres_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/dev/postgres"
)

// TestMain lets the test binary be the parent that a test kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("POSTGRES_TEST_PARENT"); dir != "" {
		s, err := postgres.Start(context.Background(), postgres.Options{Dir: dir, Fast: true})
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println(s.PID)
		io.Copy(io.Discard, os.Stdin) // until killed, or the test ends
		s.Stop()
		os.Exit(0)
	}
	code := m.Run()
	if seed.dir != "" {
		os.RemoveAll(seed.dir)
	}
	os.Exit(code)
}

// seed is a directory after its first start, copied by the tests that need one.
var seed struct {
	once sync.Once
	dir  string
	err  error
}

// seeded returns an own directory whose server was started and stopped before.
func seeded(t *testing.T) string {
	t.Helper()
	seed.once.Do(func() {
		if seed.dir, seed.err = os.MkdirTemp("", "postgres-seed"); seed.err != nil {
			return
		}
		var s *postgres.Server
		if s, seed.err = postgres.Start(context.Background(), postgres.Options{Dir: seed.dir, Fast: true}); seed.err == nil {
			seed.err = s.Stop()
		}
	})
	require.NoError(t, seed.err)
	dir := filepath.Join(t.TempDir(), "pg")
	out, err := exec.Command("cp", "-Rp", seed.dir, dir).CombinedOutput()
	require.NoError(t, err, string(out))
	return dir
}

func start(t *testing.T, dir string) *postgres.Server {
	t.Helper()
	s, err := postgres.Start(t.Context(), postgres.Options{Dir: dir, Log: logTo{t}, Fast: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

type logTo struct{ t *testing.T }

func (l logTo) Write(b []byte) (int, error) {
	if l.t.Context().Err() == nil { // the server's last words come after the test
		l.t.Logf("%s", b)
	}
	return len(b), nil
}

func open(t *testing.T, s *postgres.Server) *sql.DB {
	t.Helper()
	db, err := sql.Open("postgres", s.URL("postgres"))
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func TestDataSurviveARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pg")
	first := start(t, dir)
	_, err := open(t, first).Exec(`CREATE TABLE kept AS SELECT 'Ångström' AS word`)
	require.NoError(t, err)
	require.NoError(t, first.Stop())
	require.NoError(t, first.Stop(), "stopping twice is harmless")
	requireGone(t, first.PID)

	second := start(t, dir)
	var lower, zone, listen string
	require.NoError(t, open(t, second).QueryRow(`SELECT lower(word), current_setting('TimeZone'), current_setting('listen_addresses') FROM kept`).Scan(&lower, &zone, &listen))
	require.Equal(t, "ångström", lower)
	require.Equal(t, "UTC", zone)
	require.Equal(t, "127.0.0.1", listen)

	info, err := os.Stat(filepath.Join(dir, "superuser.password"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestThePasswordIsNeeded(t *testing.T) {
	s := start(t, seeded(t))
	for _, address := range []string{
		strings.Replace(s.URL("postgres"), "postgres:", "postgres:wrong", 2),
		fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.Port),
	} {
		db, err := sql.Open("postgres", address)
		require.NoError(t, err)
		require.Error(t, db.Ping())
		require.NoError(t, db.Close())
	}
}

// The way to the data is closed to whoever the server runs as: a clone in root's
// home directory, or mktemp -d.
func TestStartsBelowAPrivateDirectory(t *testing.T) {
	private := filepath.Join(t.TempDir(), "private")
	require.NoError(t, os.Mkdir(private, 0o700))
	s := start(t, filepath.Join(private, "pg"))
	require.NoError(t, open(t, s).Ping())
	require.NoError(t, s.Stop())
	info, err := os.Stat(private)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "nothing was opened to others")
	require.NoError(t, open(t, start(t, filepath.Join(private, "pg"))).Ping())
}

func TestKilledParentLeavesNoServerBehind(t *testing.T) {
	dir := seeded(t)
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "POSTGRES_TEST_PARENT="+dir)
	stdin, err := parent.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err, line)

	_, err = postgres.Start(t.Context(), postgres.Options{Dir: dir, Fast: true})
	var running *postgres.RunningError
	require.ErrorAs(t, err, &running, "another process runs a server here")
	require.Equal(t, parent.Process.Pid, running.PID)

	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())

	// At once, while the orphan may still be shutting down.
	s := start(t, dir)
	require.NotEqual(t, pid, s.PID)
	require.NoError(t, open(t, s).Ping())
	requireGone(t, pid)
}

func TestAPidFileLeftByAKilledServerIsNoObstacle(t *testing.T) {
	dir := seeded(t)
	// The number is in use again, by a program that is no PostgreSQL: this one.
	left := fmt.Sprintf("%d\n/gone\n0\n5432\n/tmp\n127.0.0.1\n", os.Getpid())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data", "postmaster.pid"), []byte(left), 0o600))
	require.NoError(t, open(t, start(t, dir)).Ping())
}

func TestASecondStartOnOneDirectoryIsRefused(t *testing.T) {
	dir := seeded(t)
	s := start(t, dir)
	_, err := postgres.Start(t.Context(), postgres.Options{Dir: dir})
	var running *postgres.RunningError
	require.ErrorAs(t, err, &running)
	require.Equal(t, os.Getpid(), running.PID)
	require.NoError(t, open(t, s).Ping(), "the first goes on")
}

func TestAnotherMajorVersionIsRefusedAndNothingTouched(t *testing.T) {
	dir := seeded(t)
	version := filepath.Join(dir, "data", "PG_VERSION")
	require.NoError(t, os.WriteFile(version, []byte("9\n"), 0o600))
	before := listing(t, dir)

	_, err := postgres.Start(t.Context(), postgres.Options{Dir: dir})
	var wrong *postgres.VersionError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "9", wrong.Made)
	require.ErrorContains(t, err, "nothing was changed")
	require.Equal(t, before, listing(t, dir))
}

func TestMissingServerNamesWhatToInstall(t *testing.T) {
	t.Setenv("PG_BIN", t.TempDir())
	_, err := postgres.Start(t.Context(), postgres.Options{Dir: t.TempDir()})
	var missing *postgres.MissingError
	require.ErrorAs(t, err, &missing)
	require.ErrorContains(t, err, "install postgresql")
}

func TestDataWithoutTheirPasswordAreKept(t *testing.T) {
	dir := seeded(t)
	require.NoError(t, os.Remove(filepath.Join(dir, "superuser.password")))
	before := listing(t, dir)
	_, err := postgres.Start(t.Context(), postgres.Options{Dir: dir})
	require.ErrorContains(t, err, "put it back")
	require.Equal(t, before, listing(t, dir))
}

// A start that was cut short inside initdb leaves a half-made directory.
func TestAFirstStartCutShortIsDoneAgain(t *testing.T) {
	dir := t.TempDir()
	half := filepath.Join(dir, "data.new")
	require.NoError(t, os.Mkdir(half, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(half, "PG_VERSION"), []byte("15\n"), 0o600))
	require.NoError(t, open(t, start(t, dir)).Ping())
	require.NoDirExists(t, half)
	require.NoFileExists(t, filepath.Join(dir, "initdb.password"))
}

func TestAForeignDirectoryIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		return // only root can make a directory that belongs to somebody else
	}
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "data"), 0o700)) // root's
	require.NoError(t, os.WriteFile(filepath.Join(dir, "superuser.password"), []byte("x\n"), 0o600))
	_, err := postgres.Start(t.Context(), postgres.Options{Dir: dir})
	require.ErrorContains(t, err, "belongs to user id 0")
}

func TestDoneTellsOfAServerThatEnded(t *testing.T) {
	s := start(t, seeded(t))
	require.NoError(t, syscall.Kill(s.PID, syscall.SIGINT))
	select {
	case <-s.Done():
	case <-time.After(time.Minute):
		t.Fatal("the server goes on after SIGINT")
	}
}

// requireGone waits until a process has ended.
func requireGone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return os.IsNotExist(err) || strings.Contains(string(b), ") Z ") || syscall.Kill(pid, 0) == syscall.ESRCH
	}, time.Minute, 10*time.Millisecond, "postgres %d is still there", pid)
}

// listing is every file below dir with its size and times, but for the lock.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, filepath.Walk(dir, func(p string, info os.FileInfo, err error) error {
		if err == nil && filepath.Base(p) != "lock" && p != dir {
			fmt.Fprintln(&out, p, info.Mode(), info.Size(), info.ModTime())
		}
		return err
	}))
	return out.String()
}
