package jobs

import (
	"github.com/riverqueue/river"

	"quartermaster/internal/portal"
	"quartermaster/internal/work"
)

// NewChangeApply is the worker alone, for tests that run it job by job.
func NewChangeApply(p *portal.Portal) river.Worker[work.ChangeApply] { return &changeApply{portal: p} }
