package k8s

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"quartermaster/internal/fleet"
)

// object is one object as the API server stores it, unknown fields included:
// what is rewritten must not lose what this package does not know.
type object struct {
	raw  map[string]any
	meta metadata
}

func (o *object) UnmarshalJSON(text []byte) error {
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber() // a quota above 2^53 must survive being copied
	if err := numbers.Decode(&o.raw); err != nil {
		return err
	}
	var head struct {
		Metadata metadata `json:"metadata"`
	}
	err := json.Unmarshal(text, &head)
	o.meta = head.Metadata
	return err
}

// decode reads the object into one of this package's structs.
func (o *object) decode(into any) error {
	text, err := json.Marshal(o.raw)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// version is what a plan remembers of an object it saw: identity, generation of
// its specification and resourceVersion. Status updates alone change only the
// last, and a busy queue has several a second, so they do not make a plan stale.
func (o *object) version() string {
	if o == nil {
		return ""
	}
	return fmt.Sprintf("%s/%d/%s", o.meta.ResourceVersion, o.meta.Generation, o.meta.UID)
}

// sameSpec reports whether two versions are of one object with one specification.
func sameSpec(a, b string) bool {
	_, a, okA := strings.Cut(a, "/")
	_, b, okB := strings.Cut(b, "/")
	return okA && okB && a == b
}

// field reads one value that a document writes, from any object of its kind.
type field struct {
	path string
	of   func(raw map[string]any) *string
	// limit marks enforced numbers.
	limit bool
	// fallback is what the cluster sets where the value is absent; "" for nothing.
	fallback string
	// owned is where managedFields say who owns the value; empty where that is not asked.
	owned []string
}

func (f field) value(raw map[string]any) *string {
	if raw == nil {
		return nil
	}
	if v := f.of(raw); v != nil || f.fallback == "" {
		return v
	}
	return &f.fallback
}

// at reads the value at a path of keys.
func at(path ...string) func(map[string]any) *string {
	return func(raw map[string]any) *string { return text(nested(raw, path...)) }
}

func nested(raw map[string]any, path ...string) any {
	var value any = raw
	for _, key := range path {
		m, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = m[key]
	}
	return value
}

// text writes a value as its users do: quantities in canonical form, structures as JSON.
func text(value any) *string {
	var s string
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		s = v
	case json.Number:
		s = v.String()
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		s = string(b)
	}
	return &s
}

// quantity is text in canonical form where it is an amount.
func quantity(value any) *string {
	s := text(value)
	if s == nil {
		return nil
	}
	if q, err := fleet.ParseQuantity(strings.TrimSpace(*s)); err == nil {
		canonical := q.String()
		return &canonical
	}
	return s
}

// copyOf is a deep copy of a JSON value.
func copyOf(value any) any {
	switch v := value.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, inner := range v {
			m[key] = copyOf(inner)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, inner := range v {
			l[i] = copyOf(inner)
		}
		return l
	}
	return value
}

// overlay returns base with the maps of over merged in.
func overlay(base, over map[string]any) map[string]any {
	merged := copyOf(base).(map[string]any)
	for key, value := range over {
		inner, isMap := value.(map[string]any)
		below, hasMap := merged[key].(map[string]any)
		if isMap && hasMap {
			merged[key] = overlay(below, inner)
		} else {
			merged[key] = copyOf(value)
		}
	}
	return merged
}
