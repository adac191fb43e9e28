package usage_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"quartermaster/internal/usage"
)

func moment(s string) time.Time {
	t, err := time.Parse("2006-01-02T15:04", s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestAPeriodOfDaysIsThatOfItsZone(t *testing.T) {
	for _, x := range []struct{ zone, from, to, wantFrom, wantUntil string }{
		{"UTC", "2026-11-01", "2026-11-30", "2026-11-01T00:00", "2026-12-01T00:00"},
		{"Europe/Berlin", "2026-11-01", "2026-11-30", "2026-10-31T23:00", "2026-11-30T23:00"},
		{"Europe/Berlin", "2026-03-29", "2026-03-29", "2026-03-28T23:00", "2026-03-29T22:00"}, // 23 hours
		{"Europe/Berlin", "2026-10-25", "2026-10-25", "2026-10-24T22:00", "2026-10-25T23:00"}, // 25 hours
		{"America/New_York", "2026-03-08", "2026-03-08", "2026-03-08T05:00", "2026-03-09T04:00"},
		{"Asia/Kolkata", "2026-11-01", "2026-11-01", "2026-10-31T18:00", "2026-11-01T18:00"}, // 18:30, taken back to the hour
		{"Pacific/Auckland", "2026-01-01", "2026-12-31", "2025-12-31T11:00", "2026-12-31T11:00"},
	} {
		zone, err := time.LoadLocation(x.zone)
		require.NoError(t, err)
		span := usage.Days(moment(x.from+"T00:00"), moment(x.to+"T00:00"), zone)
		require.Equal(t, usage.Span{From: moment(x.wantFrom), Until: moment(x.wantUntil)}, span, "%s in %s", x.from, x.zone)
	}
}

// Each hour of a span lies in exactly one part, parts of days are whole days and parts
// of months whole months; buckets cover the span without a gap.
func TestPartsAndBucketsCoverASpanOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		from := moment("2024-01-01T00:00").Add(time.Duration(rapid.IntRange(0, 30000).Draw(rt, "from")) * time.Hour)
		s := usage.Span{From: from, Until: from.Add(time.Duration(rapid.IntRange(0, 10000).Draw(rt, "hours")) * time.Hour)}
		p := s.Parts()
		var covered time.Duration
		at := s.From
		for _, part := range []usage.Span{p.Hours[0], p.Days[0], p.Months, p.Days[1], p.Hours[1]} {
			if part.Empty() {
				continue
			}
			if !part.From.Equal(at) {
				rt.Fatalf("%v: a part begins at %v, not %v", s, part.From, at)
			}
			covered, at = covered+part.Until.Sub(part.From), part.Until
		}
		if covered != s.Until.Sub(s.From) {
			rt.Fatalf("%v: %v covered", s, covered)
		}
		for _, d := range p.Days {
			if !d.Empty() && (d.From.Hour() != 0 || d.Until.Hour() != 0) {
				rt.Fatalf("%v is not whole days", d)
			}
		}
		if m := p.Months; !m.Empty() && (m.From.Day() != 1 || m.Until.Day() != 1 || m.From.Hour() != 0 || m.Until.Hour() != 0) {
			rt.Fatalf("%v is not whole months", m)
		}
		for _, b := range []usage.Bucket{usage.Hour, usage.Day, usage.Month} {
			at := s.From
			for _, x := range s.Split(b) {
				if !x.From.Equal(at) || x.Empty() {
					rt.Fatalf("%v by %s: %v", s, b, x)
				}
				at = x.Until
			}
			if !at.Equal(s.Until) {
				rt.Fatalf("%v by %s ends at %v", s, b, at)
			}
		}
	})
}

func TestHoursAreTakenBackToDaysWhereTheyAreGone(t *testing.T) {
	s := usage.Span{From: moment("2025-01-01T23:00"), Until: moment("2026-11-30T23:00")}
	got, changed := s.WholeDays(moment("2025-10-01T00:00"))
	require.True(t, changed)
	require.Equal(t, usage.Span{From: moment("2025-01-01T00:00"), Until: s.Until}, got)
	_, changed = s.WholeDays(moment("2025-01-01T12:00"))
	require.False(t, changed)
}

func TestFiguresAreRoundedOnce(t *testing.T) {
	require.Equal(t, "0.0", usage.Hours(179_999))
	require.Equal(t, "0.1", usage.Hours(180_000))
	require.Equal(t, "23.4", usage.Hours(84_240_000))
	require.Equal(t, "1200.0", usage.Hours(1200*3_600_000))
	third := usage.Cents(1_200_000, 100) // 20 minutes at 1.00
	require.Equal(t, big.NewRat(100, 3), third)
	require.EqualValues(t, 33, usage.Round(third))
	require.EqualValues(t, 100, usage.Round(new(big.Rat).Add(third, new(big.Rat).Add(third, third))))
	require.EqualValues(t, 2, usage.Round(big.NewRat(3, 2)))
	require.EqualValues(t, 320*50_000*8760, usage.Round(usage.Cents(50_000*8760*3_600_000, 320)), "a year of everything")
}
