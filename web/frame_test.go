package web

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/paths"
)

func TestNavigationShowsOnlyWhatOpens(t *testing.T) {
	nav := Navigation(func(p string) bool { return p == paths.History || p == paths.Home }, map[string]int{paths.Home: 3, paths.Approvals: 7})
	require.Len(t, nav, 2, "groups without a page are left out")
	require.Equal(t, "Work", nav[0].Title)
	require.Equal(t, 3, nav[0].Items[0].Count)
	require.Equal(t, "Assurance", nav[1].Title)
}

func TestTheFrameSaysWhatIsSimulatedStaleOrMissing(t *testing.T) {
	f := Frame{Title: "Pools", Person: Person{Name: "Ada"}, Simulated: []string{"beta"}, Stale: []StaleSource{{Name: "alpha", Why: "no answer in 5 s"}}, Failed: []string{"pending workloads of beta"}}
	page := html(t, PoolListPage(f, PoolList{}))
	require.Contains(t, page, "is a simulated cluster")
	require.Regexp(t, `(?s)alpha.*was never read.*no answer in 5 s`, page)
	require.Contains(t, page, "Not on this page: pending workloads of beta")
}

func TestTheThemeIsTheChosenOneOrTheSystems(t *testing.T) {
	for chosen, want := range map[string]string{"": "auto", "dark": "dark", "light": "light", `"><script>`: "auto"} {
		require.Contains(t, html(t, HelpPage(Frame{Theme: chosen})), `data-bs-theme="`+want+`"`)
	}
}

func TestNobodySignedInSeesNoNavigation(t *testing.T) {
	page := html(t, SignedOutPage(Frame{Title: "Signed out"}, SignedOut{SignIn: paths.SignIn}))
	require.NotContains(t, page, "Sign out")
	require.NotContains(t, page, `aria-label="Main"`)
}
