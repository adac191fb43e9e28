package web

import (
	"strconv"
	"strings"
	"time"
)

// Figure is one number as a person reads it, without its unit. The zero value
// is unknown. Unlimited is Value "no limit".
type Figure struct {
	Value   string // "12", "1,024", "no limit"; "" is unknown
	Unknown string // why it is unknown: "no poll since 14:02 UTC"; only read when Value is ""
	Note    string // one short remark shown beside it: "of it 4 borrowed"
}

// Known is a figure for a whole number.
func Known(n int64) Figure { return Figure{Value: Count(n)} }

// Unknown is a figure that could not be read, with the reason people see.
func Unknown(reason string) Figure { return Figure{Unknown: reason} }

// Reason says why the figure is unknown; never empty for an unknown figure.
func (f Figure) Reason() string {
	if f.Unknown == "" {
		return "not known"
	}
	return f.Unknown
}

// FigureLine is asked → granted → enforced → in use, always in this order.
type FigureLine struct {
	Unit     string // "GPUs", "MIG devices"; shown once behind the line
	Asked    Figure
	Granted  Figure
	Enforced Figure // read back from the cluster, never what we sent
	InUse    Figure
	Pending  Figure    // GPUs that wait; shown behind the line when known and not 0
	AsOf     time.Time // when Enforced and InUse were read; zero hides it
	Stale    bool      // the last poll failed: the values are the last good ones
	Later    bool      // what is granted starts later, so that the cluster rightly enforces something else
}

// Differs says that the cluster enforces something else than was granted.
func (l FigureLine) Differs() bool {
	return !l.Later && l.Granted.Value != "" && l.Enforced.Value != "" && l.Granted.Value != l.Enforced.Value
}

// Count writes a whole number with thin grouping: 50,000.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "−", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Signed writes a change: +4, −2, 0.
func Signed(n int64) string {
	if n > 0 {
		return "+" + Count(n)
	}
	return Count(n)
}

// Many is a count with its noun: "1 request", "12 GPUs".
func Many(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + more
}

// Money is an amount in minor units (cents) of a currency. Unknown wins.
type Money struct {
	Minor    int64
	Currency string // ISO 4217: "EUR"
	Unknown  string // "the pool has no hourly rate"
}

// String writes "1,234.50 EUR"; unknown is a dash.
func (m Money) String() string {
	if m.Unknown != "" || m.Currency == "" {
		return "–"
	}
	n, sign := m.Minor, ""
	if n < 0 {
		n, sign = -n, "−"
	}
	cents := strconv.FormatInt(n%100+100, 10)[1:]
	return sign + Count(n/100) + "." + cents + " " + m.Currency
}

// GPUHours writes GPU-hours with one decimal.
func GPUHours(h float64) string {
	whole := strconv.FormatFloat(h, 'f', 1, 64)
	dot := strings.IndexByte(whole, '.')
	n, err := strconv.ParseInt(whole[:dot], 10, 64)
	if err != nil {
		return whole + " GPU-hours"
	}
	return Count(n) + whole[dot:] + " GPU-hours"
}

// firstReason is the first reason worth writing under a line in a table: the
// ordinary dashes of a request that nobody decided yet need no words.
func (l FigureLine) firstReason() string {
	for _, f := range []Figure{l.Enforced, l.InUse} {
		if f.Value == "" && f.Unknown != "" && l.Granted.Value != "" {
			return f.Unknown
		}
	}
	return ""
}

func figureClass(name string) string { return strings.ReplaceAll(name, " ", "-") }

// unitFor is a unit behind a number: "1 GPU", "12 GPUs". Units are plurals in s.
func unitFor(number, unit string) string {
	if number == "1" {
		return strings.TrimSuffix(unit, "s")
	}
	return unit
}
