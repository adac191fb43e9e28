package portal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"quartermaster/internal/fault"
)

// ParseOrganisation reads an organisation file. Keys that it does not know are
// refused, so that a misspelt one is not silently without effect. A byte order
// mark and CRLF line ends are tolerated. The fields of the fault name line and entry.
func ParseOrganisation(file []byte) (Organisation, error) {
	file = bytes.TrimPrefix(file, []byte("\xef\xbb\xbf"))
	file = bytes.ReplaceAll(file, []byte("\r\n"), []byte("\n"))
	var o Organisation
	d := yaml.NewDecoder(bytes.NewReader(file))
	d.KnownFields(true)
	if err := d.Decode(&o); err != nil {
		if errors.Is(err, io.EOF) {
			return o, fault.New(fault.Invalid, "The organisation file is empty.").At("file", "Name at least one team.")
		}
		return o, yamlFault(err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return o, fault.New(fault.Invalid, "The organisation file holds more than one document.").At("file", "Keep everything in one document: remove the --- lines.")
	}
	problems := checkOrganisation(o)
	if len(problems) == 0 && len(o.Teams) == 0 {
		// It would take every role from everybody.
		return o, fault.New(fault.Invalid, "The organisation file is empty.").At("file", "Name at least one team.")
	}
	if len(problems) == 0 {
		return o, nil
	}
	lines := entryLines(file)
	f := fault.New(fault.Invalid, "The organisation file is not right.")
	for _, p := range problems {
		where := p.where()
		if n := lines[p.section]; p.index < len(n) {
			where = fmt.Sprintf("line %d, %s", n[p.index], where)
		}
		f.At(where, "%s", p.message)
	}
	return o, f
}

// knownType is how the decoder names Go types in its messages.
var knownType = regexp.MustCompile(` (in|into) (type )?[\w.\[\]*]+$`)

func yamlFault(err error) error {
	f := fault.New(fault.Invalid, "The organisation file cannot be read.")
	var types *yaml.TypeError
	if !errors.As(err, &types) {
		what := strings.TrimPrefix(err.Error(), "yaml: ")
		if own := fault.As(err); own != nil {
			what = own.Public
		}
		return f.At("file", "%s", what)
	}
	for _, line := range types.Errors {
		where, what, ok := strings.Cut(line, ": ")
		if !ok {
			where, what = "file", line
		}
		what = knownType.ReplaceAllString(what, "")
		if strings.HasPrefix(what, "field ") && strings.HasSuffix(what, " not found") {
			what = "there is no " + strings.TrimSuffix(strings.TrimPrefix(what, "field "), " not found") + " here; see the demonstration organisation for what there is"
		}
		f.At(where, "%s", what)
	}
	return f
}

// entryLines gives the line of each entry of each section.
func entryLines(file []byte) map[string][]int {
	var doc yaml.Node
	out := map[string][]int{}
	if yaml.Unmarshal(file, &doc) != nil || len(doc.Content) == 0 {
		return out
	}
	top := doc.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		for _, entry := range top[i+1].Content {
			out[top[i].Value] = append(out[top[i].Value], entry.Line)
		}
	}
	return out
}
