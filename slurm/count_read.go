package slurm

import (
	"math"
	"strconv"

	"quartermaster/internal/fault"
)

// readCount reads a whole number that is nothing but a number: what follows it is
// a typing error, never to be dropped in silence. -1 clears a limit and is no count.
func readCount(text string) (int64, error) {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, fault.Newf(fault.Invalid, "%q is not a whole number.", text)
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > math.MaxInt64/1000 {
		return 0, fault.Newf(fault.Invalid, "%q is not a whole number that a cluster can count.", text)
	}
	return n, nil
}
