package slurm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// nodesAnswer is what "sinfo --json" and slurmrestd answer.
type nodesAnswer struct {
	Errors []answerError     `json:"errors"`
	Nodes  []json.RawMessage `json:"nodes"`
}

type nodeJSON struct {
	Name       string `json:"name"`
	GRES       string `json:"gres"`
	GRESUsed   string `json:"gres_used"`
	State      words  `json:"state"`
	Flags      words  `json:"state_flags"`
	Partitions words  `json:"partitions"`
	CPUs       number `json:"cpus"`
	Memory     number `json:"real_memory"` // MiB
}

// machine is one node with its accelerators.
type machine struct {
	Name       string
	Partitions []string
	Down       bool // down, drained or failed: allocates nothing now
	CPUs       number
	Memory     number // MiB
	Has, Used  []gres
}

// readNodes reads the nodes; one that cannot be read is named in problems and never drops the others.
func readNodes(text []byte) (nodes []machine, problems []string, err error) {
	var answer nodesAnswer
	if err := decode("sinfo", text, &answer); err != nil {
		return nil, nil, err
	}
	if err := refused("sinfo", answer.Errors); err != nil {
		return nil, nil, err
	}
	if answer.Nodes == nil {
		return nil, nil, fault.New(fault.Unavailable, "Slurm's answer to sinfo has no list of nodes.")
	}
	for i, raw := range answer.Nodes {
		var n nodeJSON
		if err := json.Unmarshal(raw, &n); err != nil {
			problems = append(problems, fmt.Sprintf("Node %d of the list could not be read.", i+1))
			continue
		}
		m := machine{Name: n.Name, Partitions: n.Partitions, CPUs: n.CPUs, Memory: n.Memory, Down: down(append(slices.Clone(n.State), n.Flags...))}
		var bad error
		if m.Has, bad = readGRES(n.GRES); bad == nil {
			m.Used, bad = readGRES(n.GRESUsed)
		}
		if bad != nil {
			problems = append(problems, fmt.Sprintf("The GRES of node %s could not be read: %s", n.Name, fault.As(bad).Public))
			continue
		}
		nodes = append(nodes, m)
	}
	return nodes, problems, nil
}

func down(states []string) bool {
	return slices.ContainsFunc(states, func(s string) bool {
		switch strings.ToUpper(s) {
		case "DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "NOT_RESPONDING", "FUTURE":
			return true
		}
		return false
	})
}

// poolsOf makes a pool of each accelerator GRES, and of each of its types where there
// are several and Slurm tracks them: only what it tracks can be limited.
func poolsOf(nodes []machine, tracks func(tres string) bool) (pools []fleet.Pool, problems []string) {
	sums := map[string]*poolSum{}
	types := map[string]map[string]bool{}
	for _, n := range nodes {
		seen := map[string]bool{}
		for _, g := range n.Has {
			base := "gres/" + g.Name
			if !accelerator(base) || g.Count == 0 {
				continue
			}
			if types[base] == nil {
				types[base] = map[string]bool{}
			}
			types[base][g.Type] = true
			for _, name := range []string{base, g.tres()} {
				if sums[name] == nil {
					sums[name] = &poolSum{partitions: map[string]bool{}}
				}
				sums[name].add(n, g, !seen[name])
				seen[name] = true
				if g.Type == "" {
					break // both names are one
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		base, kind, typed := strings.Cut(name, ":")
		switch {
		case typed && len(types[base]) == 1:
			continue // the same hardware as all types together
		case !tracks(name):
			problems = append(problems, fmt.Sprintf("AccountingStorageTRES does not name %s: Slurm cannot limit it.", name))
			continue
		}
		p := sums[name].pool(name)
		switch {
		case typed:
			p.Product = kind
		case len(types[base]) > 1:
			p.Product = "any " + strings.ToUpper(strings.TrimPrefix(base, "gres/"))
		default:
			p.Product = slices.Collect(maps.Keys(types[base]))[0]
		}
		pools = append(pools, p)
	}
	return pools, problems
}

// poolSum adds up the nodes of one pool.
type poolSum struct {
	units, down, cpus, memory int64
	nodes                     int
	partitions                map[string]bool
	cards, slices             bool
}

func (s *poolSum) add(n machine, g gres, first bool) {
	s.units += g.Count
	if n.Down {
		s.down += g.Count
	}
	if fleet.GRESUnit(g.Type) == fleet.MIG {
		s.slices = true
	} else {
		s.cards = true
	}
	if !first {
		return
	}
	s.nodes++
	s.cpus, s.memory = s.cpus+n.CPUs.Value, s.memory+n.Memory.Value
	for _, p := range n.Partitions {
		s.partitions[p] = true
	}
}

func (s *poolSum) pool(name string) fleet.Pool {
	p := fleet.Pool{Key: poolKey(name), Capacity: fleet.Known(fleet.Count(s.units)), Unit: s.unit(name), Nodes: s.nodes,
		CPU: fleet.Known(fleet.Count(s.cpus)), Memory: fleet.Known(fleet.Bytes(s.memory << 20))}
	if p.Unit == fleet.Card {
		p.Cards = p.Capacity
	}
	if names := slices.Sorted(maps.Keys(s.partitions)); len(names) > 0 {
		p.Labels = map[string]string{"partition": strings.Join(names, ",")}
		p.Notes = append(p.Notes, "reached by partition "+strings.Join(names, ", ")+"; an account's limit holds in all partitions together")
	}
	if s.down > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d of them are on nodes that are down or drained", s.down))
	}
	if s.cards && s.slices {
		p.Notes = append(p.Notes, "counts whole cards and MIG devices alike")
	}
	return p
}

func (s *poolSum) unit(name string) fleet.Unit {
	switch {
	case strings.HasPrefix(name, "gres/shard"):
		return fleet.Share
	case s.cards && s.slices:
		return fleet.Other
	case s.slices:
		return fleet.MIG
	}
	return fleet.Card
}
