package slurm

import (
	"strings"

	"quartermaster/internal/fault"
)

// gres is one entry of a node's or job's GRES list: gpu:a100:8(S:0-1).
type gres struct {
	Name  string // gpu
	Type  string // a100; "" where the site names none
	Count int64
}

// tres is the name under which Slurm counts it.
func (g gres) tres() string {
	if g.Type == "" {
		return "gres/" + g.Name
	}
	return "gres/" + g.Name + ":" + g.Type
}

// readGRES reads name[:type]:count with sockets or indexes in brackets, entries
// separated by commas: "gpu:a100:8(S:0-1),shard:32", "gpu:1g.10gb:9(IDX:0-3,5-9)",
// "gres:gpu:2", "gres/gpu:h100:1". Absent words and "" are an empty list.
func readGRES(text string) ([]gres, error) {
	if absent(text) {
		return nil, nil
	}
	var out []gres
	for _, entry := range splitOutside(text) {
		bare, _, _ := strings.Cut(entry, "(")
		bare = strings.TrimSpace(bare)
		for _, prefix := range []string{"gres:", "gres/"} {
			bare = strings.TrimPrefix(bare, prefix)
		}
		parts := strings.Split(strings.ReplaceAll(bare, "=", ":"), ":")
		g := gres{Name: strings.ToLower(parts[0]), Count: 1}
		last := parts[len(parts)-1]
		n, err := readAmount(last)
		switch {
		case len(parts) == 1:
		case len(parts) == 2 && err == nil:
			g.Count = n
		case len(parts) == 2:
			g.Type = parts[1]
		case len(parts) == 3 && err == nil:
			g.Type, g.Count = parts[1], n
		default:
			return nil, fault.Newf(fault.Invalid, "%q is no GRES: write name:type:count.", entry)
		}
		if g.Name == "" {
			return nil, fault.Newf(fault.Invalid, "%q is no GRES: write name:type:count.", entry)
		}
		out = append(out, g)
	}
	return out, nil
}

// splitOutside splits at the commas that stand in no brackets.
func splitOutside(text string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range text {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth <= 0 {
				out, from = append(out, text[from:i]), i+1
			}
		}
	}
	return append(out, text[from:])
}
