package idp_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"quartermaster/internal/dev/idp"
)

const (
	secret   = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
	redirect = "http://localhost:1/sign-in/callback"
	verifier = "a-verifier-of-at-least-forty-three-characters-length"
)

// world is a provider under test and a clock that can be moved.
type world struct {
	*httptest.Server
	t       *testing.T
	mu      sync.Mutex
	shift   time.Duration
	handler http.Handler
	cfg     idp.Config
}

func start(t *testing.T, change ...func(*idp.Config)) *world {
	w := &world{t: t}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.handler.ServeHTTP(rw, r) }))
	t.Cleanup(w.Close)
	w.cfg = idp.Config{
		Issuer: w.URL, Dev: true, Dir: t.TempDir(), Now: w.now, Log: slog.New(slog.DiscardHandler),
		Users: []idp.User{
			{Subject: "u1", Username: "ada", Name: "Ada Byron", Email: "ada@example.org", Password: "ada-password", TOTPSecret: secret, Groups: []string{"managers"}, Title: "Team manager"},
			{Subject: "u2", Username: "bob", Name: "Bob", Password: "bob-password"},
		},
		Clients: []idp.Client{{ID: "portal", Secret: "portal-secret", RedirectURIs: []string{redirect}, PostLogout: []string{"http://localhost:1/signed-out"}}},
	}
	for _, c := range change {
		c(&w.cfg)
	}
	w.restart()
	return w
}

func (w *world) restart() {
	h, err := idp.New(w.cfg)
	require.NoError(w.t, err)
	w.handler = h
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.shift)
}

func (w *world) later(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shift += d
}

func (w *world) code() string { return idp.Code(secret, w.now()) }

// browser has its own cookies and stops at the portal's address.
func (w *world) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	require.NoError(w.t, err)
	return &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), "http://localhost:1/") {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (w *world) authorizeURL(pairs ...string) string {
	q := url.Values{
		"response_type": {"code"}, "client_id": {"portal"}, "redirect_uri": {redirect}, "scope": {"openid profile email groups"},
		"state": {"st"}, "nonce": {"no"}, "code_challenge": {challenge()}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
		if pairs[i+1] == "" {
			q.Del(pairs[i])
		}
	}
	return w.URL + "/authorize?" + q.Encode()
}

type page struct {
	status   int
	body     string
	at       string // address of the page
	location *url.URL
	header   http.Header
}

func (w *world) get(b *http.Client, address string) page { return w.read(b.Get(address)) }

func (w *world) read(r *http.Response, err error) page {
	require.NoError(w.t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(w.t, err)
	p := page{status: r.StatusCode, body: string(body), at: r.Request.URL.String(), header: r.Header}
	p.location, _ = url.Parse(r.Header.Get("Location"))
	return p
}

var loginID = regexp.MustCompile(`name="id" value="([^"]+)"`)

func (p page) id(t *testing.T) string {
	m := loginID.FindStringSubmatch(p.body)
	require.NotNil(t, m, "no login form in: %s", p.body)
	return m[1]
}

func (w *world) post(b *http.Client, id, name, password, code string) page {
	return w.read(b.PostForm(w.URL+"/login", url.Values{"id": {id}, "username": {name}, "password": {password}, "code": {code}}))
}

// signIn goes all the way to a code for the portal.
func (w *world) signIn(b *http.Client, name, password, code string, pairs ...string) page {
	return w.post(b, w.get(b, w.authorizeURL(pairs...)).id(w.t), name, password, code)
}

func (p page) portalCode(t *testing.T) string {
	require.True(t, strings.HasPrefix(p.location.String(), redirect), "not sent back: %d %s %s", p.status, p.location, p.body)
	require.Equal(t, "st", p.location.Query().Get("state"))
	require.NotEmpty(t, p.location.Query().Get("code"), p.location.String())
	return p.location.Query().Get("code")
}

// redeem returns status and claims of the ID token.
func (w *world) redeem(code string, change ...string) (int, map[string]any) {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirect}, "code_verifier": {verifier}}
	secret := "portal-secret"
	for i := 0; i < len(change); i += 2 {
		if change[i] == "secret" {
			secret = change[i+1]
			continue
		}
		form.Set(change[i], change[i+1])
	}
	r, err := http.NewRequest(http.MethodPost, w.URL+"/oauth/token", strings.NewReader(form.Encode()))
	require.NoError(w.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("portal", secret)
	p := w.read(http.DefaultClient.Do(r))
	var answer struct {
		IDToken string `json:"id_token"`
	}
	require.NoError(w.t, json.Unmarshal([]byte(p.body), &answer), p.body)
	if answer.IDToken == "" {
		return p.status, nil
	}
	body, err := base64.RawURLEncoding.DecodeString(strings.Split(answer.IDToken, ".")[1])
	require.NoError(w.t, err)
	claims := map[string]any{}
	require.NoError(w.t, json.Unmarshal(body, &claims))
	claims["raw"] = answer.IDToken
	return p.status, claims
}

func TestSignInSaysHowItWasDone(t *testing.T) {
	w := start(t)
	_, claims := w.redeem(w.signIn(w.browser(), "Ada", "ada-password", w.code()).portalCode(t))
	require.Equal(t, "u1", claims["sub"])
	require.Equal(t, "Ada Byron", claims["name"])
	require.Equal(t, "ada@example.org", claims["email"])
	require.Equal(t, []any{"managers"}, claims["groups"])
	require.Equal(t, idp.ACRMultiFactor, claims["acr"])
	require.Equal(t, []any{"pwd", "otp", "mfa"}, claims["amr"])
	require.Equal(t, "no", claims["nonce"])
	require.NotEmpty(t, claims["sid"])
	require.InDelta(t, float64(time.Now().Unix()), claims["auth_time"], 60)

	_, claims = w.redeem(w.signIn(w.browser(), "bob", "bob-password", "", "acr_values", idp.ACRMultiFactor, "scope", "openid").portalCode(t))
	require.Equal(t, idp.ACRPassword, claims["acr"], "who has no second factor is not said to have used one")
	require.Equal(t, []any{"pwd"}, claims["amr"])
	require.Nil(t, claims["groups"], "claims come with their scope")
	require.Nil(t, claims["name"])
}

func TestWrongNamePasswordAndCodeAreRefused(t *testing.T) {
	w := start(t)
	for name, c := range map[string]struct {
		user, password, code string
		status               int
		says                 string
	}{
		"unknown name":     {"eve", "ada-password", "", 401, "not right"},
		"wrong password":   {"ada", "bob-password", w.code(), 401, "not right"},
		"no password":      {"ada", "", w.code(), 422, "Enter user name"},
		"no code":          {"ada", "ada-password", "", 401, "Enter the one-time code"},
		"wrong code":       {"ada", "ada-password", "000000", 401, "one-time code is not right"},
		"old code":         {"ada", "ada-password", idp.Code(secret, w.now().Add(-5*time.Minute)), 401, "one-time code is not right"},
		"markup as name":   {`"><script>`, "x", "", 401, "&#34;&gt;&lt;script&gt;"},
		"endless password": {"bob", strings.Repeat("x", 200), "", 401, "not right"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			p := w.signIn(w.browser(), c.user, c.password, c.code)
			require.Equal(t, c.status, p.status)
			require.Contains(t, p.body, c.says)
			require.Contains(t, p.body, `role="alert"`)
			require.NotContains(t, p.body, "ada-password")
		})
	}
}

func TestACodeOpensOnce(t *testing.T) {
	w := start(t)
	code := w.code()
	w.signIn(w.browser(), "ada", "ada-password", code).portalCode(t)
	p := w.signIn(w.browser(), "ada", "ada-password", code)
	require.Equal(t, 401, p.status)
	require.Contains(t, p.body, "used already")
	w.restart()
	p = w.signIn(w.browser(), "ada", "ada-password", code)
	require.Equal(t, 401, p.status, "spent codes outlive a restart")
	w.later(30 * time.Second)
	w.signIn(w.browser(), "ada", "ada-password", w.code()).portalCode(t)
}

func TestManyAttemptsWaitAndThenMayGoOn(t *testing.T) {
	w := start(t)
	b := w.browser()
	id := w.get(b, w.authorizeURL()).id(t)
	for range 5 {
		require.Equal(t, 401, w.post(b, id, "BOB", "wrong", "").status)
	}
	p := w.post(b, id, "bob", "bob-password", "")
	require.Equal(t, 429, p.status, "the right password is not looked at either")
	require.Contains(t, p.body, "UTC")
	require.Equal(t, 429, w.signIn(w.browser(), "bob", "bob-password", "").status, "from everywhere")
	require.Equal(t, 401, w.post(b, id, "eve", "x", "").status, "others are not held up")
	w.later(61 * time.Second)
	w.post(b, id, "bob", "bob-password", "").portalCode(t)
	require.Equal(t, 401, w.signIn(w.browser(), "bob", "wrong", "").status, "a sign-in clears the count")
}

func TestALoginBelongsToTheBrowserThatBeganIt(t *testing.T) {
	w := start(t)
	mine, other := w.browser(), w.browser()
	w.get(other, w.authorizeURL()) // has a cookie of its own
	login := w.get(mine, w.authorizeURL())
	id := login.id(t)

	require.Equal(t, 400, w.get(other, login.at).status, "the form is not shown elsewhere")
	p := w.post(other, id, "bob", "bob-password", "")
	require.Equal(t, 400, p.status)
	require.Contains(t, p.body, "started in another browser")
	require.Equal(t, 400, w.get(other, w.URL+"/authorize/callback?id="+id).status)
	require.Equal(t, 400, w.get(http.DefaultClient, w.URL+"/authorize/callback?id="+id).status)

	code := w.post(mine, id, "bob", "bob-password", "").portalCode(t)
	require.NotEmpty(t, code)
	require.Equal(t, 400, w.get(other, w.URL+"/authorize/callback?id="+id).status, "nor is the code given to another one")
}

func TestLoginsEndAfterTenMinutes(t *testing.T) {
	w := start(t)
	b := w.browser()
	id := w.get(b, w.authorizeURL()).id(t)
	w.later(11 * time.Minute)
	p := w.post(b, id, "bob", "bob-password", "")
	require.Equal(t, 400, p.status)
	require.Contains(t, p.body, "longer than ten minutes")
}

func TestAuthorizationRequestsAreChecked(t *testing.T) {
	w := start(t)
	for name, c := range map[string]struct {
		pairs []string
		error string // at the portal; empty: refused on the page
	}{
		"no PKCE":                 {[]string{"code_challenge", "", "code_challenge_method", ""}, "invalid_request"},
		"plain PKCE":              {[]string{"code_challenge_method", "plain"}, "invalid_request"},
		"short PKCE":              {[]string{"code_challenge", "abc"}, "invalid_request"},
		"token in the address":    {[]string{"response_type", "id_token"}, ""},
		"nobody there, no asking": {[]string{"prompt", "none"}, "login_required"},
		"another address":         {[]string{"redirect_uri", "https://elsewhere.example/cb"}, ""},
		"address with a suffix":   {[]string{"redirect_uri", redirect + "/x"}, ""},
		"unknown client":          {[]string{"client_id", "eve"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := w.get(w.browser(), w.authorizeURL(c.pairs...))
			if c.error == "" {
				require.Equal(t, 400, p.status)
				require.Empty(t, p.location.String())
				return
			}
			require.True(t, strings.HasPrefix(p.location.String(), redirect), p.location.String())
			all := p.location.RawQuery + p.location.Fragment
			require.Contains(t, all, "error="+c.error)
			require.NotContains(t, all, "code=")
		})
	}
}

func TestCodesAreRedeemedOnceByTheirClient(t *testing.T) {
	for name, change := range map[string][]string{
		"wrong secret":   {"secret", "guess"},
		"wrong verifier": {"code_verifier", strings.Repeat("x", 43)},
		"no verifier":    {"code_verifier", ""},
		"wrong address":  {"redirect_uri", "http://localhost:1/other"},
		"wrong code":     {"code", "guess"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			code := w.signIn(w.browser(), "bob", "bob-password", "").portalCode(t)
			status, claims := w.redeem(code, change...)
			require.Contains(t, []int{400, 401}, status)
			require.Nil(t, claims)
		})
	}
	w := start(t)
	code := w.signIn(w.browser(), "bob", "bob-password", "").portalCode(t)
	status, _ := w.redeem(code)
	require.Equal(t, 200, status)
	status, claims := w.redeem(code)
	require.Equal(t, 400, status, "a code is spent")
	require.Nil(t, claims)
}

func TestASignedInBrowserIsAskedAgainOnlyWhenItMust(t *testing.T) {
	w := start(t)
	b := w.browser()
	w.signIn(b, "ada", "ada-password", w.code()).portalCode(t)
	asks := func(pairs ...string) bool {
		p := w.get(b, w.authorizeURL(pairs...))
		if p.status == 200 {
			return true
		}
		p.portalCode(t)
		return false
	}
	require.False(t, asks())
	require.False(t, asks("prompt", "none"))
	require.False(t, asks("acr_values", idp.ACRMultiFactor))
	require.False(t, asks("max_age", "300"))
	require.False(t, asks("login_hint", "ada"))
	require.True(t, asks("prompt", "login"))
	require.True(t, asks("max_age", "0"))
	require.True(t, asks("login_hint", "bob"), "somebody else is meant")
	w.restart()
	require.False(t, asks(), "a restart signs nobody out")
	w.later(6 * time.Minute)
	require.True(t, asks("max_age", "300"))
	require.False(t, asks("max_age", "3600"))
	w.later(12 * time.Hour)
	require.True(t, asks(), "a session ends after 12 hours")

	w = start(t)
	b = w.browser()
	w.signIn(b, "bob", "bob-password", "").portalCode(t)
	require.False(t, asks())
	require.True(t, asks("acr_values", idp.ACRMultiFactor), "one factor does not serve two")
}

func TestTheStepUpFormNamesThePerson(t *testing.T) {
	w := start(t)
	b := w.browser()
	first := w.signIn(b, "ada", "ada-password", w.code())
	_, before := w.redeem(first.portalCode(t))
	w.later(time.Minute)
	p := w.get(b, w.authorizeURL("max_age", "0", "login_hint", "ADA@example.org", "acr_values", idp.ACRMultiFactor))
	require.Contains(t, p.body, "Confirm that it is you")
	require.Contains(t, p.body, `value="ada"`)
	_, after := w.redeem(w.post(b, p.id(t), "ada", "ada-password", w.code()).portalCode(t))
	require.Greater(t, after["auth_time"], before["auth_time"])
	require.NotEqual(t, before["sid"], after["sid"])
}

func TestPagesAreClosedToScriptsAndFrames(t *testing.T) {
	w := start(t)
	p := w.get(w.browser(), w.authorizeURL())
	policy := p.header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.Contains(t, policy, "frame-ancestors 'none'")
	require.Contains(t, policy, "form-action 'self' http://localhost:1")
	require.Equal(t, "no-store", p.header.Get("Cache-Control"))
	require.Contains(t, p.body, "for demonstration and small labs")
	for _, a := range []string{`autocomplete="username"`, `autocomplete="current-password"`, `autocomplete="one-time-code"`, `<label for="code">`} {
		require.Contains(t, p.body, a)
	}
	require.NotContains(t, p.body, "<script")
	style := w.get(w.browser(), w.URL+"/style.css")
	require.Equal(t, 200, style.status)
	require.Contains(t, style.header.Get("Content-Type"), "text/css")

	r, err := http.NewRequest(http.MethodPost, w.URL+"/login", strings.NewReader("id=x"))
	require.NoError(t, err)
	r.Header.Set("Origin", "https://elsewhere.example")
	require.Equal(t, 403, w.read(http.DefaultClient.Do(r)).status, "forms of other sites are refused")
}

func TestPeopleAreListedInDevelopmentOnly(t *testing.T) {
	w := start(t)
	p := w.get(w.browser(), w.URL+"/people")
	require.Equal(t, 200, p.status)
	for _, s := range []string{"Ada Byron", "Team manager", "ada-password", w.code(), "bob-password", "none set up", `data-seconds="`, `href="/people"`} {
		require.Contains(t, p.body, s)
	}
	require.NotContains(t, p.body, `class="used"`)
	w.signIn(w.browser(), "ada", "ada-password", w.code()).portalCode(t)
	next := idp.Code(secret, w.now().Add(30*time.Second))
	require.Contains(t, w.get(w.browser(), w.URL+"/people").body, next, "a code that was used is replaced by one that works")
	w.signIn(w.browser(), "ada", "ada-password", next).portalCode(t)
	require.Contains(t, w.get(w.browser(), w.URL+"/people").body, `class="used"`)

	hash, err := bcrypt.GenerateFromPassword([]byte("x"), bcrypt.MinCost)
	require.NoError(t, err)
	lab := start(t, func(c *idp.Config) {
		c.Dev = false
		c.Users = []idp.User{{Subject: "1", Username: "ada", PasswordHash: string(hash)}}
	})
	require.Equal(t, 404, lab.get(lab.browser(), lab.URL+"/people").status)
	require.NotContains(t, lab.get(lab.browser(), lab.authorizeURL()).body, "/people")
}

func TestConfigurationIsChecked(t *testing.T) {
	good := start(t).cfg
	for name, change := range map[string]func(*idp.Config){
		"http to the world":             func(c *idp.Config) { c.Issuer = "http://idp.example" },
		"issuer with a path":            func(c *idp.Config) { c.Issuer = "https://idp.example/a" },
		"plain password outside of dev": func(c *idp.Config) { c.Dev = false },
		"no password":                   func(c *idp.Config) { c.Users = []idp.User{{Subject: "1", Username: "a"}} },
		"hash that is none":             func(c *idp.Config) { c.Users = []idp.User{{Subject: "1", Username: "a", PasswordHash: "x"}} },
		"no subject":                    func(c *idp.Config) { c.Users = []idp.User{{Username: "a", Password: "x"}} },
		"same name twice": func(c *idp.Config) {
			c.Users = []idp.User{{Subject: "1", Username: "a", Password: "x"}, {Subject: "2", Username: "A", Password: "x"}}
		},
		"same subject twice": func(c *idp.Config) {
			c.Users = []idp.User{{Subject: "1", Username: "a", Password: "x"}, {Subject: "1", Username: "b", Password: "x"}}
		},
		"secret that is none": func(c *idp.Config) {
			c.Users = []idp.User{{Subject: "1", Username: "a", Password: "x", TOTPSecret: "0189"}}
		},
		"client without secret": func(c *idp.Config) { c.Clients = []idp.Client{{ID: "a", RedirectURIs: []string{redirect}}} },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			cfg.Dir = t.TempDir()
			change(&cfg)
			_, err := idp.New(cfg)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "password: x")
		})
	}
}
