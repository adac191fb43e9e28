package oidc

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// signatures is every algorithm an ID token may be signed with: asymmetric ones
// only. A provider's own list can narrow it, never widen it.
var signatures = []string{
	gooidc.RS256, gooidc.RS384, gooidc.RS512, gooidc.PS256, gooidc.PS384, gooidc.PS512,
	gooidc.ES256, gooidc.ES384, gooidc.ES512, gooidc.EdDSA,
}

// rediscover is how long a discovery serves. A new one also drops keys that the
// provider has withdrawn.
const rediscover = time.Hour

type endpoints struct {
	at         time.Time
	op         *gooidc.Provider
	oauth      oauth2.Config
	verifier   *gooidc.IDTokenVerifier
	algorithms []string
	endSession string
	answersIss bool // sends iss in the authorization response (RFC 9207)
}

// discover returns the provider's endpoints, from memory when young enough. All
// callers of one moment share one call. While the provider is down the last good
// discovery goes on serving.
func (p *Provider) discover(ctx context.Context) (*endpoints, error) {
	p.mu.Lock()
	have := p.found
	p.mu.Unlock()
	if have != nil && p.cfg.Now().Sub(have.at) < rediscover {
		return have, nil
	}
	// The shared call must not die with the first caller's request.
	shared := p.flight.DoChan("discover", func() (any, error) {
		return p.load(gooidc.ClientContext(context.WithoutCancel(ctx), p.client))
	})
	select {
	case <-ctx.Done():
		return nil, refuse(ProviderUnreachable, "discovery", ctx.Err())
	case got := <-shared:
		if got.Err == nil {
			return got.Val.(*endpoints), nil
		}
		if have != nil {
			return have, nil
		}
		return nil, got.Err
	}
}

func (p *Provider) load(ctx context.Context) (*endpoints, error) {
	op, err := gooidc.NewProvider(ctx, p.cfg.Issuer)
	if err != nil {
		var other *gooidc.IssuerMismatchError
		if errors.As(err, &other) {
			return nil, refuse(WrongIssuer, "discovery", err)
		}
		return nil, refuse(ProviderUnreachable, "discovery", err)
	}
	var doc struct {
		Authorization string   `json:"authorization_endpoint"`
		Token         string   `json:"token_endpoint"`
		Keys          string   `json:"jwks_uri"`
		UserInfo      string   `json:"userinfo_endpoint"`
		EndSession    string   `json:"end_session_endpoint"`
		Algorithms    []string `json:"id_token_signing_alg_values_supported"`
		AuthMethods   []string `json:"token_endpoint_auth_methods_supported"`
		AnswersIss    bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := op.Claims(&doc); err != nil {
		return nil, refuse(ProviderUnreachable, "discovery", err)
	}
	for name, u := range map[string]string{"authorization_endpoint": doc.Authorization, "token_endpoint": doc.Token, "jwks_uri": doc.Keys} {
		if checkURL(u) != nil {
			return nil, refuse(ProviderUnreachable, "discovery: "+name, nil)
		}
	}
	for name, u := range map[string]string{"userinfo_endpoint": doc.UserInfo, "end_session_endpoint": doc.EndSession} {
		if u != "" && checkURL(u) != nil {
			return nil, refuse(ProviderUnreachable, "discovery: "+name, nil)
		}
	}

	algorithms := slices.DeleteFunc(slices.Clone(signatures), func(a string) bool { return !slices.Contains(doc.Algorithms, a) })
	if len(algorithms) == 0 {
		algorithms = []string{gooidc.RS256} // what the standard demands of everybody
	}
	endpoint := op.Endpoint()
	// Chosen here, because x/oauth2 otherwise tries both and spends the code on the first.
	endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if p.cfg.ClientSecret == "" || (len(doc.AuthMethods) > 0 && !slices.Contains(doc.AuthMethods, "client_secret_basic")) {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	e := &endpoints{
		at:         p.cfg.Now(),
		op:         op,
		endSession: doc.EndSession,
		answersIss: doc.AnswersIss,
		algorithms: algorithms,
		oauth: oauth2.Config{
			ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, RedirectURL: p.cfg.CallbackURL,
			Endpoint: endpoint, Scopes: append([]string{gooidc.ScopeOpenID}, p.cfg.Scopes...),
		},
		// Signature and form only. The claims are judged by checkClaims, one by
		// one, because a refusal has to name its reason.
		verifier: gooidc.NewVerifier(p.cfg.Issuer, namedKeys{gooidc.NewRemoteKeySet(ctx, doc.Keys)}, &gooidc.Config{
			SupportedSigningAlgs: algorithms, SkipClientIDCheck: true, SkipExpiryCheck: true, SkipIssuerCheck: true,
		}),
	}
	p.mu.Lock()
	p.found = e
	p.mu.Unlock()
	return e, nil
}

// namedKeys tells "no key fits" from "the keys could not be fetched", which
// go-oidc's verifier folds into one text.
type namedKeys struct{ remote gooidc.KeySet }

type keyFailure struct{ err error }

type keyFailureKey struct{}

func (k namedKeys) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := k.remote.VerifySignature(ctx, jwt)
	if err != nil && (ctx.Err() != nil || strings.HasPrefix(err.Error(), "fetching keys")) {
		if f, ok := ctx.Value(keyFailureKey{}).(*keyFailure); ok {
			f.err = err
		}
	}
	return payload, err
}
