package oidc_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/oidcpeer"
	"quartermaster/handlers/oidc"
	"quartermaster/internal/dev/idp"
)

// portal is the other end of a sign-in: it notes what comes back.
type portal struct {
	*httptest.Server
	returned chan url.Values
	told     chan string
}

func newPortal(t *testing.T) *portal {
	p := &portal{returned: make(chan url.Values, 10), told: make(chan string, 10)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", func(_ http.ResponseWriter, r *http.Request) { p.returned <- r.URL.Query() })
	mux.HandleFunc("GET /signed-out", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("bye")) })
	mux.HandleFunc("POST /logout", func(_ http.ResponseWriter, r *http.Request) { p.told <- r.PostFormValue("logout_token") })
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// party is one identity provider to sign in at: ours, and one by others.
type party struct {
	config                      oidc.Config
	multiFactor                 string // its name for two factors
	subject, password, secret   string // somebody with two factors
	second, passwordOfTheSecond string // somebody with one
	groups                      []string
}

func builtIn(t *testing.T, p *portal) party {
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	var err error
	handler, err = idp.New(idp.Config{
		Issuer: server.URL, Dev: true, Log: slog.New(slog.DiscardHandler),
		Users: []idp.User{
			{Subject: "alice", Username: "alice", Name: "Alice", Password: "pw", TOTPSecret: oidcpeer.AliceSecret, Groups: []string{"managers", "staff"}},
			{Subject: "bob", Username: "bob", Name: "Bob", Password: "pw-bob", Groups: []string{"staff"}},
		},
		Clients: []idp.Client{{
			ID: "portal", Secret: "s", RedirectURIs: []string{p.URL + "/callback"}, PostLogout: []string{p.URL + "/signed-out"}, BackChannel: p.URL + "/logout",
		}},
	})
	require.NoError(t, err)
	return party{
		config:      oidc.Config{Issuer: server.URL, ClientID: "portal", ClientSecret: "s", CallbackURL: p.URL + "/callback"},
		multiFactor: idp.ACRMultiFactor, subject: "alice", password: "pw", secret: oidcpeer.AliceSecret,
		second: "bob", passwordOfTheSecond: "pw-bob", groups: []string{"managers", "staff"},
	}
}

func byOthers(t *testing.T, p *portal) party {
	issuer := oidcpeer.Start(t, oidcpeer.Options{Redirect: p.URL + "/callback", PostLogout: p.URL + "/signed-out", BackChannel: p.URL + "/logout"})
	return party{
		config:      oidc.Config{Issuer: issuer, ClientID: oidcpeer.ClientID, ClientSecret: oidcpeer.ClientSecret, CallbackURL: p.URL + "/callback"},
		multiFactor: oidcpeer.MultiFactor, subject: "alice", password: oidcpeer.AlicePassword, secret: oidcpeer.AliceSecret,
		second: "bob", passwordOfTheSecond: oidcpeer.BobPassword, groups: []string{"managers", "staff"},
	}
}

var parties = map[string]func(*testing.T, *portal) party{"built-in": builtIn, "written by others": byOthers}

func TestSignInStepUpAndSignOut(t *testing.T) {
	for name, make := range parties {
		t.Run(name, func(t *testing.T) {
			site := newPortal(t)
			op := make(t, site)
			p, err := oidc.New(t.Context(), op.config)
			require.NoError(t, err)
			b := oidcpeer.NewBrowser(t)

			// Sign in with two factors.
			s := begin(t, p, oidc.AuthOptions{})
			page := b.Get(s.AuthURL)
			b.Submit(page, "username", op.subject, "password", op.password, "code", idp.Code(op.secret, time.Now()))
			first, err := p.Finish(t.Context(), s, <-site.returned)
			require.NoError(t, err)
			require.Equal(t, op.config.Issuer, first.Issuer)
			require.Equal(t, op.subject, first.Subject)
			require.Equal(t, op.groups, first.Groups, first.GroupsNote)
			require.Equal(t, op.multiFactor, first.ACR)
			require.Contains(t, first.AMR, "mfa")
			require.WithinDuration(t, time.Now(), first.AuthTime, time.Minute)
			require.NotEmpty(t, first.SessionID)

			// A second sign-in is served by the provider's session, without a page.
			s = begin(t, p, oidc.AuthOptions{})
			b.Get(s.AuthURL)
			_, err = p.Finish(t.Context(), s, <-site.returned)
			require.NoError(t, err)

			// A code of an earlier sign-in, or one that was redeemed, opens nothing.
			again := begin(t, p, oidc.AuthOptions{})
			b.Get(again.AuthURL)
			q := <-site.returned
			q.Set("state", s.State)
			_, err = p.Finish(t.Context(), s, q)
			require.Equal(t, oidc.ProviderError, oidc.ReasonOf(err), "another sign-in's PKCE verifier: %v", err)

			// Step up: the provider asks again, and says so in what it signs.
			s = begin(t, p, oidc.AuthOptions{MaxAge: new(time.Duration(0)), ACRValues: []string{op.multiFactor}, LoginHint: op.subject})
			page = b.Get(s.AuthURL)
			require.Contains(t, page.Body, `value="`+op.subject+`"`)
			b.Submit(page, "password", op.password, "code", idp.Code(op.secret, time.Now().Add(30*time.Second)))
			up, err := p.Finish(t.Context(), s, <-site.returned)
			require.NoError(t, err)
			require.Equal(t, op.multiFactor, up.ACR)

			// Sign out at the provider, which tells us over the back channel.
			target, ok := p.EndSessionURL(t.Context(), up.IDToken, site.URL+"/signed-out")
			require.True(t, ok)
			page = b.Get(target)
			if page.Body != "bye" { // some providers ask
				page = b.Submit(page, "logout", "yes")
			}
			require.Equal(t, "bye", page.Body)
			out, err := p.VerifyLogoutToken(t.Context(), <-site.told)
			require.NoError(t, err)
			require.Equal(t, op.subject, out.Subject)
			require.Equal(t, up.SessionID, out.SessionID)
		})
	}
}

func TestWhoHasOneFactorIsNotSaidToHaveTwo(t *testing.T) {
	for name, make := range parties {
		t.Run(name, func(t *testing.T) {
			site := newPortal(t)
			op := make(t, site)
			p, err := oidc.New(t.Context(), op.config)
			require.NoError(t, err)
			b := oidcpeer.NewBrowser(t)
			s := begin(t, p, oidc.AuthOptions{})
			b.Submit(b.Get(s.AuthURL), "username", op.second, "password", op.passwordOfTheSecond)
			id, err := p.Finish(t.Context(), s, <-site.returned)
			require.NoError(t, err)
			require.NotEqual(t, op.multiFactor, id.ACR)
			require.Equal(t, []string{"pwd"}, id.AMR)
		})
	}
}
