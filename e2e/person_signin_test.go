package e2e

import (
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/browser"
	"quartermaster/e2e/site"
	"quartermaster/internal/signin"
)

// codes remembers which one-time code each person used last: each counts once.
var codes = struct {
	sync.Mutex
	last map[string]int64
}{last: map[string]int64{}}

// freshCode is a code that was not used yet: this period's or the next one's,
// which are both taken. A third within a period waits for the clock.
func freshCode(t testing.TB, s *site.Site, p site.Person) string {
	t.Helper()
	codes.Lock()
	defer codes.Unlock()
	key := s.Dir + p.User
	step := max(signin.Step(time.Now()), codes.last[key]+1)
	require.Eventually(t, func() bool { return step <= signin.Step(time.Now())+1 }, time.Minute, 100*time.Millisecond, "a code that may be used")
	codes.last[key] = step
	code, err := signin.CodeAt(p.TOTP, step)
	require.NoError(t, err)
	return code
}

// as opens a window in which a person has just signed in with two factors.
func as(t testing.TB, s *site.Site, user string, look browser.Look) *browser.Window {
	t.Helper()
	w := theBrowser(t).Window(t, s.Portal, look)
	w.Open("/")
	prove(t, s, w, user)
	require.NoError(t, w.Page.WaitForURL(regexp.MustCompile("^"+regexp.QuoteMeta(s.Portal))))
	seats.Store(w, seat{t, s, user})
	return w
}

// seats remembers who sits at which window.
var seats sync.Map

type seat struct {
	t    testing.TB
	s    *site.Site
	user string
}

// act presses a button, proves two factors for what it does, and presses again on the
// page that asks for the last word. The second name is for where that page's button says more.
func act(w *browser.Window, button string, again ...string) {
	toConfirm(w, button)
	if len(again) > 0 {
		button = again[0]
	}
	w.Press(button)
}

// toConfirm is act up to the last word.
func toConfirm(w *browser.Window, button string) {
	who, _ := seats.Load(w)
	x := who.(seat)
	w.Press(button)
	prove(x.t, x.s, w, x.user)
	require.NoError(x.t, w.Page.WaitForURL(regexp.MustCompile("^"+regexp.QuoteMeta(x.s.Portal))))
}

// prove answers the identity provider: name, password and a code never used before.
func prove(t testing.TB, s *site.Site, w *browser.Window, user string) {
	t.Helper()
	p := s.Person(t, user)
	require.NoError(t, w.Page.WaitForURL(regexp.MustCompile("^"+regexp.QuoteMeta(s.Identity))))
	w.Fill("User name", p.User)
	w.Fill("Password", p.Password)
	w.Fill("One-time code", freshCode(t, s, p))
	w.Press("^Sign in$")
}

// number is the request whose page the window shows.
func number(t testing.TB, w *browser.Window) int64 {
	t.Helper()
	require.NoError(t, w.Page.WaitForURL(regexp.MustCompile(`/requests/\d+`)))
	var n int64
	m := regexp.MustCompile(`/requests/(\d+)`).FindStringSubmatch(w.Page.URL())
	_, err := fmt.Sscan(m[1], &n)
	require.NoError(t, err)
	return n
}
