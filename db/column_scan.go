package db

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"quartermaster/internal/fleet"
)

// quantity is a column that always holds an amount.
type quantity struct{ fleet.Quantity }

// Scan reads the text form.
func (q *quantity) Scan(src any) error {
	s, ok := text(src)
	if !ok {
		return fmt.Errorf("quantity column holds %T", src)
	}
	v, err := fleet.ParseQuantity(s)
	q.Quantity = v
	return err
}

// measure is a column whose NULL means unknown.
type measure struct{ fleet.Measure }

// Scan reads the text form or NULL.
func (m *measure) Scan(src any) error {
	if src == nil {
		m.Measure = fleet.Unknown
		return nil
	}
	var q quantity
	if err := q.Scan(src); err != nil {
		return err
	}
	m.Measure = fleet.Known(q.Quantity)
	return nil
}

// bound is a column whose NULL means no limit.
type bound struct{ limit *fleet.Quantity }

// Scan reads the text form or NULL.
func (b *bound) Scan(src any) error {
	if b.limit = nil; src == nil {
		return nil
	}
	var q quantity
	if err := q.Scan(src); err != nil {
		return err
	}
	b.limit = &q.Quantity
	return nil
}

// document is a jsonb column; NULL is a nil Doc.
type document[T any] struct{ Doc *T }

// Scan reads JSON or NULL.
func (d *document[T]) Scan(src any) error {
	if d.Doc = nil; src == nil {
		return nil
	}
	s, ok := text(src)
	if !ok {
		return fmt.Errorf("JSON column holds %T", src)
	}
	d.Doc = new(T)
	return json.Unmarshal([]byte(s), d.Doc)
}

// Value writes JSON as text: lib/pq would send bytes as bytea.
func (d document[T]) Value() (driver.Value, error) {
	if d.Doc == nil {
		return nil, nil
	}
	b, err := json.Marshal(d.Doc)
	return string(b), err
}

// jsonOf is a parameter for a jsonb value that is never NULL.
func jsonOf[T any](v T) document[T] { return document[T]{&v} }

func text(src any) (string, bool) {
	switch v := src.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return "", false
}

// boundText is the parameter for a limit: NULL when there is none.
func boundText(q *fleet.Quantity) any {
	if q == nil {
		return nil
	}
	return q.String()
}

// orNull is the parameter for an id that may be missing.
func orNull(id string) any {
	if id == "" {
		return nil
	}
	return id
}

// utc gives a time read from a column the zone that the portal uses throughout.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// isID tells ids from whatever else an address may hold: what is no UUID names nothing.
func isID(id string) bool { return uuid.Validate(id) == nil && len(id) == 36 }

// filter collects the conditions of one query. The conditions are constants with
// "?" for each argument; what a person typed only ever becomes an argument.
type filter struct {
	conditions []byte
	args       []any
}

func (f *filter) and(condition string, args ...any) {
	f.conditions = append(append(f.conditions, " AND "...), condition...)
	f.args = append(f.args, args...)
}
