package web

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
)

// The plot's inner box: 1000 wide in its own units, pixels in height.
const (
	plotWidth  = 1000.0
	plotTop    = 12.0
	plotHeight = 152.0
	// lonelyWidth is how wide a reading without neighbours is drawn.
	lonelyWidth = 14.0
)

type drawing struct {
	top, height, view string
	grid              []gridLine
	ticks             []tick
	series            []drawnSeries
	gaps              bool
}

type gridLine struct{ y, label, text string }

type tick struct{ x, anchor, text string }

type drawnSeries struct{ kind, line, area string }

func (c Chart) any() bool {
	for _, s := range c.Series {
		for _, p := range s.Points {
			if p.Known {
				return true
			}
		}
	}
	return false
}

func (c Chart) emptyText() string {
	if c.Empty != "" {
		return c.Empty
	}
	return "Nothing was read in this period."
}

func (c Chart) draw() drawing {
	top := niceCeiling(c.highest())
	gap := c.gap()
	d := drawing{top: num(plotTop), height: num(plotHeight), view: fmt.Sprintf("0 0 %s %s", num(plotWidth), num(plotHeight))}
	for i := 0; i <= 4; i++ {
		v := top * float64(i) / 4
		if top < 4 && v != math.Trunc(v) {
			continue
		}
		y := plotTop + plotHeight*(1-v/top)
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if i == 4 {
			text += " " + c.Unit
		}
		d.grid = append(d.grid, gridLine{y: num(y), label: num(y - 3), text: text})
	}
	d.ticks = c.timeTicks()
	for _, s := range c.Series {
		drawn := drawnSeries{kind: s.Kind}
		var line, area path
		for _, run := range runs(s.Points, gap) {
			for i, p := range run {
				x, y := c.x(p.At), plotHeight*(1-p.Value/top)
				if len(run) == 1 {
					x = min(max(0, x-lonelyWidth/2), plotWidth-lonelyWidth)
				}
				switch {
				case i == 0:
					line.to('M', x, y)
					area.to('M', x, plotHeight)
					area.to('L', x, y)
				case s.stepped():
					line.to('H', x)
					line.to('V', y)
					area.to('H', x)
					area.to('V', y)
				default:
					line.to('L', x, y)
					area.to('L', x, y)
				}
			}
			if len(run) == 1 { // one reading has no length: a short line shows it
				line.to('h', lonelyWidth)
				area.to('h', lonelyWidth)
			}
			area.to('V', plotHeight)
			area.to('Z')
		}
		drawn.line = string(line)
		if s.Kind == "in-use" {
			drawn.area = string(area)
		}
		d.gaps = d.gaps || len(runs(s.Points, gap)) > 1
		d.series = append(d.series, drawn)
	}
	return d
}

// path is the d of an SVG path.
type path []byte

func (p *path) to(command byte, numbers ...float64) {
	*p = append(*p, command)
	for i, v := range numbers {
		if i > 0 {
			*p = append(*p, ' ')
		}
		*p = appendNum(*p, v)
	}
}

// runs cuts points where one is unknown or the next is further off than gap.
func runs(points []Point, gap time.Duration) [][]Point {
	var all [][]Point
	var run []Point
	for _, p := range points {
		if !p.Known || len(run) > 0 && gap > 0 && p.At.Sub(run[len(run)-1].At) > gap {
			if len(run) > 0 {
				all = append(all, run)
			}
			run = nil
		}
		if p.Known {
			run = append(run, p)
		}
	}
	if len(run) > 0 {
		all = append(all, run)
	}
	return all
}

func (c Chart) gap() time.Duration {
	if c.Gap > 0 {
		return c.Gap
	}
	var distances []time.Duration
	for _, s := range c.Series {
		for i := 1; i < len(s.Points); i++ {
			distances = append(distances, s.Points[i].At.Sub(s.Points[i-1].At))
		}
	}
	if len(distances) == 0 {
		return 0
	}
	slices.Sort(distances)
	return 4 * distances[len(distances)/2]
}

func (c Chart) highest() float64 {
	top := 0.0
	for _, s := range c.Series {
		for _, p := range s.Points {
			if p.Known {
				top = max(top, p.Value)
			}
		}
	}
	return top
}

// niceCeiling is the next 1, 2, 4, 5, 8 × 10ⁿ, so that quarters of it read well.
func niceCeiling(v float64) float64 {
	if v <= 4 {
		return 4
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10} {
		if step*power >= v && math.Mod(step*power, 4) == 0 {
			return step * power
		}
	}
	return 10 * power
}

func (c Chart) x(at time.Time) float64 {
	whole := c.To.Sub(c.From)
	if whole <= 0 {
		return 0
	}
	return plotWidth * min(1, max(0, float64(at.Sub(c.From))/float64(whole)))
}

func (c Chart) timeTicks() []tick {
	whole := c.To.Sub(c.From)
	layout := "2 Jan"
	if whole <= 49*time.Hour {
		layout = "15:04"
	}
	var ticks []tick
	for i, anchor := range []string{"start", "middle", "middle", "end"} {
		at := c.From.Add(whole * time.Duration(i) / 3)
		text := at.UTC().Format(layout)
		if i == 0 || i == 3 {
			text = at.UTC().Format("2 Jan 15:04")
		}
		if i == 3 {
			text += " UTC"
		}
		ticks = append(ticks, tick{x: percent(float64(i) / 3 * 100), anchor: anchor, text: text})
	}
	return ticks
}

func (s Series) stepped() bool { return s.Kind == "limit" || s.Kind == "capacity" }

func (s Series) last() string {
	for i := len(s.Points) - 1; i >= 0; i-- {
		if s.Points[i].Known {
			return reading(s.Points[i].Value)
		}
	}
	return "–"
}

func reading(v float64) string {
	if v == math.Trunc(v) {
		return Count(int64(v))
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// summary is the chart in one sentence for who cannot see it.
func (c Chart) summary() string {
	var last []string
	for _, s := range c.Series {
		last = append(last, s.Name+" "+s.last())
	}
	return c.Title + ". Last: " + strings.Join(last, ", ") + " " + c.Unit + ". The table below has the values."
}

// Anchor is the element id of a chart.
func (c Chart) Anchor() string {
	if c.ID == "" {
		return ""
	}
	return "chart-" + c.ID
}

func (c Chart) anchor() templ.Attributes {
	if c.ID == "" {
		return nil
	}
	return templ.Attributes{"id": c.Anchor()}
}

// rowsShown is how many of the newest readings stand in a table that has a link to all.
const rowsShown = 48

// shown are the rows of the table, and how many there are in all.
func (c Chart) shown() (rows []chartRow, all int) {
	rows = c.rows()
	all = len(rows)
	if c.All != "" && !c.Whole {
		rows = rows[:min(all, rowsShown)]
	}
	return rows, all
}

type chartRow struct {
	at    time.Time
	cells []Figure
}

// rows joins the series by time, newest first.
func (c Chart) rows() []chartRow {
	byTime := map[int64]*chartRow{}
	for i, s := range c.Series {
		for _, p := range s.Points {
			key := p.At.UnixNano()
			row, ok := byTime[key]
			if !ok {
				row = &chartRow{at: p.At, cells: make([]Figure, len(c.Series))}
				for j := range row.cells {
					row.cells[j] = Unknown("not read")
				}
				byTime[key] = row
			}
			if p.Known {
				row.cells[i] = Figure{Value: reading(p.Value)}
			}
		}
	}
	rows := make([]chartRow, 0, len(byTime))
	for _, r := range byTime {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(a, b chartRow) int { return b.at.Compare(a.at) })
	return rows
}

func num(v float64) string { return string(appendNum(nil, v)) }

func appendNum(to []byte, v float64) []byte {
	return strconv.AppendFloat(to, math.Round(v*10)/10, 'f', -1, 64)
}
