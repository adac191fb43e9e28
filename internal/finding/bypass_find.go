package finding

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"quartermaster/internal/fleet"
)

// strayQueues finds LocalQueues of managed namespaces that lead to a queue which is
// not the namespace's own: what is sent there is not held to what was granted.
func (c *Comparison) strayQueues(places []Place, leads map[string]string) {
	carried := map[string]string{}      // queue → binding
	own := map[string]map[string]bool{} // namespace → queues bound to it
	locals := map[string]bool{}         // LocalQueues of bindings, judged by themselves
	bindings := map[string]string{}     // namespace → binding
	for _, p := range places {
		b := p.Desired.Binding
		if b.Namespace == "" {
			continue
		}
		carried[b.ClusterQueue] = b.ID
		if own[b.Namespace] == nil {
			own[b.Namespace] = map[string]bool{}
		}
		own[b.Namespace][b.ClusterQueue] = true
		bindings[b.Namespace] = b.ID
		locals[b.Namespace+"/"+b.LocalQueue] = true
	}
	for _, local := range slices.Sorted(maps.Keys(leads)) {
		namespace, name, _ := strings.Cut(local, "/")
		to := leads[local]
		if own[namespace] == nil || own[namespace][to] || locals[local] {
			continue
		}
		s := Seen{Key: Key{fleet.ObjectRef{Kind: "LocalQueue", Namespace: namespace, Name: name}, FieldQueue}, Kind: Bypass, Severity: High, Owner: PlatformAdmin,
			BindingID: bindings[namespace], Live: text(to), Note: "It leads to a queue that no project is bound to. What is sent there is held to none of the granted limits."}
		if _, bound := carried[to]; bound {
			s.Severity, s.Note = Medium, "It leads to the queue of another project, and counts against that one's limits."
		}
		c.Seen = append(c.Seen, s)
	}
}

// loose finds accelerators that are held outside of every queue.
func (c *Comparison) loose(o fleet.Observation) {
	if c.noLoose {
		return
	}
	type held struct {
		fleet.Loose
		sum   fleet.Quantity
		n     int
		nodes []string
	}
	all := map[Key]*held{}
	for _, l := range o.Loose {
		key := Key{l.Object, l.Resource + " outside of every queue"}
		h := all[key]
		if h == nil {
			h = &held{Loose: l}
			all[key] = h
		}
		h.sum, h.n = h.sum.Add(l.Amount), h.n+1
		if l.Node != "" && !slices.Contains(h.nodes, l.Node) {
			h.nodes = append(h.nodes, l.Node)
		}
		if l.Since != nil && (h.Since == nil || l.Since.Before(*h.Since)) {
			h.Since = l.Since
		}
	}
	keys := slices.Collect(maps.Keys(all))
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Object.String(), b.Object.String()), cmp.Compare(a.Field, b.Field))
	})
	for _, key := range keys {
		h := all[key]
		slices.Sort(h.nodes)
		where := ""
		if len(h.nodes) > 0 {
			where = " on " + strings.Join(h.nodes[:min(3, len(h.nodes))], ", ")
			if len(h.nodes) > 3 {
				where += " and others"
			}
		}
		c.Seen = append(c.Seen, Seen{Key: key, Kind: Bypass, Severity: High, Owner: CapacityManager, Pool: h.Pool, Live: text(h.sum.String()),
			Manager: h.By, At: h.Since, Note: count(h.n, "pod") + where + ". No queue counts what " + key.Object.String() + " holds."})
	}
}
