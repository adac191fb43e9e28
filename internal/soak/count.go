// Package soak sizes the heavy tests: kills, floods, random sequences. Only tests
// call it. `make test` runs them small, `make soak` in full.
package soak

import "os"

// Count returns small, or full when QM_SOAK is set.
func Count(small, full int) int {
	if os.Getenv("QM_SOAK") != "" {
		return full
	}
	return small
}
