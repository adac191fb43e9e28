package slurm

import (
	"strings"
	"time"

	"quartermaster/internal/fault"
)

// Table is output of -p (every line ends in |) or -P (none does), with its heading.
type Table struct {
	Columns []string
	Rows    []Row
}

// Row is one line of a table.
type Row struct {
	Line   int
	Values map[string]string
}

// ReadTable reads a table. A line with more or fewer columns than the heading is
// refused by its number and never drops the others.
func ReadTable(text string) (Table, []LineError) {
	var t Table
	var problems []LineError
	trailing := false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if t.Columns == nil {
			trailing = strings.HasSuffix(line, "|")
			t.Columns = cells(line, trailing)
			continue
		}
		values := cells(line, trailing)
		if len(values) != len(t.Columns) {
			problems = append(problems, lineErrorf(i+1, "The line has %d columns, the heading %d.", len(values), len(t.Columns)))
			continue
		}
		r := Row{i + 1, make(map[string]string, len(values))}
		for c, name := range t.Columns {
			r.Values[name] = values[c]
		}
		t.Rows = append(t.Rows, r)
	}
	return t, problems
}

func cells(line string, trailing bool) []string {
	if trailing {
		line = strings.TrimSuffix(line, "|")
	}
	return strings.Split(line, "|")
}

// JobLine is one job of a table that squeue or sacct wrote. Start and End nil: open.
type JobLine struct {
	ID         string
	Start, End *time.Time
	TRES       []tres
}

// ReadJobLines reads the jobs of a table with the columns JobID, Start, End and
// AllocTRES, in the zone that it was written in. A line that cannot be read is named.
func ReadJobLines(text string, zone *time.Location) ([]JobLine, []LineError) {
	t, problems := ReadTable(text)
	var out []JobLine
	for _, r := range t.Rows {
		j := JobLine{ID: r.Values["JobID"]}
		var err error
		if j.Start, err = readMoment(r.Values["Start"], zone); err == nil {
			j.End, err = readMoment(r.Values["End"], zone)
		}
		if err == nil {
			j.TRES, err = readTRES(r.Values["AllocTRES"])
		}
		if err != nil {
			problems = append(problems, lineErrorf(r.Line, "Job %s: %s", j.ID, fault.As(err).Public))
			continue
		}
		out = append(out, j)
	}
	return out, problems
}
