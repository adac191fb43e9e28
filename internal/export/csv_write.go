// Package export writes what people take away: CSV files that any spreadsheet
// reads without running anything in them. It is called by the use cases that
// stream the record; it writes to an io.Writer and never reads a store.
package export

import (
	"bufio"
	"io"
	"strings"
	"time"
)

// CSV writes rows as RFC 4180 says: comma, CRLF, quotes doubled; UTF-8 without a
// byte order mark. Text that a spreadsheet would take for a formula gets a leading apostrophe.
type CSV struct {
	w   *bufio.Writer
	err error
}

// NewCSV writes to w; nothing is kept but a buffer of 64 KiB.
func NewCSV(w io.Writer) *CSV { return &CSV{w: bufio.NewWriterSize(w, 64<<10)} }

// Row writes one row. The first error stays and is returned by every later call.
func (c *CSV) Row(cells ...string) error {
	for i, cell := range cells {
		if i > 0 {
			c.put(",")
		}
		c.cell(cell)
	}
	c.put("\r\n")
	return c.err
}

// Flush writes what is buffered.
func (c *CSV) Flush() error {
	if c.err == nil {
		c.err = c.w.Flush()
	}
	return c.err
}

func (c *CSV) cell(s string) {
	s = strings.ToValidUTF8(s, "\uFFFD")
	formula := isFormula(s)
	if !formula && !strings.ContainsAny(s, ",\"\r\n") && s == strings.TrimSpace(s) {
		c.put(s)
		return
	}
	c.put(`"`)
	if formula {
		c.put("'")
	}
	c.put(strings.ReplaceAll(s, `"`, `""`))
	c.put(`"`)
}

func (c *CSV) put(s string) {
	if c.err == nil {
		_, c.err = c.w.WriteString(s)
	}
}

// isFormula reports whether a spreadsheet could run s: it begins with =, +, -, @,
// TAB or CR and is not simply a negative number.
// Source: OWASP, CSV Injection.
func isFormula(s string) bool {
	return s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) && !isNegative(s)
}

// isNegative: a minus sign, digits, and at most one decimal point between digits.
func isNegative(s string) bool {
	whole, fraction, dotted := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	return s[0] == '-' && digits(whole) && (!dotted || digits(fraction))
}

func digits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}

// Time writes a moment as RFC 3339 in UTC; the zero time is empty.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.999999Z")
}
