package assets

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func sample() bundle {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return load(fstest.MapFS{
		"dist/manifest.json":     file(`{"app.css":"app-0123.css"}`),
		"dist/app-0123.css":      file("body{color:red}"),
		"dist/app-0123.css.br":   file("brotli"),
		"dist/app-0123.css.gz":   file("gzip"),
		"dist/icons-4567.svg":    file("<svg/>"),
		"dist/.keep":             file(""),
		"dist/secret/inside.css": file("x"),
	})
}

func get(b bundle, path, encodings string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept-Encoding", encodings)
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w
}

func TestServesTheSmallestCopyTheBrowserTakes(t *testing.T) {
	for encodings, want := range map[string]string{
		"gzip, deflate, br": "br", "gzip": "gzip", "br;q=0, gzip;q=0.5": "gzip", "": "", "identity": "",
	} {
		w := get(sample(), "/assets/app-0123.css", encodings)
		require.Equal(t, http.StatusOK, w.Code, encodings)
		require.Equal(t, want, w.Header().Get("Content-Encoding"), encodings)
		require.Equal(t, "text/css; charset=utf-8", w.Header().Get("Content-Type"))
		require.Contains(t, w.Header().Get("Cache-Control"), "immutable")
	}
	require.Equal(t, "<svg/>", get(sample(), "/assets/icons-4567.svg", "br").Body.String())
}

func TestServesNothingElse(t *testing.T) {
	for _, path := range []string{"/assets/", "/assets/manifest.json", "/assets/.keep", "/assets/app.css",
		"/assets/../assets.go", "/assets/secret/inside.css", "/assets/app-0123", "/assets/app-0123.css.gz"} {
		require.Equal(t, http.StatusNotFound, get(sample(), path, "").Code, path)
	}
}

func TestAMissingBuildIsSaid(t *testing.T) {
	b := load(fstest.MapFS{"dist/.keep": &fstest.MapFile{}})
	require.ErrorContains(t, b.err, "make assets")
	b = load(fstest.MapFS{"dist/manifest.json": &fstest.MapFile{Data: []byte(`{"app.css":"gone.css"}`)}})
	require.ErrorContains(t, b.err, "app.css")
}
