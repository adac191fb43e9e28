package slurm

import (
	"strings"

	"quartermaster/internal/fault"
)

// absent reports the words with which Slurm says that there is no value.
func absent(s string) bool {
	switch strings.ToUpper(strings.TrimSpace(s)) {
	case "", "NONE", "N/A", "(NULL)", "UNKNOWN":
		return true
	}
	return false
}

// unlimited reports the words with which Slurm says that there is no limit.
func unlimited(s string) bool {
	switch strings.ToUpper(strings.TrimSpace(s)) {
	case "-1", "UNLIMITED", "INFINITE", "N", "":
		return true
	}
	return false
}

// LineError says which line of a file could not be read, and why.
type LineError struct {
	Line   int
	Reason string
}

func lineErrorf(line int, format string, args ...any) LineError {
	return LineError{line, fault.Newf(fault.Invalid, format, args...).Public}
}
