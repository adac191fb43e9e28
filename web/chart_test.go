package web

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func points(from time.Time, values ...float64) []Point {
	var all []Point
	for i, v := range values {
		all = append(all, Point{At: from.Add(time.Duration(i) * time.Minute), Value: v, Known: v >= 0})
	}
	return all
}

func TestAChartBreaksWhereNothingWasRead(t *testing.T) {
	from := time.Date(2026, 12, 2, 14, 0, 0, 0, time.UTC)
	c := Chart{Title: "h100", Unit: "GPUs", From: from, To: from.Add(5 * time.Minute),
		Series: []Series{{Name: "in use", Kind: "in-use", Points: points(from, 4, 4, -1, 0, 2)}}}
	d := c.draw()
	require.Equal(t, 2, strings.Count(d.series[0].line, "M"), "two runs: the unknown reading is a gap")
	require.True(t, d.gaps)

	page := html(t, ChartOf(c))
	require.Contains(t, page, "not read")
	require.Contains(t, page, "a break in a line: nothing was read")
	require.Len(t, c.rows(), 5)
	require.Equal(t, "not read", c.rows()[2].cells[0].Reason())
	require.Equal(t, "0", c.rows()[1].cells[0].Value)
}

func TestAChartWithoutReadingsSaysSo(t *testing.T) {
	require.Contains(t, html(t, ChartOf(Chart{Empty: "No poll yet: the first is due within 30 s"})), "No poll yet")
	require.NotContains(t, html(t, ChartOf(Chart{})), "<path")
}

// A long table shows the newest readings and says how many there are; nothing is dropped silently.
func TestALongTableIsCutWithALinkToAll(t *testing.T) {
	from := time.Date(2026, 12, 2, 14, 0, 0, 0, time.UTC)
	values := make([]float64, 300)
	for i := range values {
		values[i] = float64(i + 1000)
	}
	c := Chart{ID: "use", From: from, To: from.Add(300 * time.Minute), Unit: "GPUs", Series: []Series{{Name: "in use", Kind: "in-use", Points: points(from, values...)}}, All: "/p?table=use#chart-use"}
	page := html(t, ChartOf(c))
	require.Equal(t, 1+48, strings.Count(page, "<tr>"))
	require.Contains(t, page, "1,299", "the newest")
	require.Contains(t, page, "The newest 48 of 300 readings.")
	require.Contains(t, page, `<a href="/p?table=use#chart-use">All 300 readings</a>`)

	c.Whole = true
	page = html(t, ChartOf(c))
	require.Equal(t, 1+300, strings.Count(page, "<tr>"))
	require.Contains(t, page, "<details class=\"fold\" open>")
	require.NotContains(t, page, "The newest")
}
