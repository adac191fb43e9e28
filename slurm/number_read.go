package slurm

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// number is a value of Slurm's JSON: a bare number (v0.0.38) or an object of three
// states {set, infinite, number} (since v0.0.39). Not set is unknown, infinite is no limit; neither is 0.
type number struct {
	Set      bool
	Infinite bool
	Value    int64
}

// UnmarshalJSON reads both forms, null, and numbers written as text.
func (n *number) UnmarshalJSON(b []byte) error {
	*n = number{}
	b = bytes.TrimSpace(b)
	if len(b) == 0 || bytes.Equal(b, []byte("null")) {
		return nil
	}
	if b[0] == '{' {
		var object struct {
			Set      bool         `json:"set"`
			Infinite bool         `json:"infinite"`
			Number   *json.Number `json:"number"`
		}
		if err := json.Unmarshal(b, &object); err != nil {
			return err
		}
		n.Infinite = object.Infinite
		if !object.Set || object.Infinite || object.Number == nil {
			return nil
		}
		return n.take(object.Number.String())
	}
	return n.take(strings.Trim(string(b), `"`))
}

func (n *number) take(text string) error {
	if text == "" {
		return nil
	}
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		n.Set, n.Value = true, v
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return err
	}
	if math.Abs(f) < 1<<62 {
		n.Set, n.Value = true, int64(f)
	}
	return nil
}

// moment is the time that n counts in seconds; 0 and far away ends are none.
func (n number) moment() *time.Time {
	if !n.Set || n.Value <= 0 || n.Value >= math.MaxUint32-1 {
		return nil
	}
	t := time.Unix(n.Value, 0).UTC()
	return &t
}

// words is one word, a list of them, or null.
type words []string

// UnmarshalJSON reads each form.
func (w *words) UnmarshalJSON(b []byte) error {
	*w = nil
	var one string
	if json.Unmarshal(b, &one) == nil {
		if one != "" {
			*w = words{one}
		}
		return nil
	}
	var many []string
	if err := json.Unmarshal(b, &many); err != nil {
		return err
	}
	*w = many
	return nil
}
