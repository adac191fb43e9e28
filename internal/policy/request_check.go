package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"quartermaster/internal/request"
)

// longestRun is the runtime in hours beyond which a job is unlikely to be meant: 30 days.
const longestRun = 30 * 24

func environment(f Facts) verdict {
	e := f.Content.Environment
	if e == "" {
		return verdict{}
	}
	if slices.Contains(f.Project.Environments, e) {
		return pass(fmt.Sprintf("%s has the environment %s.", f.Project.Name, e))
	}
	return fails(fmt.Sprintf("%s has no environment %s, only %s. A platform admin can add it to the organisation.", f.Project.Name, e, list(f.Project.Environments)))
}

func dataClassOfProject(f Facts) verdict {
	c := f.Content.DataClass
	if c == "" || len(f.Project.DataClasses) == 0 {
		return verdict{}
	}
	if slices.Contains(f.Project.DataClasses, c) {
		return pass(fmt.Sprintf("%s may process %s data.", f.Project.Name, c))
	}
	return fails(fmt.Sprintf("%s may not process %s data, only %s. A platform admin can add it to the organisation.", f.Project.Name, c, list(f.Project.DataClasses)))
}

// runtime compares the expected hours of one job with common sense and with the period asked for.
func runtime(f Facts) verdict {
	h := f.Content.RuntimeHours
	if h == 0 {
		return verdict{}
	}
	if h > longestRun {
		return fails(fmt.Sprintf("One job of %d h is longer than 30 days (720 h). Say how it survives a restart.", h))
	}
	for _, l := range f.Content.Lines {
		if period, ok := length(f, l); ok && time.Duration(h)*time.Hour > period {
			return fails(fmt.Sprintf("One job takes %d h, but the period asked for lasts %d h.", h, int(period.Hours())))
		}
	}
	return pass(fmt.Sprintf("One job takes %d h.", h))
}

func length(f Facts, l request.Line) (time.Duration, bool) {
	if l.End == nil {
		return 0, false
	}
	from := f.Now
	if l.Start != nil {
		from = *l.Start
	}
	return l.End.Sub(from), true
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
