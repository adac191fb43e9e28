package fleet_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// What Kubernetes accepts is read with the right value; what it accepts and then
// turns silently into something else is refused.
func TestParseQuantity(t *testing.T) {
	for in, want := range map[string]struct {
		text string // "" = refused
		up   int64  // rounded up to whole units
	}{
		"0": {"0", 0}, "12": {"12", 12}, "12000m": {"12", 12}, "1k": {"1000", 1000}, "1.5k": {"1500", 1500}, "500m": {"500m", 1}, "0.5": {"500m", 1}, ".5": {"500m", 1},
		"5.": {"5", 5}, "+4": {"4", 4}, "-1": {"-1", -1}, "-0": {"0", 0}, "1e3": {"1000", 1000}, "1E3": {"1000", 1000}, "1n": {"1n", 1}, "0.1n": {"1n", 1},
		"1Gi": {"1Gi", 1 << 30}, "1024Mi": {"1Gi", 1 << 30}, "3072Mi": {"3Gi", 3 << 30}, "1P": {"1000000000000000", 1e15}, "9223372036854775": {"9223372036854775", 9223372036854775},
		"1E": {}, "1Ei": {}, "9E": {}, "10E": {}, "1e19": {}, "9223372036854775807": {}, "9223372036854775808": {}, "9223372036854776": {},
		"": {}, " 3": {}, "3 ": {}, "1K": {}, "1GB": {}, "1gi": {}, "1ki": {}, "1 Gi": {}, "0x10": {}, "1_000": {}, "٣": {}, "1,5": {}, "NaN": {}, "Inf": {}, "100%": {}, "--1": {},
	} {
		t.Run(in, func(t *testing.T) {
			got, err := fleet.ParseQuantity(in)
			if want.text == "" {
				require.Equal(t, fault.Invalid, fault.KindOf(err), "read as %s", got)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, want.text, got.String())
			assert.Equal(t, want.up, got.Int64())
		})
	}
}

func TestQuantitiesCompareAsNumbers(t *testing.T) {
	for _, c := range []struct {
		a, b string
		cmp  int
	}{{"12", "12000m", 0}, {"4Gi", "4096Mi", 0}, {"1k", "1000", 0}, {"1G", "1Gi", -1}, {"0.5", "500m", 0}, {"4.1Gi", "4402341478400m", 0}, {"9", "10", -1}, {"-1", "0", -1}} {
		a, b := fleet.MustQuantity(c.a), fleet.MustQuantity(c.b)
		assert.Equal(t, c.cmp, a.Cmp(b), "%s %s", c.a, c.b)
		assert.Equal(t, -c.cmp, b.Cmp(a))
	}
}

func TestDisplayIsWhatPeopleRead(t *testing.T) {
	for _, c := range [][3]string{
		{"12000m", "nvidia.com/gpu", "12"}, {"1k", "nvidia.com/gpu", "1000"}, {"500m", "cpu", "500m"}, {"1n", "cpu", "1m"}, {"0", "cpu", "0"},
		{"64Gi", "memory", "64 GiB"}, {"1536Mi", "memory", "1.5 GiB"}, {"0", "memory", "0 B"}, {"10Ti", "requests.storage", "10 TiB"},
	} {
		assert.Equal(t, c[2], fleet.MustQuantity(c[0]).Display(c[1]), "%s %s", c[0], c[1])
	}
}

// Unknown is not 0, in arithmetic, in text and in JSON.
func TestUnknownIsNotZero(t *testing.T) {
	zero := fleet.Known(fleet.Quantity{})
	assert.False(t, zero.Equal(fleet.Unknown))
	assert.False(t, zero.Add(fleet.Unknown).Known)
	assert.False(t, fleet.Unknown.Sub(zero).Known)
	assert.Equal(t, []string{"0", "unknown"}, []string{zero.String(), fleet.Unknown.String()})
	for _, m := range []fleet.Measure{zero, fleet.Unknown, fleet.Known(fleet.Count(7))} {
		raw, err := json.Marshal(m)
		require.NoError(t, err)
		var back fleet.Measure
		require.NoError(t, json.Unmarshal(raw, &back))
		assert.True(t, m.Equal(back), string(raw))
	}
}

func TestShareIsExact(t *testing.T) {
	share, ok := fleet.Count(1024).ShareOf(fleet.Count(32768))
	require.True(t, ok)
	assert.InDelta(t, 3.125, share, 1e-12)
	_, ok = fleet.Count(1).ShareOf(fleet.Quantity{})
	assert.False(t, ok)
}

// Whatever is read survives writing and reading as text and as JSON, and sums are exact.
func TestQuantityRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[+-]?[0-9]{1,14}(\.[0-9]{1,3})?(m|k|M|Ki|Mi|Gi|e2)?`).Draw(t, "quantity")
		a, err := fleet.ParseQuantity(s)
		if err != nil {
			return // too large
		}
		b, err := fleet.ParseQuantity(a.String())
		require.NoError(t, err)
		require.True(t, a.Equal(b), "%s → %s", s, a)
		raw, err := json.Marshal(a)
		require.NoError(t, err)
		var c fleet.Quantity
		require.NoError(t, json.Unmarshal(raw, &c))
		require.True(t, a.Equal(c))
		n := fleet.Count(rapid.Int64Range(0, 1e12).Draw(t, "n"))
		require.True(t, a.Add(n).Sub(n).Equal(a))
	})
}

func FuzzParseQuantity(f *testing.F) {
	for _, s := range []string{"12", "1e3", "4.1Gi", "-0", "1E", ".5", "+4", "9223372036854775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q, err := fleet.ParseQuantity(s)
		if err != nil {
			return
		}
		again, err := fleet.ParseQuantity(q.String())
		require.NoError(t, err)
		require.True(t, q.Equal(again))
	})
}
