package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"quartermaster/internal/dev/demo"
)

// labOrganisation writes the demonstration's organisation without its simulated
// clusters and their pools: what is connected then is real.
func labOrganisation(t testing.TB) string {
	t.Helper()
	var all map[string]any
	require.NoError(t, yaml.Unmarshal(demo.Org, &all))
	delete(all, "clusters")
	delete(all, "pools")
	raw, err := yaml.Marshal(all)
	require.NoError(t, err)
	file := filepath.Join(scratch, "org.yaml")
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	return file
}
