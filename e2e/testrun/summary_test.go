package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each case is a real module that the real go test runs.
func TestSummaryOfARealRun(t *testing.T) {
	const good = "func TestGood(t *testing.T) { t.Run(\"inner\", func(t *testing.T) { t.Log(\"quiet\") }) }\n"
	cases := map[string]struct {
		files map[string]string
		last  string
		says  []string
		not   []string
	}{
		"all pass": {
			files: map[string]string{"a/a_test.go": "package a\nimport \"testing\"\n" + good, "empty/e.go": "package empty\n"},
			last:  "2 passed, 0 failed", says: []string{"ok   m/a: 2 passed"}, not: []string{"quiet"},
		},
		"one fails": {
			files: map[string]string{"a/a_test.go": "package a\nimport \"testing\"\n" + good + "func TestBad(t *testing.T) { t.Error(\"seven is not eight\") }\n"},
			last:  "2 passed, 1 failed", says: []string{"FAIL m/a: TestBad (fail)", "seven is not eight"}, not: []string{"quiet"},
		},
		"a skip counts as failed": {
			files: map[string]string{"a/a_test.go": "package a\nimport \"testing\"\n" + good + "func TestLazy(t *testing.T) { t.Skip(\"no database\") }\n"},
			last:  "2 passed, 1 failed", says: []string{"TestLazy (skip)", "no database"},
		},
		"a package that does not build": {
			files: map[string]string{"a/a_test.go": "package a\nimport \"testing\"\n" + good, "b/b.go": "package b\nvar x int = \"text\"\n", "b/b_test.go": "package b\nimport \"testing\"\n" + good},
			last:  "2 passed, 1 failed", says: []string{"FAIL m/b: the package itself", "b.go:2"},
		},
		"a panic": {
			files: map[string]string{"a/a_test.go": "package a\nimport (\"testing\"; \"os\")\n" + good + "func TestGone(t *testing.T) { os.Exit(3) }\n"},
			last:  "2 passed, 1 failed", says: []string{"FAIL m/a"},
		},
		"no test at all": {
			files: map[string]string{"a/a.go": "package a\n"},
			last:  "0 passed, 1 failed",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.files["go.mod"] = "module m\n\ngo 1.26\n"
			for file, content := range c.files {
				require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644))
			}
			cmd := exec.Command("go", "test", "-json", "./...")
			cmd.Dir = dir
			events, runErr := cmd.Output()
			var out strings.Builder
			s := newSummary(&out)
			require.NoError(t, s.read(strings.NewReader(string(events))))
			ok := s.finish(runErr == nil)
			require.Equal(t, strings.HasSuffix(c.last, " 0 failed"), ok)
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			require.Equal(t, c.last, lines[len(lines)-1], out.String())
			for _, want := range c.says {
				require.Contains(t, out.String(), want)
			}
			for _, unwanted := range c.not {
				require.NotContains(t, out.String(), unwanted)
			}
		})
	}
}
