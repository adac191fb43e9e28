package web

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// id is the element id of a field: its name with the dots of "line.0.pool" made safe.
func (f Field) id() string { return "f-" + strings.ReplaceAll(f.Name, ".", "-") }

func (f Field) kind() string {
	if f.Type == "" {
		return "text"
	}
	return f.Type
}

func (f Field) rows() string { return strconv.Itoa(f.Rows) }

func (f Field) complete() string {
	if f.Complete == "" {
		return "off"
	}
	return f.Complete
}

// notes ties hint and error to the input for screen readers.
func (f Field) notes() templ.Attributes {
	var ids []string
	a := templ.Attributes{}
	if f.Error != "" {
		ids = append(ids, f.id()+"-error")
		a["aria-invalid"] = "true"
	}
	if f.Hint != "" {
		ids = append(ids, f.id()+"-hint")
	}
	if len(ids) > 0 {
		a["aria-describedby"] = strings.Join(ids, " ")
	}
	return a
}

func (f Field) limits() templ.Attributes {
	a := templ.Attributes{}
	if f.Min != "" {
		a["min"] = f.Min
	}
	if f.Max != "" {
		a["max"] = f.Max
	}
	if f.kind() == "number" {
		a["step"] = "1"
	}
	if f.kind() == "number" || f.Digits {
		a["inputmode"] = "numeric"
	}
	return a
}
