package handlers

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
)

var (
	discard = slog.New(slog.DiscardHandler)
	ready   = func(context.Context) error { return nil }
)

// without is a portal whose use cases are not reached by a test.
type without struct {
	UseCases
	search func() (portal.ProjectPage, error)
}

func (u without) ListClusters(context.Context, portal.Actor) ([]portal.ClusterRow, error) {
	return nil, nil
}
func (u without) RecordState(context.Context) (portal.RecordCheck, error) {
	return portal.RecordCheck{OK: true}, nil
}
func (u without) CountApprovals(context.Context, portal.Actor, int) (int, error) { return 0, nil }
func (u without) ListProjects(context.Context, portal.Actor, portal.ProjectQuery) (portal.ProjectPage, error) {
	return u.search()
}

// bare is a router in front of no use case at all, with its log.
func bare(t *testing.T, u without, change ...func(*Config)) (http.Handler, *bytes.Buffer) {
	t.Helper()
	logged := &bytes.Buffer{}
	cfg := Config{
		Portal: u, Log: slog.New(slog.NewJSONHandler(logged, nil)), BaseURL: "http://portal.test", Assets: http.NotFoundHandler(),
		Ready: ready,
	}
	for _, c := range change {
		c(&cfg)
	}
	s, err := newServer(cfg)
	require.NoError(t, err)
	p := newPresence()
	p.actors["ana"] = portal.Actor{Person: org.Person{ID: "00000000-0000-4000-8000-000000000001", Name: "Ana", Active: true}, Via: "web"}
	s.session = p
	return s.router(), logged
}

func send(h http.Handler, method, target string, body io.Reader, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://portal.test"+target, body)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestUnsafeRequestsComeFromOurOwnPages(t *testing.T) {
	h, _ := bare(t, without{})
	form := func() io.Reader { return strings.NewReader("theme=dark") }
	const kind, urlencoded = "Content-Type", "application/x-www-form-urlencoded"
	for _, x := range []struct {
		name   string
		header []string
		status int
	}{
		{"our page, new browser", []string{"Sec-Fetch-Site", "same-origin"}, 303},
		{"our page, old browser", []string{"Origin", "http://portal.test"}, 303},
		{"another site", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another host of the same site", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"another origin", []string{"Origin", "https://evil.test"}, 403},
		{"an opaque origin", []string{"Origin", "null"}, 403},
		{"neither header", nil, 403},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := send(h, http.MethodPost, paths.Theme, form(), append([]string{kind, urlencoded}, x.header...)...)
			require.Equal(t, x.status, w.Code, w.Body)
		})
	}
	t.Run("the identity provider's logout token needs no browser", func(t *testing.T) {
		require.Equal(t, 200, send(h, http.MethodPost, paths.BackChannelLogout, nil).Code)
	})
}

func TestHeadersBoundThePage(t *testing.T) {
	h, _ := bare(t, without{}, func(c *Config) {
		c.BaseURL, c.SignInOrigins = "https://portal.test", []string{"https://id.test"}
		c.JobsUI = http.NotFoundHandler()
	})
	w := send(h, http.MethodGet, paths.Help, nil, "Cookie", "as=ana")
	require.Equal(t, 200, w.Code)
	policy := w.Header().Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'self'")
	require.Contains(t, policy, "form-action 'self' https://id.test")
	require.NotContains(t, policy, "unsafe")
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
	require.Contains(t, w.Header().Get("Strict-Transport-Security"), "max-age=")
	require.NotContains(t, w.Body.String(), "<script>", "no inline script passes the policy")
	require.NotContains(t, w.Body.String(), "style=", "no inline style passes the policy")
	require.Contains(t, send(h, http.MethodGet, paths.Jobs+"/jobs", nil).Header().Get("Content-Security-Policy"), "style-src 'self' 'unsafe-inline'")
}

func TestPanicsBecomeAPageWithAnID(t *testing.T) {
	h, log := bare(t, without{search: func() (portal.ProjectPage, error) { panic("secret detail") }})
	w := send(h, http.MethodGet, paths.Projects, nil, "Cookie", "as=ana")
	require.Equal(t, 500, w.Code)
	require.Contains(t, w.Body.String(), w.Header().Get("X-Request-Id"))
	require.NotContains(t, w.Body.String(), "secret detail")
	require.Equal(t, 1, strings.Count(log.String(), "secret detail"), "an error is logged once")
}

func TestErrorsBecomePages(t *testing.T) {
	for _, x := range []struct {
		err    error
		status int
		shows  string
	}{
		{fault.New(fault.NotFound, "Not here."), 404, "Not here."},
		{fault.New(fault.Forbidden, "Not for you."), 403, "Not for you."},
		{fault.New(fault.Conflict, "Decided already."), 409, "Decided already."},
		{fault.New(fault.Stale, "It changed."), 409, "It changed."},
		{fault.New(fault.Unavailable, "No answer."), 503, "No answer."},
		{fault.New(fault.Invalid, "Wrong.").At("line.0.asked", "Write a number."), 422, "Pool line 1, asked"},
		{errors.New("pq: password authentication failed for user x"), 500, "Something in the portal broke"},
		{context.DeadlineExceeded, 503, "took too long"},
	} {
		h, log := bare(t, without{search: func() (portal.ProjectPage, error) { return portal.ProjectPage{}, x.err }})
		w := send(h, http.MethodGet, paths.Projects, nil, "Cookie", "as=ana")
		require.Equal(t, x.status, w.Code)
		require.Contains(t, w.Body.String(), x.shows)
		require.NotContains(t, w.Body.String(), "pq:")
		require.Equal(t, 1, strings.Count(log.String(), "\n"), "one line a request: %s", log)
	}
}

func TestTheLogHoldsIDsOnly(t *testing.T) {
	h, log := bare(t, without{search: func() (portal.ProjectPage, error) { return portal.ProjectPage{}, nil }})
	send(h, http.MethodGet, paths.Projects+"?q=grace@example.org", nil, "Cookie", "as=ana", "X-Request-Id", "forged\nline", "X-Forwarded-For", "203.0.113.9")
	require.NotContains(t, log.String(), "grace")
	require.NotContains(t, log.String(), "forged")
	require.NotContains(t, log.String(), "203.0.113.9", "nobody may choose the own address")
	require.Contains(t, log.String(), `"person":"00000000-0000-4000-8000-000000000001"`)
}

func TestOnlyATrustedProxySpeaksForOthers(t *testing.T) {
	h, log := bare(t, without{}, func(c *Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	r := httptest.NewRequest(http.MethodGet, "http://portal.test/help", nil)
	r.RemoteAddr = "192.0.2.7:4000"
	r.Header.Set("X-Forwarded-For", "198.51.100.1, 203.0.113.9")
	h.ServeHTTP(httptest.NewRecorder(), r)
	require.Contains(t, log.String(), `"client":"203.0.113.9"`, "the hop before the proxy, not what the client claims")
}

func TestUnknownAddressesAndMethods(t *testing.T) {
	h, _ := bare(t, without{})
	const own = "same-origin"
	for _, x := range []struct {
		method, target string
		status         int
		allow          string
	}{
		{"GET", "/nothing", 404, ""},
		{"GET", "/requests/%00", 404, ""},
		{"GET", "/requests/%ff%fe", 404, ""},
		{"GET", "/requests/0042", 404, ""},
		{"GET", "/requests/99999999999999999999", 404, ""},
		{"GET", "/history/not-an-id", 404, ""},
		{"GET", "/projects?q=%ff", 422, ""},
		{"GET", "/projects?q=a%00b", 422, ""},
		{"PUT", "/help", 405, "GET, HEAD"},
		{"DELETE", "/requests/1/decide", 405, "GET, POST, HEAD"},
		{"BREW", "/help", 405, "GET, HEAD"},
		{"TRACE", "/", 405, "GET, HEAD"},
	} {
		w := send(h, x.method, x.target, nil, "Cookie", "as=ana", "Sec-Fetch-Site", own)
		require.Equal(t, x.status, w.Code, "%s %s", x.method, x.target)
		require.Contains(t, w.Body.String(), "<title>", "%s %s has a page", x.method, x.target)
		if x.allow != "" {
			require.Equal(t, x.allow, w.Header().Get("Allow"), "%s %s", x.method, x.target)
		}
	}
}

func TestBodiesAreBoundedAndAreForms(t *testing.T) {
	h, _ := bare(t, without{})
	large := strings.NewReader("theme=" + strings.Repeat("x", maxBody))
	w := send(h, http.MethodPost, paths.Theme, large, "Sec-Fetch-Site", "same-origin", "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
	for _, kind := range []string{"application/json", "multipart/form-data; boundary=x", "text/plain", ""} {
		w := send(h, http.MethodPost, paths.Theme, strings.NewReader(`{"theme":"dark"}`), "Sec-Fetch-Site", "same-origin", "Content-Type", kind)
		require.Equal(t, http.StatusUnsupportedMediaType, w.Code, kind)
	}
}

func TestPagesComeInOnePiece(t *testing.T) {
	h, _ := bare(t, without{})
	plain := send(h, http.MethodGet, paths.Help, nil, "Cookie", "as=ana")
	require.Equal(t, plain.Header().Get("Content-Length"), httpLen(plain.Body.Len()))

	squeezed := send(h, http.MethodGet, paths.Help, nil, "Cookie", "as=ana", "Accept-Encoding", "br, gzip;q=0.8")
	require.Equal(t, "gzip", squeezed.Header().Get("Content-Encoding"))
	z, err := gzip.NewReader(squeezed.Body)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	require.Contains(t, string(text), "How to read the figures")

	require.Empty(t, send(h, http.MethodGet, paths.Help, nil, "Cookie", "as=ana", "Accept-Encoding", "gzip;q=0").Header().Get("Content-Encoding"))

	head := send(h, http.MethodHead, paths.Help, nil, "Cookie", "as=ana")
	require.Equal(t, 200, head.Code)
	require.Zero(t, head.Body.Len())
	require.NotEmpty(t, head.Header().Get("Content-Length"))
}

func httpLen(n int) string { return decimal(int64(n)) }

func TestThemeStaysInTheBrowserAndLeadsBackHere(t *testing.T) {
	h, _ := bare(t, without{})
	for back, to := range map[string]string{"/pools?x=1": "/pools?x=1", "https://evil.test/": "/", "//evil.test": "/", `/\evil.test`: "/", "": "/"} {
		w := send(h, http.MethodPost, paths.Theme, strings.NewReader("theme=dark&back="+back), "Sec-Fetch-Site", "same-origin", "Content-Type", "application/x-www-form-urlencoded")
		require.Equal(t, to, w.Header().Get("Location"), back)
		require.Contains(t, w.Header().Get("Set-Cookie"), "theme=dark")
	}
}

func TestHealth(t *testing.T) {
	broken := errors.New("dial tcp 10.0.0.1: refused")
	h, _ := bare(t, without{}, func(c *Config) { c.Ready = func(context.Context) error { return broken } })
	require.Equal(t, "ok\n", send(h, http.MethodGet, paths.Healthz, nil).Body.String())
	w := send(h, http.MethodGet, paths.Readyz, nil)
	require.Equal(t, 503, w.Code)
	require.NotContains(t, w.Body.String(), "10.0.0.1")
	m := send(h, http.MethodGet, paths.Metrics, nil)
	require.Equal(t, 200, m.Code)
	require.Contains(t, m.Body.String(), `quartermaster_http_request_seconds_count{method="GET",route="/readyz",status="503"} 1`)
}

func TestStrangersAreSentToSignIn(t *testing.T) {
	h, _ := bare(t, without{})
	w := send(h, http.MethodGet, paths.Projects, nil)
	require.Equal(t, 303, w.Code)
	require.Contains(t, w.Header().Get("Location"), paths.SignIn)
}
