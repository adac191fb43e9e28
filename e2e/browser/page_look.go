package browser

import (
	"strings"

	"github.com/mxschmitt/playwright-go"
	"github.com/stretchr/testify/require"
)

// listen keeps what scripts, styles and the content policy complain about. That a
// page itself came with status 404 or 422 is no complaint.
func (w *Window) listen() {
	keep := func(text string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.errors = append(w.errors, text)
	}
	w.Page.OnPageError(func(err error) { keep(w.Page.URL() + ": " + err.Error()) })
	w.Page.OnConsole(func(m playwright.ConsoleMessage) {
		if m.Type() != "error" && m.Type() != "warning" {
			return
		}
		from := ""
		if l := m.Location(); l != nil {
			from = l.URL
		}
		if strings.HasPrefix(m.Text(), "Failed to load resource") && !strings.Contains(from, "/assets/") {
			return
		}
		// A check of the form that was asked for and not waited for: the person went on. One
		// that was answered badly is told as htmx:responseError.
		if strings.HasPrefix(m.Text(), "htmx:sendAbort") || strings.HasPrefix(m.Text(), "htmx:afterRequest") {
			return
		}
		keep(from + ": " + m.Text())
	})
}

// Errors are what the browser complained about since the window was opened.
func (w *Window) Errors() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.errors...)
}

// Resize gives the window another size and colour scheme, on the page it shows.
func (w *Window) Resize(look Look) {
	w.t.Helper()
	scheme := playwright.ColorSchemeLight
	if look.Dark {
		scheme = playwright.ColorSchemeDark
	}
	require.NoError(w.t, w.Page.SetViewportSize(look.Width, look.Height))
	require.NoError(w.t, w.Page.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: scheme, ReducedMotion: playwright.ReducedMotionReduce}))
}

// Overflow is by how many pixels the page is wider than the window, and what is
// widest; 0 when nobody has to scroll sideways.
func (w *Window) Overflow() (pixels int, widest string) {
	w.t.Helper()
	v, err := w.Page.Evaluate(`() => {
		const root = document.scrollingElement, over = root.scrollWidth - root.clientWidth;
		if (over <= 0) return [0, ''];
		let widest = null, right = 0;
		const clipped = e => { for (let p = e.parentElement; p; p = p.parentElement) if (getComputedStyle(p).overflowX !== 'visible') return p !== root; return false; };
		for (const e of document.body.querySelectorAll('*')) {
			const r = e.getBoundingClientRect();
			if (clipped(e)) continue;
			if (r.width > 0 && r.right > right) { right = r.right; widest = e; }
		}
		return [over, widest ? widest.tagName + '.' + widest.className + ' ' + widest.textContent.trim().slice(0, 60) : ''];
	}`)
	require.NoError(w.t, err)
	pair := v.([]any)
	n, _ := pair[0].(int)
	if f, ok := pair[0].(float64); ok {
		n = int(f)
	}
	widest, _ = pair[1].(string)
	return n, widest
}
