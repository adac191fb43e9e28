package web

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"
)

func html(t *testing.T, c templ.Component) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, c.Render(context.Background(), &b))
	return b.String()
}

func TestUnknownNeverLooksLikeZero(t *testing.T) {
	unknown := html(t, FigureUnit(Unknown("beta does not answer since 11:40 UTC"), "GPUs"))
	require.NotContains(t, unknown, "0<")
	require.Contains(t, unknown, "–")
	require.Contains(t, unknown, "beta does not answer since 11:40 UTC")
	require.NotContains(t, unknown, "GPUs", "a unit without a number says nothing")

	require.Contains(t, html(t, FigureUnit(Known(0), "GPUs")), ">0<")
	require.Contains(t, html(t, FigureOf(Figure{})), "not known", "the zero value is unknown")

	bar := html(t, HeadroomBar(Headroom{Unknown: "no poll yet"}))
	require.Contains(t, bar, "Not known: no poll yet")
	require.NotContains(t, bar, "<rect")
}

func TestFigureLineKeepsItsOrderAndSaysADifference(t *testing.T) {
	l := FigureLine{Unit: "GPUs", Asked: Known(16), Granted: Known(12), Enforced: Known(8), InUse: Known(3)}
	require.Regexp(t, `(?s)asked.*16.*granted.*12.*enforced.*8.*in use.*3`, html(t, FigureLineOf(l)))
	require.Contains(t, html(t, FigureLineOf(l)), "The cluster enforces 8, granted are 12.")
	l.Enforced = Known(12)
	require.NotContains(t, html(t, FigureLineOf(l)), "The cluster enforces")
	l.Enforced = Unknown("no poll yet")
	require.False(t, l.Differs(), "unknown is no difference")
}

func TestNumbersAreWrittenWithGroupsAndUnits(t *testing.T) {
	require.Equal(t, "50,000", Count(50000))
	require.Equal(t, "−1,234,567", Count(-1234567))
	require.Equal(t, "+4", Signed(4))
	require.Equal(t, "1 request", Many(1, "request", "requests"))
	require.Equal(t, "24,528.00 EUR", Money{Minor: 2452800, Currency: "EUR"}.String())
	require.Equal(t, "−0.05 EUR", Money{Minor: -5, Currency: "EUR"}.String())
	require.Equal(t, "–", Money{Unknown: "no rate"}.String())
	require.Equal(t, "1,234.5 GPU-hours", GPUHours(1234.46))
}

func TestTimesAreUTCAndAgesShort(t *testing.T) {
	at := time.Date(2026, 12, 2, 16, 0, 0, 0, time.FixedZone("CET", 2*3600))
	require.Equal(t, "2 Dec 2026, 14:00 UTC", Exact(at))
	require.Contains(t, html(t, DateTime(at)), `datetime="2026-12-02T14:00:00Z"`)
	require.Equal(t, "47 h", Span(47*time.Hour))
	require.Equal(t, "3 d", Span(3*24*time.Hour))
	require.Equal(t, "in 5 h", Until(at.Add(5*time.Hour), at))
	require.Equal(t, "3 h overdue", Until(at.Add(-3*time.Hour), at))
}

func TestHeadroomPartsAddUpAndSayWhatIsShort(t *testing.T) {
	h := Headroom{Unit: "GPUs", Capacity: 64, InUse: 22, Borrowed: 6, Reserved: 8, GrantedIdle: 12}
	require.EqualValues(t, 16, h.Free())
	require.Contains(t, html(t, HeadroomBar(h)), "22 in use, 6 in use, borrowed, 8 reserved, 12 granted, idle, 16 free, of 64 GPUs")

	h.Ask = 20
	require.EqualValues(t, 4, h.Short())
	over := Headroom{Unit: "GPUs", Capacity: 32, InUse: 20, GrantedIdle: 16}
	require.EqualValues(t, 0, over.Free())
	require.EqualValues(t, 4, over.Over())
	require.Contains(t, html(t, HeadroomBar(over)), "more are granted than the pool has")
}
