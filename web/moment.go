package web

import (
	"fmt"
	"time"
)

// Exact writes a moment as pages show it: "2 Dec 2026, 14:00 UTC".
func Exact(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2 Jan 2006, 15:04 UTC")
}

// machine is the attribute form of a moment.
func machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// toTheSecond is what hovering shows without a script.
func toTheSecond(t time.Time) string { return t.UTC().Format("Mon 2 Jan 2006, 15:04:05 UTC") }

// Span writes a length of time in its largest unit: "40 s", "12 min", "5 h", "3 d".
func Span(d time.Duration) string {
	if d < 0 {
		d = -d
	}
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d d", int(d.Hours()/24))
	}
}

// Until writes the distance to a due time: "in 5 h", "3 d overdue".
func Until(due, now time.Time) string {
	if due.Before(now) {
		return Span(now.Sub(due)) + " overdue"
	}
	return "in " + Span(due.Sub(now))
}
