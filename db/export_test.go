package db

import "quartermaster/internal/portal"

// NewReader reads through q, so that a test sees every query.
func NewReader(q interface{ querier }) portal.Reader { return reader{q} }
