package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// binaries is one installed PostgreSQL server.
type binaries struct {
	dir     string
	version string // "15.14"
}

func (b binaries) path(name string) string { return filepath.Join(b.dir, name) }

func (b binaries) major() string { return major(b.version) }

// major is what PG_VERSION holds: "15" of "15.14", "17" of "17beta1".
func major(version string) string {
	end := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		return version
	}
	return version[:end]
}

// MissingError says that this machine has no PostgreSQL server.
type MissingError struct {
	Looked []string // where it was looked for
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("no PostgreSQL server on this machine: %s, or set PG_BIN to the directory with its initdb and postgres, or DATABASE_URL to a server that runs (looked in %s)",
		installHint(""), strings.Join(e.Looked, ", "))
}

// VersionError says that the data were made by another major version. Nothing
// was touched.
type VersionError struct {
	Data      string // the data directory
	Made      string // major version that made it
	Installed string // newest version found here
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s was made by PostgreSQL %s, this machine has %s; nothing was changed: %s, or use another directory, or move this one away to begin with an empty database",
		e.Data, e.Made, e.Installed, installHint(e.Made))
}

func installHint(version string) string {
	debian, brew := "postgresql", "postgresql@17"
	if version != "" {
		debian, brew = "postgresql-"+version, "postgresql@"+version
	}
	if runtime.GOOS == "darwin" {
		return "brew install " + brew
	}
	return "apt-get install " + debian + " (Debian, Ubuntu) or your system's PostgreSQL server package"
}

// places are where packages put server binaries that are not in PATH.
var places = []string{
	"/usr/lib/postgresql/*/bin",                               // Debian, Ubuntu
	"/usr/pgsql-*/bin",                                        // postgresql.org RPMs
	"/opt/homebrew/opt/postgresql@*/bin",                      // Homebrew on Apple silicon
	"/usr/local/opt/postgresql@*/bin",                         // Homebrew on Intel
	"/Applications/Postgres.app/Contents/Versions/[0-9]*/bin", // Postgres.app
}

// findBinaries prefers the version that made the data, else the newest.
func findBinaries(data string) (binaries, error) {
	made := ""
	if b, err := os.ReadFile(filepath.Join(data, "PG_VERSION")); err == nil {
		made = strings.TrimSpace(string(b))
	} else if !os.IsNotExist(err) {
		return binaries{}, err
	}
	dirs, looked := candidates()
	var best binaries
	for _, d := range dirs {
		b, ok := inspect(d)
		if ok && made != "" && b.major() == made {
			return b, nil
		}
		if ok && number(b.version) > number(best.version) {
			best = b
		}
	}
	if best.dir == "" {
		return best, &MissingError{Looked: looked}
	}
	if made != "" {
		return best, &VersionError{Data: data, Made: made, Installed: best.version}
	}
	return best, nil
}

func candidates() (dirs, looked []string) {
	if d := os.Getenv("PG_BIN"); d != "" {
		return []string{d}, []string{d}
	}
	for _, p := range places {
		found, _ := filepath.Glob(p) // the patterns are constants: no bad pattern
		dirs = append(dirs, found...)
	}
	if p, err := exec.LookPath("postgres"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil {
			dirs = append(dirs, filepath.Dir(p))
		}
	}
	return dirs, append([]string{"PATH"}, places...)
}

// inspect asks the server program for its version: "postgres (PostgreSQL) 15.14 (Debian …)".
func inspect(dir string) (binaries, bool) {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return binaries{}, false
	}
	out, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return binaries{}, false
	}
	_, version, ok := strings.Cut(string(out), "(PostgreSQL) ")
	if !ok {
		return binaries{}, false
	}
	return binaries{dir: dir, version: strings.Fields(version)[0]}, true
}

func number(version string) int {
	n, _ := strconv.Atoi(major(version)) // "" of no version is 0
	return n
}

// Program returns the path of a client or server program of the newest installed
// PostgreSQL, for example pg_dump.
func Program(name string) (string, error) {
	bin, err := findBinaries("")
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(bin.path(name)); err != nil {
		return "", fmt.Errorf("%s is not installed beside the PostgreSQL server: %w", name, err)
	}
	return bin.path(name), nil
}
