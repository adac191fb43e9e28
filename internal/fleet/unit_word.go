package fleet

import "regexp"

var migProfile = regexp.MustCompile(`^\d+g\.\d+gb`)

// GRESUnit is what one GPU of a Slurm GRES type is: types named like 1g.10gb are slices.
func GRESUnit(kind string) Unit {
	if migProfile.MatchString(kind) {
		return MIG
	}
	return Card
}

// Words is the unit behind an amount of n: "1 GPU", "12 GPUs", "3 MIG devices".
func (u Unit) Words(n Quantity) string {
	one, many := "unit", "units"
	switch u {
	case Card:
		one, many = "GPU", "GPUs"
	case MIG:
		one, many = "MIG device", "MIG devices"
	case Share:
		one, many = "time share", "time shares"
	}
	if n.Equal(Count(1)) {
		return one
	}
	return many
}
