package fleet

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"quartermaster/internal/fault"
)

// Quantity is an exact amount of one resource in the syntax of Kubernetes
// ("12", "12000m", "3Gi"). It compares numerically, never as text: 12000m equals
// 12 and 3072Mi equals 3Gi. The zero value is 0.
// Source: k8s.io/apimachinery/pkg/api/resource.
type Quantity struct{ q resource.Quantity }

// ParseQuantity reads s. It refuses what Kubernetes refuses and also what it
// accepts and then silently turns into 0 or a negative number: amounts whose
// thousandths do not fit into 64 bits (MilliValue of 1E is 0).
func ParseQuantity(s string) (Quantity, error) {
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return Quantity{}, fault.Newf(fault.Invalid, "%q is not an amount. Write a whole number, or a Kubernetes quantity such as 500m or 64Gi.", s).Because(err)
	}
	v := Quantity{q}
	if !v.fits() {
		return Quantity{}, fault.Newf(fault.Invalid, "%q is too large: the largest amount a cluster can count is 9223372036854775.", s)
	}
	return v, nil
}

// MustQuantity is ParseQuantity for constants; it panics on a wrong one.
func MustQuantity(s string) Quantity {
	q, err := ParseQuantity(s)
	if err != nil {
		panic(err)
	}
	return q
}

// Count returns n whole units.
func Count(n int64) Quantity { return Quantity{*resource.NewQuantity(n, resource.DecimalSI)} }

// Bytes returns n bytes, written in powers of 1024.
func Bytes(n int64) Quantity { return Quantity{*resource.NewQuantity(n, resource.BinarySI)} }

// Resource returns a copy for writing to a cluster.
func (q Quantity) Resource() resource.Quantity { return q.q.DeepCopy() }

// fits says whether the amount in thousandths is within int64.
func (q Quantity) fits() bool {
	// Nearly all amounts are whole and small; exact fractions cost a hundred times as much.
	if n, ok := q.q.AsInt64(); ok {
		return n <= math.MaxInt64/1000 && n >= -math.MaxInt64/1000
	}
	r := q.rat()
	r.Mul(r, big.NewRat(1000, 1))
	limit := new(big.Rat).SetInt64(1<<63 - 1)
	return r.Cmp(limit) <= 0 && r.Cmp(new(big.Rat).Neg(limit)) >= 0
}

func (q Quantity) rat() *big.Rat {
	c := q.q.DeepCopy()
	r, _ := new(big.Rat).SetString(c.AsDec().String())
	return r
}

// Cmp is -1, 0 or 1 as q is less than, equal to or greater than o.
func (q Quantity) Cmp(o Quantity) int { return q.q.Cmp(o.q) }

// Equal reports numeric equality.
func (q Quantity) Equal(o Quantity) bool { return q.Cmp(o) == 0 }

// Sign is -1, 0 or 1.
func (q Quantity) Sign() int { return q.q.Sign() }

// IsWhole reports whether the amount is an integer, as extended resources
// such as nvidia.com/gpu must be.
func (q Quantity) IsWhole() bool { return q.rat().IsInt() }

// Add returns q + o.
func (q Quantity) Add(o Quantity) Quantity {
	s := q.q.DeepCopy()
	s.Add(o.q)
	return Quantity{s}
}

// Sub returns q − o.
func (q Quantity) Sub(o Quantity) Quantity {
	s := q.q.DeepCopy()
	s.Sub(o.q)
	return Quantity{s}
}

// Mul returns q × n.
func (q Quantity) Mul(n int64) Quantity {
	s := q.q.DeepCopy()
	s.Mul(n)
	return Quantity{s}
}

// Int64 is the amount rounded up to whole units.
func (q Quantity) Int64() int64 { return q.q.Value() }

// Float is the nearest float64, for charts and shares only.
func (q Quantity) Float() float64 {
	f, _ := q.rat().Float64()
	return f
}

// ShareOf returns q ÷ whole in percent from the exact amounts; ok is false where whole is 0.
func (q Quantity) ShareOf(whole Quantity) (percent float64, ok bool) {
	if whole.Sign() == 0 {
		return 0, false
	}
	r := new(big.Rat).Quo(q.rat(), whole.rat())
	f, _ := r.Mul(r, big.NewRat(100, 1)).Float64()
	return f, true
}

// Max returns the larger of a and b.
func Max(a, b Quantity) Quantity {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

// String is the canonical Kubernetes form: equal amounts of one notation read the same.
func (q Quantity) String() string {
	c := q.q.DeepCopy()
	if c.IsZero() {
		return "0"
	}
	if q.IsWhole() && c.Format != resource.BinarySI {
		if r := q.rat(); r.Num().IsInt64() {
			return r.Num().String()
		}
	}
	// A fresh parse forgets the text as written, so 5. and +4 become 5 and 4.
	fresh := resource.NewDecimalQuantity(*c.AsDec(), c.Format)
	return fresh.String()
}

// Display is the amount as people read it: memory in GiB with at most one
// decimal, anything below a thousandth rounded up to 1m, whole numbers as they are.
func (q Quantity) Display(resourceName string) string {
	if isBytes(resourceName) {
		return displayBytes(q)
	}
	if q.IsWhole() {
		return q.rat().Num().String()
	}
	milli := new(big.Rat).Mul(q.rat(), big.NewRat(1000, 1))
	n := ceil(milli)
	if new(big.Int).Mod(n, big.NewInt(1000)).Sign() == 0 {
		return new(big.Int).Div(n, big.NewInt(1000)).String()
	}
	return n.String() + "m"
}

func ceil(r *big.Rat) *big.Int {
	n, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if m.Sign() != 0 {
		n.Add(n, big.NewInt(1))
	}
	return n
}

func isBytes(resourceName string) bool {
	return strings.HasSuffix(resourceName, "memory") || strings.HasSuffix(resourceName, "storage")
}

func displayBytes(q Quantity) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	v, _ := new(big.Float).SetRat(q.rat()).Float64()
	i := 0
	for v >= 1024 && i < len(units)-1 {
		v /= 1024
		i++
	}
	s := fmt.Sprintf("%.1f", v)
	return strings.TrimSuffix(s, ".0") + " " + units[i]
}

// MarshalJSON writes the canonical string, so that no reader rounds a large number.
func (q Quantity) MarshalJSON() ([]byte, error) { return json.Marshal(q.String()) }

// UnmarshalJSON reads a string or a bare number.
func (q *Quantity) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	v, err := ParseQuantity(s)
	if err != nil {
		return err
	}
	*q = v
	return nil
}

// UnmarshalYAML reads a scalar, quoted or not.
func (q *Quantity) UnmarshalYAML(unmarshal func(any) error) error {
	var s string
	if err := unmarshal(&s); err != nil {
		return err
	}
	v, err := ParseQuantity(s)
	if err != nil {
		return err
	}
	*q = v
	return nil
}

// MarshalYAML writes the canonical string.
func (q Quantity) MarshalYAML() (any, error) { return q.String(), nil }

// Measure is an amount that may be unknown. Its zero value is unknown, so that
// a figure nobody has read is never shown as 0.
type Measure struct {
	Amount Quantity `json:"amount"`
	Known  bool     `json:"known"`
}

// Known returns a known measure.
func Known(q Quantity) Measure { return Measure{q, true} }

// Unknown is the measure nobody has read.
var Unknown = Measure{}

// Add is unknown as soon as one side is.
func (m Measure) Add(o Measure) Measure {
	if !m.Known || !o.Known {
		return Unknown
	}
	return Known(m.Amount.Add(o.Amount))
}

// Sub is unknown as soon as one side is.
func (m Measure) Sub(o Measure) Measure {
	if !m.Known || !o.Known {
		return Unknown
	}
	return Known(m.Amount.Sub(o.Amount))
}

// Equal: unknown equals only unknown.
func (m Measure) Equal(o Measure) bool {
	return m.Known == o.Known && (!m.Known || m.Amount.Equal(o.Amount))
}

func (m Measure) String() string {
	if !m.Known {
		return "unknown"
	}
	return m.Amount.String()
}

// MarshalJSON writes null for unknown.
func (m Measure) MarshalJSON() ([]byte, error) {
	if !m.Known {
		return []byte("null"), nil
	}
	return m.Amount.MarshalJSON()
}

// UnmarshalJSON reads null as unknown.
func (m *Measure) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*m = Unknown
		return nil
	}
	if err := m.Amount.UnmarshalJSON(b); err != nil {
		return err
	}
	m.Known = true
	return nil
}
