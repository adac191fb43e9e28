//go:build unix && !linux

package postgres

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ctype makes lower() and upper() know every letter; order stays by code point.
const ctype = "en_US.UTF-8"

// attributes: an own process group, so that Ctrl-C reaches us alone and we stop
// the server last. There is no parent death signal here: after a kill -9 the
// server goes on, and the next start says how to stop it.
func (a account) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a.credential(), Setpgid: true}
}

// reach returns a path by which the account gets to the directory, and the open
// directory for the child.
func (a account) reach(dir string) (string, *os.File, error) {
	if b := a.blocked(dir); b != "" {
		return "", nil, fmt.Errorf("PostgreSQL does not run as root but as %s, who may not enter %s: chmod o+x %s, or use a directory outside it", a.name, b, b)
	}
	f, err := os.Open(dir)
	return dir, f, err
}

// isServer can only say whether the process is there.
func isServer(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
