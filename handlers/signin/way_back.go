package signin

import (
	"net/url"
	"strings"

	"quartermaster/internal/paths"
)

// wayBack is path if it leads into the portal, else home. "//host", "/\host",
// schemes and control characters would lead out of it; the paths of this package
// would lead in a circle.
func wayBack(path string) string {
	if len(path) > 2000 || !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "\\\x7f") || strings.HasPrefix(path, "//") {
		return paths.Home
	}
	for _, r := range path {
		if r < ' ' {
			return paths.Home
		}
	}
	u, err := url.Parse(path)
	if err != nil || u.Host != "" || u.Scheme != "" || u.Opaque != "" || strings.HasPrefix(u.Path, "//") {
		return paths.Home
	}
	for _, own := range []string{paths.SignIn, paths.SignOut, paths.SignedOut, paths.StepUp} {
		if u.Path == own || strings.HasPrefix(u.Path, own+"/") {
			return paths.Home
		}
	}
	u.Fragment = ""
	return u.String()
}
