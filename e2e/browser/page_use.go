package browser

import (
	"os"
	"path/filepath"
	"regexp"

	"github.com/mxschmitt/playwright-go"
	"github.com/stretchr/testify/require"
)

// Open goes to a path, or to a whole address.
func (w *Window) Open(path string) {
	w.t.Helper()
	if len(path) > 0 && path[0] == '/' {
		path = w.Base + path
	}
	_, err := w.Page.Goto(path)
	require.NoError(w.t, err)
}

// field is the control with a label. A label may say that its field is optional,
// and one that stands around a list holds the list's options as well.
func (w *Window) field(label string) playwright.Locator {
	text := regexp.QuoteMeta(label)
	around := w.Page.Locator("label").Filter(playwright.LocatorFilterOptions{HasText: regexp.MustCompile(`^\s*` + text + `\s`)}).Locator("select, input, textarea")
	return w.Page.GetByLabel(regexp.MustCompile(`^\s*` + text + `(\s+optional)?\s*$`)).Or(around).First()
}

// Fill types into the field with a label.
func (w *Window) Fill(label, value string) {
	w.t.Helper()
	require.NoError(w.t, w.field(label).Fill(value), "fill %q", label)
}

// Choose picks the option with the given text in the list with a label.
func (w *Window) Choose(label, option string) {
	w.t.Helper()
	_, err := w.field(label).SelectOption(playwright.SelectOptionValues{Labels: &[]string{option}})
	require.NoError(w.t, err, "choose %q in %q", option, label)
}

// Check ticks the box with a label.
func (w *Window) Check(label string) {
	w.t.Helper()
	require.NoError(w.t, w.field(label).Check(), "check %q", label)
}

// Value is what the field with a label holds.
func (w *Window) Value(label string) string {
	w.t.Helper()
	v, err := w.field(label).InputValue()
	require.NoError(w.t, err)
	return v
}

// Press clicks the button whose name matches the pattern.
func (w *Window) Press(name string) {
	w.t.Helper()
	require.NoError(w.t, w.Page.GetByRole("button", playwright.PageGetByRoleOptions{Name: regexp.MustCompile(name)}).First().Click(), "press %q", name)
}

// Click presses the button without waiting for the page that follows, which may
// never come.
func (w *Window) Click(name string) {
	w.t.Helper()
	button := w.Page.GetByRole("button", playwright.PageGetByRoleOptions{Name: regexp.MustCompile(name)}).First()
	_, err := button.Evaluate(`b => { setTimeout(() => b.click()) }`, nil)
	require.NoError(w.t, err, "click %q", name)
}

// Follow clicks the link whose name matches the pattern.
func (w *Window) Follow(name string) {
	w.t.Helper()
	require.NoError(w.t, w.Page.GetByRole("link", playwright.PageGetByRoleOptions{Name: regexp.MustCompile(name)}).First().Click(), "follow %q", name)
}

// See waits until the page's main part shows text.
func (w *Window) See(text string) {
	w.t.Helper()
	err := w.Page.GetByText(text).First().WaitFor(playwright.LocatorWaitForOptions{State: playwright.WaitForSelectorStateVisible})
	require.NoError(w.t, err, "expected to see %q on %s", text, w.Page.URL())
}

// Reload until the page shows text: for pages that show what a job did.
func (w *Window) ReloadUntil(text string) {
	w.t.Helper()
	shortly := playwright.LocatorWaitForOptions{Timeout: playwright.Float(500)}
	for range 120 {
		if w.Page.GetByText(text).First().WaitFor(shortly) == nil {
			return
		}
		_, err := w.Page.Reload()
		require.NoError(w.t, err)
	}
	require.Failf(w.t, "never shown", "%q on %s", text, w.Page.URL())
}

// ReloadUntilMatch reloads until the visible text matches, and returns it.
func (w *Window) ReloadUntilMatch(expression string) string {
	w.t.Helper()
	re := regexp.MustCompile(expression)
	text := ""
	for range 120 {
		if text = w.Text(); re.MatchString(text) {
			return text
		}
		_, err := w.Page.Reload()
		require.NoError(w.t, err)
	}
	require.Failf(w.t, "never shown", "%q on %s:\n%s", expression, w.Page.URL(), text)
	return ""
}

// Text is the visible text of the page.
func (w *Window) Text() string {
	w.t.Helper()
	s, err := w.Page.Locator("body").InnerText()
	require.NoError(w.t, err)
	return s
}

// Download clicks the button and returns the file it brings.
func (w *Window) Download(name string) []byte {
	w.t.Helper()
	d, err := w.Page.ExpectDownload(func() error {
		return w.Page.GetByRole("button", playwright.PageGetByRoleOptions{Name: regexp.MustCompile(name)}).First().Click()
	})
	require.NoError(w.t, err)
	file := filepath.Join(w.t.TempDir(), "download")
	require.NoError(w.t, d.SaveAs(file))
	raw, err := os.ReadFile(file)
	require.NoError(w.t, err)
	return raw
}

// Shot writes a picture of the whole page.
func (w *Window) Shot(file string) {
	w.t.Helper()
	_, err := w.Page.Screenshot(playwright.PageScreenshotOptions{Path: &file, FullPage: playwright.Bool(true)})
	require.NoError(w.t, err)
}

// Accessible fails for each serious or critical finding of axe (WCAG 2.2 A and AA).
func (w *Window) Accessible() {
	w.t.Helper()
	require.Empty(w.t, w.Barriers(), "axe findings on %s", w.Page.URL())
}

// Barriers are the serious and critical findings of axe (WCAG 2.2 A and AA) on the
// page as it looks now.
func (w *Window) Barriers() []string {
	w.t.Helper()
	loaded, err := w.Page.Evaluate(`() => typeof axe !== 'undefined'`)
	require.NoError(w.t, err)
	if loaded != true {
		engine, err := os.ReadFile(filepath.Join(here(), "node_modules", "axe-core", "axe.min.js"))
		require.NoError(w.t, err, "`make test` installs the npm packages of e2e/browser")
		_, err = w.Page.Evaluate(string(engine) + "; null")
		require.NoError(w.t, err)
	}
	found, err := w.Page.Evaluate(`async () => {
		const r = await axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations']});
		return r.violations.filter(v => v.impact === 'serious' || v.impact === 'critical')
			.flatMap(v => v.nodes.map(n => v.id + ': ' + n.target.join(' ') + ': ' + n.failureSummary.replace(/\s+/g, ' ')));
	}`)
	require.NoError(w.t, err)
	var out []string
	for _, x := range found.([]any) {
		out = append(out, x.(string))
	}
	return out
}
