package slurm

import (
	"regexp"
	"strings"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// tres is one entry of a TRES list, such as cpu=64, mem=2T or gres/gpu:a100=8.
// Names are kept in lower case but for the GRES type, which Slurm compares exactly.
type tres struct {
	Name   string // cpu, mem, node, gres/gpu, gres/gpu:a100, …
	Amount int64  // MiB for mem
	NoEnd  bool   // -1, N or UNLIMITED: no limit
}

// readTRES reads a comma list of TRES. The colon of a typed one belongs to its name.
// Lists repeat in total what they say by type: gres/gpu=4,gres/gpu:a100=4 is 4, not 8 (see gpus).
func readTRES(text string) ([]tres, error) {
	if absent(text) {
		return nil, nil
	}
	var out []tres
	for _, part := range strings.Split(text, ",") {
		if part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return nil, fault.Newf(fault.Invalid, "%q is no TRES: write name=amount.", part)
		}
		t := tres{Name: tresName(name)}
		var err error
		switch {
		case unlimited(value):
			t.NoEnd = true
		case t.Name == "mem":
			t.Amount, err = readMemory(value)
		default:
			t.Amount, err = readAmount(value)
		}
		if err != nil {
			return nil, fault.Newf(fault.Invalid, "%s: %s", t.Name, fault.As(err).Public)
		}
		out = append(out, t)
	}
	return out, nil
}

// readAmount is readCount, with the K, M, G … that Slurm writes for large counts.
func readAmount(text string) (int64, error) {
	if n := len(text); n > 1 && strings.ContainsRune("KMGTP", rune(text[n-1])) {
		whole, err := readCount(text[:n-1])
		if err != nil {
			return 0, err
		}
		for range strings.IndexByte("KMGTP", text[n-1]) + 1 {
			whole *= 1024
		}
		if whole < 0 || whole > 1<<53 {
			return 0, fault.Newf(fault.Invalid, "%q is too large.", text)
		}
		return whole, nil
	}
	if text == "" {
		return 0, fault.New(fault.Invalid, "The amount is missing.")
	}
	return readCount(text)
}

// tresName folds what Slurm folds: GRES/gpu is gres/gpu.
func tresName(name string) string {
	base, kind, typed := strings.Cut(strings.TrimSpace(name), ":")
	base = strings.ToLower(base)
	if typed {
		return base + ":" + kind
	}
	return base
}

// tresSyntax is a GRES that may stand in a command's argument.
var tresSyntax = regexp.MustCompile(`^gres/[a-z0-9_]+(:[A-Za-z0-9_.-]+)?$`)

// poolKey of a GRES: the type, or the GRES name for all types together.
func poolKey(name string) fleet.PoolKey {
	base, kind, typed := strings.Cut(name, ":")
	if !typed {
		kind = strings.TrimPrefix(base, "gres/")
	}
	return fleet.PoolKey{Flavor: kind, Resource: name}
}

// accelerator reports the GRES that the portal knows as capacity.
func accelerator(name string) bool {
	base, _, _ := strings.Cut(name, ":")
	return base == "gres/gpu" || base == "gres/shard"
}

// gpus are the accelerators of a list, each unit once: by type where one is named,
// and the rest of the total without a type.
func gpus(all []tres) []fleet.Amount {
	total, typed := map[string]int64{}, map[string]int64{}
	var order []string
	for _, t := range all {
		if !accelerator(t.Name) || t.NoEnd || t.Amount <= 0 {
			continue
		}
		order = append(order, t.Name)
		if base, _, ok := strings.Cut(t.Name, ":"); ok {
			typed[base] += t.Amount
		}
		total[t.Name] += t.Amount
	}
	var out []fleet.Amount
	seen := map[string]bool{}
	for _, name := range order {
		n := total[name]
		if !strings.Contains(name, ":") {
			n -= typed[name]
		}
		if n > 0 && !seen[name] {
			out = append(out, fleet.Amount{Pool: poolKey(name), Amount: fleet.Count(n)})
		}
		seen[name] = true
	}
	return out
}
