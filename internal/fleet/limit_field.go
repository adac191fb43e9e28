package fleet

import "strings"

// Names of the fields that hold limits, as each scheduler's users write them.
const (
	NominalField   = "nominalQuota"
	BorrowingField = "borrowingLimit" // absent: no limit
	LendingField   = "lendingLimit"   // absent: all
	// TotalField is Slurm's one number for all that may be used: absent means no limit.
	TotalField = "GrpTRES"
)

// LimitPath is the Path of the field that holds one number of a pool's limit.
func LimitPath(pool PoolKey, field string) string { return pool.String() + " " + field }

// Names returns the pool and the name of the number that f holds; ok is false for
// any other field.
func (f Field) Names() (pool PoolKey, field string, ok bool) {
	part := strings.Fields(f.Path)
	if !f.Limit || len(part) != 3 {
		return PoolKey{}, "", false
	}
	return PoolKey{Flavor: part[0], Resource: part[1]}, part[2], true
}
