package web

import "time"

// Point is one reading. Known false is a gap: nothing was read, which is not 0.
type Point struct {
	At    time.Time
	Value float64
	Known bool
}

// Series is one line of a chart. Kind picks its look: "limit" (stepped line),
// "reserved", "in-use" (area), "borrowed", "pending", "capacity".
type Series struct {
	Name   string
	Kind   string
	Points []Point
}

// Chart shows readings over time, drawn on the server; the same numbers stand in
// a table below. Points need not be evenly spaced; a distance larger than Gap is
// drawn as a gap.
type Chart struct {
	ID     string // unique on the page
	Title  string // "GPUs of vision-training in h100, last 24 h"
	Unit   string // "GPUs"
	From   time.Time
	To     time.Time
	Gap    time.Duration // 0: four times the median distance
	Ranges []Tab         // 24 h / 7 d / 30 d
	Series []Series
	All    string // address of this page with the whole table of this chart; "": it is always whole
	Whole  bool   // the table is whole and open
	Empty  string // said where no point is known: "No poll yet: the first is due within 30 s"
}
