package web

import (
	"strconv"
	"time"
)

// Headroom is one pool as one bar. The parts are disjoint and counted in Unit:
// what is in use from own quota, in use as borrowed, reserved by admitted
// workloads that do not run yet, granted but idle; the rest is free. Granted
// beyond the capacity is said in words, the bar ends at the capacity.
type Headroom struct {
	Unit        string // "GPUs"
	Capacity    int64
	InUse       int64
	Borrowed    int64
	Reserved    int64
	GrantedIdle int64
	Ask         int64     // what the request on this page would add; 0 shows none
	Unknown     string    // why nothing can be said; then no bar is drawn
	AsOf        time.Time // when it was read
	Stale       bool
}

// Free is what nobody holds; never below 0.
func (h Headroom) Free() int64 { return max(0, h.Capacity-h.held()) }

// Over is by how much more is held than there is.
func (h Headroom) Over() int64 { return max(0, h.held()-h.Capacity) }

// Short is by how much the ask exceeds what is free.
func (h Headroom) Short() int64 { return max(0, h.Ask-h.Free()) }

func (h Headroom) held() int64 { return h.InUse + h.Borrowed + h.Reserved + h.GrantedIdle }

// part is one piece of the bar, in order from the left.
type part struct {
	class, word string
	n           int64
	x, width    string // percent of the bar
}

func (h Headroom) parts() []part {
	all := []part{
		{class: "in-use", word: "in use", n: h.InUse},
		{class: "borrowed", word: "in use, borrowed", n: h.Borrowed},
		{class: "reserved", word: "reserved", n: h.Reserved},
		{class: "idle", word: "granted, idle", n: h.GrantedIdle},
		{class: "free", word: "free", n: h.Free()},
	}
	whole := float64(max(h.Capacity, h.held(), 1))
	at := 0.0
	for i := range all {
		w := float64(all[i].n) / whole * 100
		all[i].x, all[i].width = percent(at), percent(w)
		at += w
	}
	return all
}

// askMark is where the ask would end, as x and width in percent of the bar.
func (h Headroom) askMark() (x, width string) {
	whole := float64(max(h.Capacity, h.held(), 1))
	from := float64(min(h.held(), h.Capacity)) / whole * 100
	return percent(from), percent(min(float64(h.Ask)/whole*100, 100-from))
}

func percent(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) + "%" }

// sentence says the bar in words, for everyone who does not see it.
func (h Headroom) sentence() string {
	s := ""
	for _, p := range h.parts() {
		if p.n > 0 || p.class == "free" {
			s += Count(p.n) + " " + p.word + ", "
		}
	}
	s += "of " + Count(h.Capacity) + " " + h.Unit
	if h.Over() > 0 {
		s += "; " + Count(h.Over()) + " more granted than there is"
	}
	return s
}
