package db

import (
	"context"
	"fmt"
)

// LogName is the random name of this installation's record.
func (r reader) LogName(ctx context.Context) (string, error) {
	var name string
	if err := r.get(ctx, &name, "", `SELECT i.log FROM installation i`); err != nil {
		return "", fmt.Errorf("load the record's name: %w", err)
	}
	return name, nil
}

// LogName is read once by a process: it never changes.
func (t *tx) LogName(ctx context.Context) (string, error) {
	if name := t.store.name.Load(); name != nil {
		return *name, nil
	}
	name, err := t.reader.LogName(ctx)
	if err == nil {
		t.store.name.Store(&name)
	}
	return name, err
}
