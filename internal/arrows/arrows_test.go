// Package arrows holds no code: its tests read the imports of every package and
// hold them against the layers of the design, so that an arrow which points the
// wrong way fails before anybody has to notice it in review.
package arrows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "quartermaster"

// layer is a set of packages and what they may import of ours. Packages may
// always import others of their own layer when inside is set.
type layer struct {
	name     string
	packages []string // "x" is x itself, "x/..." is x and all below
	may      []string // names of layers
	inside   bool
}

// layers is the design's picture as a table. A package belongs to the first layer
// that names it.
//
//	cmd → handlers, jobs, db, k8s, slurm, mail → portal → nouns → base → standard library
//	      handlers → web → nouns
var layers = []layer{
	{name: "base", packages: []string{"internal/fault", "internal/work", "internal/paths"}},
	{name: "nouns", packages: []string{"internal/approval", "internal/control", "internal/export", "internal/finding", "internal/fleet", "internal/ledger",
		"internal/notice", "internal/org", "internal/policy", "internal/request", "internal/signin", "internal/usage"}, may: []string{"base"}, inside: true},
	{name: "seal", packages: []string{"internal/seal"}, may: []string{"base"}},
	{name: "config", packages: []string{"internal/config"}, may: []string{"nouns", "base"}},
	{name: "portal", packages: []string{"internal/portal"}, may: []string{"nouns", "base", "seal"}},
	{name: "assets", packages: []string{"assets"}},
	{name: "web", packages: []string{"web/..."}, may: []string{"nouns", "base", "assets"}, inside: true},
	{name: "handlers", packages: []string{"handlers/..."}, may: []string{"web", "portal", "nouns", "base", "assets"}, inside: true},
	{name: "jobs", packages: []string{"jobs/..."}, may: []string{"portal", "nouns", "base"}, inside: true},
	{name: "test database", packages: []string{"db/dbtest", "db/schemadump"}, may: []string{"db", "dev", "portal", "nouns"}, inside: true},
	{name: "db", packages: []string{"db/..."}, may: []string{"portal", "nouns", "base", "seal"}},
	{name: "k8s", packages: []string{"k8s/..."}, may: []string{"portal", "nouns", "base"}, inside: true},
	{name: "slurm", packages: []string{"slurm/..."}, may: []string{"portal", "nouns", "base"}, inside: true},
	{name: "mail", packages: []string{"mail/..."}, may: []string{"portal", "nouns", "base"}, inside: true},
	{name: "dev", packages: []string{"internal/dev/..."}, may: []string{"portal", "nouns", "base"}, inside: true},
	{name: "cmd", packages: []string{"cmd/..."}, may: []string{"handlers", "jobs", "db", "k8s", "slurm", "mail", "dev", "web", "portal", "nouns", "base", "seal", "config", "assets"}, inside: true},
	{name: "tests", packages: []string{"e2e/...", "internal/soak", "internal/arrows", "internal/fleet/fleettest"}, inside: true,
		may: []string{"handlers", "jobs", "db", "test database", "k8s", "slurm", "mail", "dev", "web", "portal", "nouns", "base", "seal", "config", "assets"}},
}

// impure are the imports from outside that whole layers must do without: the
// nouns take values and a time and return values, events and errors.
var impure = []string{"context", "database/sql", "net", "net/http", "log", "log/slog", "os", "os/exec", "io/ioutil", "math/rand", "math/rand/v2"}

// excepted are the reasons to import something impure after all.
var excepted = map[string][]string{
	"internal/fleet": {"context"}, // the Cluster interface, which adapters implement
}

// pure are the libraries that a noun may use: they compute, and nothing else.
var pure = []string{
	"codeberg.org/go-pdf/fpdf", "github.com/gowebpki/jcs", "github.com/google/cel-go/", "github.com/transparency-dev/formats/",
	"github.com/santhosh-tekuri/jsonschema/", "golang.org/x/mod/sumdb/", "golang.org/x/text/", "go.yaml.in/yaml/",
	"k8s.io/apimachinery/pkg/api/resource", "k8s.io/apiserver/pkg/cel/",
}

func TestImportsFollowTheArrows(t *testing.T) {
	for _, p := range readPackages(t) {
		from := layerOf(p.path)
		if from == nil {
			t.Errorf("%s is in no layer: give it a place in the table of this test", p.path)
			continue
		}
		for _, imported := range p.imports {
			path, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			to := layerOf(path)
			switch {
			case to == nil:
				t.Errorf("%s imports %s, which is in no layer", p.path, path)
			case to == from && from.inside, slices.Contains(from.may, to.name):
			default:
				t.Errorf("%s (%s) must not import %s (%s): see the picture in CONTRIBUTING.md", p.path, from.name, path, to.name)
			}
		}
	}
}

func TestNounsArePure(t *testing.T) {
	for _, p := range readPackages(t) {
		if l := layerOf(p.path); l == nil || l.name != "nouns" && l.name != "base" {
			continue
		}
		for _, imported := range p.imports {
			if slices.Contains(impure, imported) && !slices.Contains(excepted[p.path], imported) {
				t.Errorf("%s must not import %s: do that in the use case or an adapter", p.path, imported)
			}
			first, _, _ := strings.Cut(imported, "/")
			if strings.Contains(first, ".") && !slices.ContainsFunc(pure, func(prefix string) bool { return strings.HasPrefix(imported, prefix) }) {
				t.Errorf("%s must not import %s: it is not among the pure libraries", p.path, imported)
			}
		}
		for _, place := range p.clocks {
			t.Errorf("%s reads the clock: take the time as an argument", place)
		}
	}
}

// The table itself must catch what it is there for.
func TestTheTableRefuses(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{"internal/request", "internal/portal"}, {"internal/portal", "db"}, {"k8s", "db"}, {"k8s", "slurm"}, {"jobs", "handlers"},
		{"handlers", "db"}, {"web", "handlers"}, {"internal/fault", "internal/request"}, {"handlers", "internal/dev/idp"},
		{"db", "db/dbtest"}, {"cmd/quartermaster", "db/dbtest"}, {"internal/portal", "internal/soak"},
	} {
		from, to := layerOf(c.from), layerOf(c.to)
		require.NotNil(t, from, c.from)
		require.NotNil(t, to, c.to)
		require.False(t, to == from && from.inside || slices.Contains(from.may, to.name), "%s → %s", c.from, c.to)
	}
	require.Nil(t, layerOf("internal/util"))
}

func layerOf(path string) *layer {
	for i := range layers {
		for _, pattern := range layers[i].packages {
			if root, below := strings.CutSuffix(pattern, "/..."); path == root || below && strings.HasPrefix(path, root+"/") {
				return &layers[i]
			}
		}
	}
	return nil
}

type pkg struct {
	path    string
	imports []string
	clocks  []string // file:line of each call to time.Now and the like
}

// readPackages parses every file of the module but tests, whose imports are free.
func readPackages(t *testing.T) []pkg {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	found := map[string]*pkg{}
	files := token.NewFileSet()
	require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if file != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata" || nested(file)) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		path, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		p := found[path]
		if p == nil {
			p = &pkg{path: path}
			found[path] = p
		}
		tree, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, spec := range tree.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !slices.Contains(p.imports, name) {
				p.imports = append(p.imports, name)
			}
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "Tick"}, sel.Sel.Name) {
					p.clocks = append(p.clocks, files.Position(n.Pos()).String())
				}
			}
			return true
		})
		return nil
	}))
	require.Greater(t, len(found), 5, "the module was not found")
	var all []pkg
	for _, p := range found {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b pkg) int { return strings.Compare(a.path, b.path) })
	return all
}

// nested says whether a directory is a module of its own.
func nested(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
