// Package browser drives a real Chromium for the browser tests: one process a
// test run, a fresh context a person. It finds what to click as people do, by
// label and name, so that a page nobody could use fails. Only tests import it.
package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mxschmitt/playwright-go"
	"github.com/stretchr/testify/require"
)

// Browser is one running Chromium.
type Browser struct {
	driver  *playwright.Playwright
	browser playwright.Browser
}

// here is the directory of this package; node_modules lies in it.
func here() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}

func program() (string, error) {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Chromium found: `make test` installs it, or name one in CHROMIUM")
}

// Start launches Chromium, headless.
func Start() (*Browser, error) {
	cli := filepath.Join(here(), "node_modules", "playwright-core", "cli.js")
	if _, err := os.Stat(cli); err != nil {
		return nil, fmt.Errorf("%w: `make test` installs the npm packages of e2e/browser", err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("%w: `make test` installs it", err)
	}
	chromium, err := program()
	if err != nil {
		return nil, err
	}
	os.Setenv("PLAYWRIGHT_CLI_PATH", cli)
	os.Setenv("PLAYWRIGHT_NODEJS_PATH", node)
	driver, err := playwright.Run(&playwright.RunOptions{SkipInstallBrowsers: true})
	if err != nil {
		return nil, fmt.Errorf("start the browser's driver: %w", err)
	}
	b, err := driver.Chromium.Launch(playwright.BrowserTypeLaunchOptions{
		ExecutablePath: &chromium,
		Args: []string{"--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
			"--disable-background-networking", "--disable-component-update", "--disable-sync"},
	})
	if err != nil {
		driver.Stop()
		return nil, fmt.Errorf("launch %s: %w", chromium, err)
	}
	return &Browser{driver, b}, nil
}

// Stop ends Chromium and its driver.
func (b *Browser) Stop() {
	b.browser.Close()
	b.driver.Stop()
}

// Look is how a window is: its size and its colour scheme.
type Look struct {
	Width, Height int
	Dark          bool
	NoScript      bool
}

// Wide is a desktop window in light colours.
var Wide = Look{Width: 1280, Height: 900}

// Window is one person's browser: its own cookies, one page.
type Window struct {
	t       testing.TB
	Page    playwright.Page
	Context playwright.BrowserContext
	Base    string // address that paths are relative to

	mu     sync.Mutex
	errors []string
}

// Window opens a fresh context; it is closed with the test.
func (b *Browser) Window(t testing.TB, base string, look Look) *Window {
	t.Helper()
	scheme := playwright.ColorSchemeLight
	if look.Dark {
		scheme = playwright.ColorSchemeDark
	}
	c, err := b.browser.NewContext(playwright.BrowserNewContextOptions{
		Viewport:          &playwright.Size{Width: look.Width, Height: look.Height},
		ColorScheme:       scheme,
		ReducedMotion:     playwright.ReducedMotionReduce, // nothing is looked at half-way
		JavaScriptEnabled: playwright.Bool(!look.NoScript),
		AcceptDownloads:   playwright.Bool(true),
		Locale:            playwright.String("en-GB"),
		TimezoneId:        playwright.String("UTC"),
	})
	require.NoError(t, err)
	c.SetDefaultTimeout(20_000)
	p, err := c.NewPage()
	require.NoError(t, err)
	w := &Window{t: t, Page: p, Context: c, Base: base}
	w.listen()
	t.Cleanup(func() {
		if errors := w.Errors(); len(errors) > 0 {
			t.Errorf("the browser complained: %s", strings.Join(errors, "\n"))
		}
		if t.Failed() {
			w.keep()
		}
		c.Close()
	})
	return w
}

// keep leaves a picture and the text of the page a test failed on in e2e/out.
func (w *Window) keep() {
	dir := filepath.Join(here(), "..", "out")
	if os.MkdirAll(dir, 0o755) != nil {
		return
	}
	file := filepath.Join(dir, fmt.Sprintf("failed-%x.png", w.t.Name()))
	if _, err := w.Page.Screenshot(playwright.PageScreenshotOptions{Path: &file, FullPage: playwright.Bool(true)}); err == nil {
		w.t.Logf("page at failure: %s, picture in %s", w.Page.URL(), file)
	}
	if text, err := w.Page.Locator("body").InnerText(); err == nil {
		w.t.Logf("text at failure:\n%s", text)
	}
}
