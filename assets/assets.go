// Package assets holds what the browser fetches beside pages: one stylesheet,
// one script, one icon sprite, built by npm into dist and embedded. Pages ask
// it for addresses, the router mounts its handler. It never reads the disk at
// run time and never serves a name that the build did not make.
package assets

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// Prefix is the path under which Handler expects to be mounted.
const Prefix = "/assets/"

//go:embed all:dist
var embedded embed.FS

var built = load(embedded)

type bundle struct {
	files fs.FS
	names map[string]string // plain name → hashed name
	err   error
}

func load(from fs.FS) bundle {
	files, err := fs.Sub(from, "dist")
	if err != nil {
		return bundle{err: err}
	}
	raw, err := fs.ReadFile(files, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return bundle{files: files, err: errors.New("the front end is not built into this binary: run make assets, then build again")}
	}
	b := bundle{files: files, err: err}
	if err == nil {
		b.err = json.Unmarshal(raw, &b.names)
	}
	for name, hashed := range b.names {
		if _, err := fs.Stat(files, hashed); err != nil {
			b.err = fmt.Errorf("asset %s: %w", name, err)
		}
	}
	return b
}

// Check says whether the built front end is inside this binary. Call it before
// serving: pages without a stylesheet are worse than a refusal to start.
func Check() error { return built.err }

// URL is the address of an asset by its plain name ("app.css"). Without a
// build it is the plain name, which Handler answers with 404.
func URL(name string) string {
	if hashed, ok := built.names[name]; ok {
		return Prefix + hashed
	}
	return Prefix + name
}

// Handler serves the built files. A name carries its content's hash, so answers
// may be kept for ever; gzip and brotli copies are made at build time.
func Handler() http.Handler { return built }

func (b bundle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, Prefix)
	ext := path.Ext(name)
	if b.files == nil || !fs.ValidPath(name) || strings.Contains(name, "/") || ext == "" || ext == ".json" || ext == ".keep" || ext == ".gz" || ext == ".br" {
		http.NotFound(w, r)
		return
	}
	content, err := fs.ReadFile(b.files, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	for _, enc := range []struct{ name, ext string }{{"br", ".br"}, {"gzip", ".gz"}} {
		if !accepts(r.Header.Get("Accept-Encoding"), enc.name) {
			continue
		}
		if smaller, err := fs.ReadFile(b.files, name+enc.ext); err == nil {
			h.Set("Content-Encoding", enc.name)
			content = smaller
			break
		}
	}
	h.Set("Content-Type", mime.TypeByExtension(ext))
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Length", fmt.Sprint(len(content)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(content) // the reader went away: nobody to tell
	}
}

// accepts reads an Accept-Encoding header: a coding is taken unless q=0.
func accepts(header, coding string) bool {
	for _, part := range strings.Split(header, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			q := strings.ReplaceAll(params, " ", "")
			return q != "q=0" && q != "q=0.0" && q != "q=0.00" && q != "q=0.000"
		}
	}
	return false
}
