package postgres

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// ctype makes lower() and upper() know every letter; order stays by code point.
const ctype = "C.UTF-8"

// attributes: an own process group, so that Ctrl-C reaches us alone and we stop
// the server last; and a fast shutdown when this process dies, even by SIGKILL.
func (a account) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a.credential(), Setpgid: true, Pdeathsig: syscall.SIGINT}
}

// reach returns a path by which the account gets to the directory, and the open
// directory for the child. Under a parent that only root may enter (a home
// directory, mktemp -d) the path goes through the open file: Linux then checks
// the directory alone, not the way to it.
func (a account) reach(dir string) (string, *os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	if a.blocked(dir) != "" {
		return fmt.Sprintf("/proc/self/fd/%d", firstExtra), f, nil
	}
	return dir, f, nil
}

// isServer says whether a process is a PostgreSQL server that runs: process ids
// are used again, soonest in a container, and a killed one may stay as a zombie.
func isServer(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // "123 (postgres) S 1 …", proc(5)
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), "(")
	name, state, _ := strings.Cut(rest, ") ")
	return (name == "postgres" || name == "postmaster") && !strings.HasPrefix(state, "Z")
}
