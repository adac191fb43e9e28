package usage

import "time"

// Span is a period of whole hours of UTC: [From, Until).
type Span struct{ From, Until time.Time }

// Days is the period from the first moment of one date to the last of another, as a
// zone counts days. Where a zone is not whole hours from UTC, both ends are taken back to
// the full hour, so that periods that follow each other still meet.
func Days(from, to time.Time, zone *time.Location) Span {
	day := func(t time.Time, more int) time.Time {
		y, m, d := t.Date()
		return time.Date(y, m, d+more, 0, 0, 0, 0, zone).UTC().Truncate(time.Hour)
	}
	return Span{day(from, 0), day(to, 1)}
}

// Empty reports whether the span holds no time.
func (s Span) Empty() bool { return !s.From.Before(s.Until) }

// Before is the span without what comes after t.
func (s Span) Before(t time.Time) Span {
	if s.Until.After(t) {
		s.Until = t
	}
	return s
}

// WholeDays takes ends that lie before kept, where hours are gone, back to the start of
// their day; changed says that it did.
func (s Span) WholeDays(kept time.Time) (_ Span, changed bool) {
	for _, end := range []*time.Time{&s.From, &s.Until} {
		if day := startOfDay(*end); end.Before(kept) && !day.Equal(*end) {
			*end, changed = day, true
		}
	}
	return s, changed
}

// Parts cut the span into what roll-ups of months, days and hours hold. Empty spans hold nothing.
type Parts struct {
	Hours  [2]Span
	Days   [2]Span
	Months Span
}

// Parts of the span: each moment of it lies in exactly one.
func (s Span) Parts() Parts {
	if s.Empty() {
		return Parts{}
	}
	d0, d1 := ceiling(s.From, startOfDay, nextDay), startOfDay(s.Until)
	if !d0.Before(d1) {
		return Parts{Hours: [2]Span{s}}
	}
	p := Parts{Hours: [2]Span{{s.From, d0}, {d1, s.Until}}}
	m0, m1 := ceiling(d0, startOfMonth, nextMonth), startOfMonth(d1)
	if !m0.Before(m1) {
		p.Days[0] = Span{d0, d1}
		return p
	}
	p.Days, p.Months = [2]Span{{d0, m0}, {m1, d1}}, Span{m0, m1}
	return p
}

// Bucket is the step of an account over time.
type Bucket string

// The buckets, named as PostgreSQL's date_trunc names them.
const (
	Hour  Bucket = "hour"
	Day   Bucket = "day"
	Month Bucket = "month"
)

// Bucket is the step in which the span reads well.
func (s Span) Bucket() Bucket {
	switch length := s.Until.Sub(s.From); {
	case length <= 3*24*time.Hour:
		return Hour
	case length <= 100*24*time.Hour:
		return Day
	}
	return Month
}

// Split are the buckets of the span, cut to it.
func (s Span) Split(b Bucket) []Span {
	var out []Span
	for at := s.From; at.Before(s.Until); {
		next := at.Truncate(time.Hour).Add(time.Hour)
		switch b {
		case Day:
			next = nextDay(startOfDay(at))
		case Month:
			next = nextMonth(startOfMonth(at))
		}
		out = append(out, Span{at, next}.Before(s.Until))
		at = next
	}
	return out
}

func startOfDay(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

func startOfMonth(t time.Time) time.Time {
	y, m, _ := t.UTC().Date()
	return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
}

func nextDay(t time.Time) time.Time   { return t.AddDate(0, 0, 1) }
func nextMonth(t time.Time) time.Time { return t.AddDate(0, 1, 0) }

func ceiling(t time.Time, start func(time.Time) time.Time, next func(time.Time) time.Time) time.Time {
	if at := start(t); !at.Equal(t) {
		return next(at)
	}
	return t
}
