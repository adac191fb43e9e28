// Package fault names the kinds of error the product distinguishes and carries
// the one sentence that may be shown to a person. Every layer makes faults;
// only handlers turns them into status codes and pages. A fault never holds a
// secret, a reason text or an address: its public message is shown as it is.
package fault

import (
	"errors"
	"fmt"
)

// Kind says what a person can do about an error.
type Kind string

const (
	// Invalid: the input is wrong; Fields says which and how to mend it. HTTP 422.
	Invalid Kind = "invalid"
	// Forbidden: the person lacks the role or is separated from the duty. HTTP 403.
	Forbidden Kind = "forbidden"
	// NotFound: nothing there, or nothing the person may see. HTTP 404.
	NotFound Kind = "not found"
	// Conflict: the action does not fit the present state. HTTP 409.
	Conflict Kind = "conflict"
	// Stale: what the person saw has changed since. HTTP 409.
	Stale Kind = "stale"
	// Unavailable: a cluster, provider or database does not answer. HTTP 503.
	Unavailable Kind = "unavailable"
)

// Field is one wrong input: Name is the form field, Message what to do.
type Field struct {
	Name    string
	Message string
}

// Error is a fault with its public message and, apart from it, its cause.
type Error struct {
	Kind   Kind
	Public string
	Fields []Field
	Cause  error
}

// New returns a fault of the given kind; public is shown to people as it is.
func New(kind Kind, public string) *Error { return &Error{Kind: kind, Public: public} }

// Newf is New with a format. Arguments must be fit to be shown.
func Newf(kind Kind, format string, args ...any) *Error {
	return New(kind, fmt.Sprintf(format, args...))
}

// Because attaches a cause for the log; it is never shown.
func (e *Error) Because(cause error) *Error {
	e.Cause = cause
	return e
}

// At adds a wrong input to the fault.
func (e *Error) At(field, format string, args ...any) *Error {
	e.Fields = append(e.Fields, Field{field, fmt.Sprintf(format, args...)})
	return e
}

func (e *Error) Error() string {
	s := string(e.Kind) + ": " + e.Public
	for _, f := range e.Fields {
		s += "; " + f.Name + ": " + f.Message
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Cause }

// OrNil returns nil for a fault that collected no wrong input, so that a check
// reads: err := New(Invalid, …); err.At(…); return err.OrNil().
func (e *Error) OrNil() error {
	if len(e.Fields) == 0 {
		return nil
	}
	return e
}

// KindOf returns the kind of the first fault in err's chain, or "".
func KindOf(err error) Kind {
	if e := As(err); e != nil {
		return e.Kind
	}
	return ""
}

// As returns the first fault in err's chain, or nil.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
