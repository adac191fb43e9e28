package k8s

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of one document, against files that unfold without end.
const (
	maxDepth  = 64
	maxValues = 500_000
)

// located is a value of a document with the line where it stands, and its items' lines where
// it is a list of objects.
type located struct {
	value any
	line  int
	items []int
}

// lineError is something wrong at a line of the file.
type lineError struct {
	line int
	text string
}

func (e *lineError) Error() string { return e.text }

// parseYAML reads a document into JSON values. Numbers keep their text, so that
// none is rounded. line is where the document begins.
func parseYAML(c chunk) (out located, err error) {
	defer func() { // the parser has been seen to panic on broken input
		if r := recover(); r != nil {
			err = &lineError{c.line, "it is no YAML"}
		}
	}()
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(c.text), &node); err != nil {
		return located{}, yamlError(err, c.line)
	}
	if len(node.Content) == 0 {
		return located{line: c.line}, nil
	}
	root := node.Content[0]
	u := &unfolding{first: c.line}
	out.line = u.line(root)
	if out.value, err = u.value(root, 0); err != nil {
		return located{}, err
	}
	if root.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(root.Content); i += 2 {
			if root.Content[i].Value == "items" && root.Content[i+1].Kind == yaml.SequenceNode {
				for _, item := range root.Content[i+1].Content {
					out.items = append(out.items, u.line(item))
				}
			}
		}
	}
	return out, nil
}

// yamlError makes the parser's line one of the file.
func yamlError(err error, first int) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
		return &lineError{first + line - 1, text}
	}
	return &lineError{first, text}
}

// unfolding turns nodes into values and counts them, aliases included.
type unfolding struct{ first, values int }

func (u *unfolding) line(n *yaml.Node) int { return u.first + n.Line - 1 }

func (u *unfolding) value(n *yaml.Node, depth int) (any, error) {
	if u.values++; u.values > maxValues || depth > maxDepth {
		return nil, &lineError{u.line(n), "it is nested or repeated beyond what objects of a cluster are"}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return u.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, err := u.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.MappingNode:
		return u.mapping(n, depth)
	}
	return u.scalar(n)
}

func (u *unfolding) mapping(n *yaml.Node, depth int) (any, error) {
	out := map[string]any{}
	var merged []any
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		v, err := u.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if key.ShortTag() == "!!merge" {
			merged = append(merged, v)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			return nil, &lineError{u.line(key), "a key is not text"}
		}
		if _, twice := out[key.Value]; twice {
			return nil, &lineError{u.line(key), fmt.Sprintf("%s stands twice", key.Value)}
		}
		out[key.Value] = v
	}
	for _, m := range merged {
		all, ok := m.([]any)
		if !ok {
			all = []any{m}
		}
		for _, one := range all {
			from, _ := one.(map[string]any)
			for k, v := range from {
				if _, own := out[k]; !own {
					out[k] = v
				}
			}
		}
	}
	return out, nil
}

func (u *unfolding) scalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return b, err
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value), nil
		}
		var whole int64
		if n.ShortTag() == "!!int" && n.Decode(&whole) == nil {
			return json.Number(fmt.Sprint(whole)), nil
		}
		return n.Value, nil // .5, 1_000: as text, for the quantity parser to judge
	}
	return n.Value, nil
}

// parseJSON reads the JSON values of a file one after the other.
func parseJSON(text string) ([]located, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var out []located
	line, seen := 1, 0
	here := func() int {
		at := int(d.InputOffset())
		for at < len(text) && strings.ContainsRune(" \n\t\r,:", rune(text[at])) {
			at++
		}
		line += strings.Count(text[seen:at], "\n")
		seen = at
		return line
	}
	for {
		v := located{line: here()}
		var raw json.RawMessage
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			at := min(int(d.InputOffset()), len(text))
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) {
				at = min(int(syntax.Offset), len(text))
			}
			return out, &lineError{1 + strings.Count(text[:at], "\n"), strings.TrimPrefix(err.Error(), "json: ")}
		}
		if err := plainJSON(raw, &v); err != nil {
			return out, err
		}
		out = append(out, v)
	}
}

// plainJSON decodes one value; the lines of a list's items are found by decoding them one by one.
func plainJSON(raw json.RawMessage, v *located) error {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&v.value); err != nil {
		return &lineError{v.line, strings.TrimPrefix(err.Error(), "json: ")}
	}
	d = json.NewDecoder(strings.NewReader(string(raw)))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil
		}
		if key != "items" {
			var skipped json.RawMessage
			if d.Decode(&skipped) != nil {
				return nil
			}
			continue
		}
		if open, err := d.Token(); err != nil || open != json.Delim('[') {
			return nil
		}
		line, seen := v.line, 0
		for d.More() {
			at := int(d.InputOffset())
			for at < len(raw) && strings.ContainsRune(" \n\t\r,", rune(raw[at])) {
				at++
			}
			line += strings.Count(string(raw[seen:at]), "\n")
			seen = at
			v.items = append(v.items, line)
			var skipped json.RawMessage
			if d.Decode(&skipped) != nil {
				return nil
			}
		}
		return nil
	}
	return nil
}
