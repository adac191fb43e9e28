package portal

import (
	"errors"

	"quartermaster/internal/fault"
)

// ErrStepUp is the cause of the Forbidden fault that a decision without a fresh
// second factor is answered with: the person proves it and decides again.
var ErrStepUp = errors.New("second factor not fresh")

func stepUpNeeded() error {
	return fault.New(fault.Forbidden, "Confirm with your second factor, then decide.").Because(ErrStepUp)
}

func (c *RequestChanged) Error() string { return c.What }
