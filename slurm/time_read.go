package slurm

import (
	"strings"
	"time"

	"quartermaster/internal/fault"
)

// span is a time limit: unlimited, or so many seconds.
type span struct {
	Unlimited bool
	Seconds   int64
}

// Minutes rounds up, as Slurm does where it keeps minutes.
func (s span) Minutes() int64 { return (s.Seconds + 59) / 60 }

// readSpan reads a time limit: minutes, minutes:seconds, hours:minutes:seconds,
// days-hours, days-hours:minutes or days-hours:minutes:seconds (sbatch(1), --time).
func readSpan(text string) (span, error) {
	wrong := fault.Newf(fault.Invalid, "%q is no time limit: write minutes, hours:minutes:seconds or days-hours:minutes:seconds.", text)
	switch strings.ToUpper(text) {
	case "-1", "UNLIMITED", "INFINITE":
		return span{Unlimited: true}, nil
	}
	var parts []int64
	days, rest, dashed := strings.Cut(text, "-")
	if !dashed {
		days, rest = "", text
	}
	fields := strings.Split(rest, ":")
	if dashed && rest == "" {
		fields = nil
	}
	for _, f := range fields {
		n, err := part(f)
		if err != nil {
			return span{}, wrong
		}
		parts = append(parts, n)
	}
	if len(parts) > 3 || !dashed && len(parts) == 0 {
		return span{}, wrong
	}
	if dashed {
		d, err := part(days)
		if err != nil {
			return span{}, wrong
		}
		parts = append(parts, 0, 0, 0)
		return span{Seconds: d*86400 + parts[0]*3600 + parts[1]*60 + parts[2]}, nil
	}
	switch len(parts) {
	case 1:
		return span{Seconds: parts[0] * 60}, nil
	case 2:
		return span{Seconds: parts[0]*60 + parts[1]}, nil
	}
	return span{Seconds: parts[0]*3600 + parts[1]*60 + parts[2]}, nil
}

// part is one number of a time limit; nine digits are more than three thousand years of minutes.
func part(text string) (int64, error) {
	if text == "" || len(text) > 9 {
		return 0, fault.New(fault.Invalid, "no number")
	}
	return readCount(text)
}

// readMoment reads a time of a job or reservation in the cluster's zone; nil means open.
func readMoment(text string, zone *time.Location) (*time.Time, error) {
	if absent(text) {
		return nil, nil
	}
	t, err := time.ParseInLocation("2006-01-02T15:04:05", text, zone)
	if err != nil {
		return nil, fault.Newf(fault.Invalid, "%q is no time.", text).Because(err)
	}
	t = t.UTC()
	return &t, nil
}
