package web

import (
	"strings"
	"time"

	"quartermaster/internal/paths"
)

// Frame is what surrounds a page: where am I, who am I, what waits, and whether
// what I see is real and fresh. Handlers fill it once a request, from the session.
type Frame struct {
	Title  string // the page's name, also the browser's title
	Badge  Badge  // state of the thing shown; no Word hides it
	Crumbs []Link // the way here, without the page itself
	Path   string // path of the current page, marks its place in the navigation
	Back   string // path and query to return to after a change of theme; "" is Path

	Person Person
	Nav    []NavGroup // from Navigation
	Theme  string     // cookie "theme": "light", "dark"; anything else follows the system
	Search string     // what the search box holds

	// Simulated names the clusters on this page that are simulated; said in the frame.
	Simulated []string
	// Stale names each source on this page whose last good reading is old.
	Stale []StaleSource
	// Alarm is set while the record is not as it was written.
	Alarm *Alarm
	// Failed names parts of this page that could not be read: "usage of alpha: no answer in 5 s".
	Failed []string
	// Said is one sentence about what the last action did: "Request R-1042 submitted".
	Said string

	Now       time.Time // server time; ages on the page are reckoned from it
	RequestID string
	Version   string
}

// Alarm says that a check of the record failed: nothing is signed or pushed.
type Alarm struct {
	What  string
	Since time.Time
	Href  string // the entry of the check
}

// Person is who is signed in. The zero value means nobody: the frame then shows
// neither navigation nor sign-out.
type Person struct {
	Name  string
	Roles []string // in force, as people say them: "team manager of Vision"
}

// Link is a word that leads somewhere; without Href it is only the word.
type Link struct {
	Text string
	Href string
}

// StaleSource is a cluster (or other source) whose values are old.
type StaleSource struct {
	Name string
	AsOf time.Time // zero: never read
	Why  string    // the last error in words: "no answer in 5 s"
}

// NavGroup is one heading of the left navigation.
type NavGroup struct {
	Title string
	Items []NavItem
}

// NavItem is one page of the left navigation.
type NavItem struct {
	Text  string
	Href  string
	Icon  string
	Keys  string // keyboard sequence: "g a"
	Count int    // what waits there for this person; 0 shows none
}

var navigation = []NavGroup{
	{"Work", []NavItem{
		{Text: "Home", Href: paths.Home, Icon: "home", Keys: "g h"},
		{Text: "Requests", Href: paths.Requests, Icon: "requests", Keys: "g r"},
		{Text: "Approvals", Href: paths.Approvals, Icon: "approvals", Keys: "g a"},
	}},
	{"Capacity", []NavItem{
		{Text: "Projects", Href: paths.Projects, Icon: "projects", Keys: "g p"},
		{Text: "Pools", Href: paths.Pools, Icon: "pools", Keys: "g o"},
		{Text: "Usage", Href: paths.Usage, Icon: "chart", Keys: "g s"},
	}},
	{"Assurance", []NavItem{
		{Text: "History", Href: paths.History, Icon: "history", Keys: "g y"},
		{Text: "Findings", Href: paths.Findings, Icon: "warning", Keys: "g f"},
	}},
	{"Administration", []NavItem{
		{Text: "Clusters", Href: paths.Clusters, Icon: "clusters", Keys: "g c"},
		{Text: "People", Href: paths.People, Icon: "people", Keys: "g u"},
		{Text: "Jobs", Href: paths.Jobs, Icon: "jobs", Keys: "g j"},
	}},
}

// Navigation is the left navigation with only what may opens, and with counts
// by path. Groups without a page are left out.
func Navigation(may func(path string) bool, counts map[string]int) []NavGroup {
	var groups []NavGroup
	for _, g := range navigation {
		kept := NavGroup{Title: g.Title}
		for _, item := range g.Items {
			if may(item.Href) {
				item.Count = counts[item.Href]
				kept.Items = append(kept.Items, item)
			}
		}
		if len(kept.Items) > 0 {
			groups = append(groups, kept)
		}
	}
	return groups
}

// here says whether an item of the navigation holds the current page.
func (f Frame) here(href string) bool {
	if href == paths.Home {
		return f.Path == paths.Home
	}
	return f.Path == href || len(f.Path) > len(href) && f.Path[:len(href)] == href && f.Path[len(href)] == '/'
}

// theme is the value of data-bs-theme.
func (f Frame) theme() string {
	if f.Theme == "light" || f.Theme == "dark" {
		return f.Theme
	}
	return "auto"
}

// simulated names all simulated clusters of the page in one sentence's beginning.
func (f Frame) simulated() string {
	switch n := len(f.Simulated); n {
	case 1:
		return f.Simulated[0] + " is a simulated cluster:"
	default:
		return strings.Join(f.Simulated[:n-1], ", ") + " and " + f.Simulated[n-1] + " are simulated clusters:"
	}
}

func (f Frame) back() string {
	if f.Back != "" {
		return f.Back
	}
	return f.Path
}

// htmxConfig keeps htmx inside the content policy: no eval, no style element.
const htmxConfig = `{"includeIndicatorStyles":false,"allowEval":false,"allowScriptTags":false,"selfRequestsOnly":true,"historyCacheSize":0}`

func (f Frame) current(href string) string {
	if f.here(href) {
		return "page"
	}
	return "false"
}

func (f Frame) colourScheme() string {
	if t := f.theme(); t != "auto" {
		return t
	}
	return "light dark"
}

func themeIcon(theme string) string {
	switch theme {
	case "light":
		return "sun"
	case "dark":
		return "moon"
	}
	return "auto"
}
