package signin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/browser"
	"quartermaster/handlers/signin"
	"quartermaster/internal/paths"
)

// A real browser holds redirects after a form against the page's policy, cookies
// against their attributes and pages against WCAG; the browser of few talents in
// the other tests does none of it.
func TestARealBrowserSignsInStepsUpAndSignsOut(t *testing.T) {
	chromium, err := browser.Start()
	require.NoError(t, err)
	t.Cleanup(chromium.Stop)
	for name, look := range map[string]browser.Look{
		"wide, light":                      browser.Wide,
		"narrow, dark, without JavaScript": {Width: 390, Height: 844, Dark: true, NoScript: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPortal(t, builtIn(), func(c *signin.Config) {
				c.Pages = signin.WebPages(signin.Door{Demo: true, Codes: "http://localhost:1/people"})
			})
			w := chromium.Window(t, p.URL, look)
			accessible := func() {
				if !look.NoScript { // axe is a script
					w.Accessible()
				}
			}
			w.Open("/")
			accessible()
			w.Fill("User name", "alice")
			w.Fill("Password", "wrong")
			w.Press("Sign in")
			w.See("User name or password is not right.")
			accessible()
			w.Fill("Password", p.party.alice)
			w.Fill("One-time code", code(-1))
			w.Press("Sign in")
			w.See("hello alice, in context Alice")

			w.Open("/ask")
			w.Press("Approve 12 GPUs")
			w.See("Confirm that it is you")
			accessible()
			w.Fill("Password", p.party.alice)
			w.Fill("One-time code", code(0))
			w.Press("Sign in")
			w.See("confirm, kept true")
			require.Empty(t, p.decisions())
			w.Press("Confirm")
			w.See("decided")
			require.Equal(t, []string{"approve"}, p.decisions())

			w.Open("/leave")
			w.Press("Sign out")
			w.See("You are signed out.")
			require.Contains(t, w.Page.URL(), p.URL+paths.SignedOut)

			w.Open(p.idp + "/people")
			w.See("Demo people")
			accessible()
			if !look.NoScript { // codes are renewed in place
				_, err := w.Page.Evaluate(`() => { document.getElementById('people').dataset.old = '1'; document.dispatchEvent(new Event('visibilitychange')) }`)
				require.NoError(t, err)
				_, err = w.Page.WaitForFunction(`() => !document.getElementById('people').dataset.old`, nil)
				require.NoError(t, err)
			}
		})
	}
}
