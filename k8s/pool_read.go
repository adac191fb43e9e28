package k8s

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"quartermaster/internal/fleet"
)

// node is what pools are found from.
type node struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Unschedulable bool `json:"unschedulable"`
	} `json:"spec"`
	Status struct {
		Allocatable map[string]amount `json:"allocatable"`
		Capacity    map[string]amount `json:"capacity"`
		Conditions  []condition       `json:"conditions"`
	} `json:"status"`
}

// resources are what the node can allocate. One that says only what it has, as
// hand-written dumps do, can allocate that.
func (n *node) resources() map[string]amount {
	if len(n.Status.Allocatable) > 0 {
		return n.Status.Allocatable
	}
	return n.Status.Capacity
}

// resourceFlavor is a ResourceFlavor.
type resourceFlavor struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		NodeLabels map[string]string `json:"nodeLabels"`
	} `json:"spec"`
}

func (f *resourceFlavor) matches(n *node) bool {
	for key, value := range f.Spec.NodeLabels {
		if n.Metadata.Labels[key] != value {
			return false
		}
	}
	return true
}

// accelerators are the resource names that stand for accelerators: a whole name,
// or a prefix ending in *. Helpers of the same vendors (memory of a card, its
// monitor) are not accelerators.
var accelerators = []string{
	"nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-*", "amd.com/gpu", "amd.com/cpx_*", "amd.com/spx_*",
	"gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi", "google.com/tpu",
	"aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "aws.amazon.com/neurondevice",
	"huawei.com/Ascend*", "cambricon.com/mlu", "hygon.com/dcu", "metax-tech.com/gpu", "volcano.sh/vgpu-number", "qualcomm.com/qaic",
}

// IsAccelerator reports whether a resource name counts accelerators or parts of them.
func IsAccelerator(resource string) bool {
	return slices.ContainsFunc(accelerators, func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		return resource == pattern || open && strings.HasPrefix(resource, prefix)
	})
}

// readPools finds the pools: each flavor with each accelerator resource on the
// nodes that carry its labels. Nodes outside every flavor form pools without a
// flavor; there a ResourceQuota is all that can limit. Allocatable beats labels.
func readPools(nodes []node, flavors []resourceFlavor) []fleet.Pool {
	pools := map[fleet.PoolKey]*poolSum{}
	for i := range nodes {
		n := &nodes[i]
		names := flavorsOf(n, flavors)
		for resource, a := range n.resources() {
			m := a.measure()
			if !IsAccelerator(resource) || !m.Known || m.Amount.Sign() == 0 {
				continue
			}
			for _, flavor := range names {
				key := fleet.PoolKey{Flavor: flavor.Metadata.Name, Resource: resource}
				if pools[key] == nil {
					pools[key] = newPoolSum(key, flavor)
				}
				pools[key].add(n, m.Amount)
			}
		}
	}
	out := make([]fleet.Pool, 0, len(pools))
	for _, sum := range pools {
		out = append(out, sum.finish())
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key.String() < out[j].Key.String() })
	return out
}

func flavorsOf(n *node, flavors []resourceFlavor) []resourceFlavor {
	var names []resourceFlavor
	for _, flavor := range flavors {
		if flavor.matches(n) {
			names = append(names, flavor)
		}
	}
	if len(names) == 0 {
		return []resourceFlavor{{}}
	}
	return names
}

// poolSum adds up the nodes of one pool.
type poolSum struct {
	pool     fleet.Pool
	products map[string]bool
	units    map[fleet.Unit]bool
	notReady int
}

func newPoolSum(key fleet.PoolKey, flavor resourceFlavor) *poolSum {
	zero := fleet.Known(fleet.Quantity{})
	return &poolSum{
		pool:     fleet.Pool{Key: key, Labels: flavor.Spec.NodeLabels, Capacity: zero, Cards: zero, CPU: zero, Memory: zero},
		products: map[string]bool{}, units: map[fleet.Unit]bool{},
	}
}

func (s *poolSum) add(n *node, capacity fleet.Quantity) {
	p := &s.pool
	p.Nodes++
	p.Capacity = p.Capacity.Add(fleet.Known(capacity))
	p.CPU = p.CPU.Add(n.resources()["cpu"].measure())
	p.Memory = p.Memory.Add(n.resources()["memory"].measure())
	unit := unitOf(p.Key.Resource, n.Metadata.Labels)
	s.units[unit] = true
	p.Cards = p.Cards.Add(cardsOf(unit, n.Metadata.Labels))
	if product := productOf(n.Metadata.Labels); product != "" {
		s.products[product] = true
	}
	if ready, ok := conditionOf(n.Status.Conditions, "Ready"); n.Spec.Unschedulable || ok && ready.Status != "True" {
		s.notReady++
	}
}

func (s *poolSum) finish() fleet.Pool {
	p := s.pool
	p.Product = strings.Join(sortedKeys(s.products), ", ")
	p.Unit = fleet.Other
	if len(s.units) == 1 {
		for unit := range s.units {
			p.Unit = unit
		}
	} else {
		p.Notes = append(p.Notes, "the nodes mix whole cards and parts of cards")
	}
	if p.Unit == fleet.Share && p.Cards.Known {
		p.Notes = append(p.Notes, fmt.Sprintf("%s physical cards, %s shares: what is granted here are shares", p.Cards, p.Capacity))
	}
	if p.Key.Flavor != "" && len(p.Labels) == 0 {
		p.Notes = append(p.Notes, "the flavor has no node labels: it may use every node")
	}
	if p.Key.Flavor == "" {
		p.Notes = append(p.Notes, "in no flavor: only a ResourceQuota limits these nodes")
	}
	if slices, ok := computeSlices(p.Key.Resource); ok {
		p.Notes = append(p.Notes, fmt.Sprintf("each is a slice of a card: %s of its compute slices (7 on A100 and H100, 4 on A30)", slices))
	}
	if s.notReady > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d of %d nodes are not ready or cordoned; they count in the capacity", s.notReady, p.Nodes))
	}
	return p
}

// unitOf says what one unit is. With time slicing or MPS a card shows as many;
// with MIG's single strategy a slice shows under the name of a whole card.
// Source: labels of NVIDIA's GPU feature discovery.
func unitOf(resource string, labels map[string]string) fleet.Unit {
	product := labels["nvidia.com/gpu.product"]
	replicas, _ := strconv.Atoi(labels["nvidia.com/gpu.replicas"])
	switch {
	case strings.HasPrefix(resource, "nvidia.com/mig-"), resource == "nvidia.com/gpu" && strings.Contains(product, "-MIG-"):
		return fleet.MIG
	case strings.HasSuffix(resource, ".shared"), resource == "nvidia.com/gpu" && (replicas > 1 || strings.HasSuffix(product, "-SHARED")):
		return fleet.Share
	case resource == "volcano.sh/vgpu-number", strings.HasPrefix(resource, "amd.com/cpx_"), strings.HasSuffix(resource, "neuroncore"):
		return fleet.Other
	}
	return fleet.Card
}

// computeSlices is the number of compute slices in the name of a MIG profile: 2 of mig-2g.10gb.
func computeSlices(resource string) (n string, ok bool) {
	profile, ok := strings.CutPrefix(resource, "nvidia.com/mig-")
	if !ok {
		return "", false
	}
	n, _, ok = strings.Cut(profile, "g.")
	return n, ok
}

// cardsOf is the number of physical cards of one node, where its labels tell.
// The count label of a node in MIG mode counts slices, so it tells nothing there.
func cardsOf(unit fleet.Unit, labels map[string]string) fleet.Measure {
	if unit != fleet.Card && unit != fleet.Share {
		return fleet.Unknown
	}
	return amount(labels["nvidia.com/gpu.count"]).measure()
}

func productOf(labels map[string]string) string {
	for _, key := range []string{"nvidia.com/gpu.product", "amd.com/gpu.product-name", "amd.com/gpu.device-id", "gpu.intel.com/product", "cloud.google.com/gke-accelerator"} {
		if labels[key] != "" {
			return labels[key]
		}
	}
	return ""
}

// flavorCapacities adds up every allocatable resource of each flavor's nodes, cpu
// and memory too. Quotas are judged by it; pools are made of accelerators alone.
func flavorCapacities(nodes []node, flavors []resourceFlavor) []fleet.Amount {
	sums := map[fleet.PoolKey]fleet.Quantity{}
	for i := range nodes {
		for _, flavor := range flavorsOf(&nodes[i], flavors) {
			if flavor.Metadata.Name == "" {
				continue
			}
			for resource, a := range nodes[i].resources() {
				if m := a.measure(); m.Known {
					key := fleet.PoolKey{Flavor: flavor.Metadata.Name, Resource: resource}
					sums[key] = sums[key].Add(m.Amount)
				}
			}
		}
	}
	out := make([]fleet.Amount, 0, len(sums))
	for key, sum := range sums {
		out = append(out, fleet.Amount{Pool: key, Amount: sum})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Pool.String() < out[j].Pool.String() })
	return out
}

func sortedKeys(set map[string]bool) []string {
	keys := make([]string, 0, len(set))
	for key := range set {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
