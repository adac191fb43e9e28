//go:build killpoints

package main

import (
	"os"
	"syscall"
)

// killAt names the point between two steps at which the process ends itself, with
// no goodbye to database or cluster. Only the kill tests build with this tag.
const killAt = "QUARTERMASTER_TEST_KILL_AT"

func init() {
	at := os.Getenv(killAt)
	os.Unsetenv(killAt)
	if at == "" {
		return
	}
	reach = func(point string) {
		if point == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // nothing more happens until the signal arrives
		}
	}
}
