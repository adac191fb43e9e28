package fleet

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
