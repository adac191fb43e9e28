package signin

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheWayBackStaysInThePortal(t *testing.T) {
	for path, want := range map[string]string{
		"/requests/1042":                "/requests/1042",
		"/history?person=a%26b":         "/history?person=a%26b",
		"/a#b":                          "/a",
		"":                              "/",
		"requests":                      "/",
		"//elsewhere.example":           "/",
		"///elsewhere.example":          "/",
		`/\elsewhere.example`:           "/",
		"/%2F/elsewhere.example":        "/",
		"/\telsewhere.example":          "/",
		"https://elsewhere":             "/",
		"javascript:alert(1)":           "/",
		"/sign-in":                      "/",
		"/sign-in/callback?x=y":         "/",
		"/sign-out":                     "/",
		"/step-up?back=/x":              "/",
		"/sign-inventory":               "/sign-inventory",
		"/%zz":                          "/",
		"/" + strings.Repeat("a", 3000): "/",
	} {
		require.Equal(t, want, wayBack(path), path)
	}
}

func FuzzTheWayBackStaysInThePortal(f *testing.F) {
	f.Add("/x")
	f.Add("//x")
	f.Add(`/\x`)
	base, _ := url.Parse("https://portal.example/sign-in")
	f.Fuzz(func(t *testing.T, path string) {
		got := wayBack(path)
		u, err := base.Parse(got)
		if err != nil || u.Host != "portal.example" || u.Scheme != "https" || strings.HasPrefix(got, "//") || strings.HasPrefix(got, `/\`) {
			t.Fatalf("%q leads to %q", path, got)
		}
	})
}
