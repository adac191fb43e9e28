package idp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// storage is what the library sees of the state. Grants that the built-in
// provider does not offer (refresh, introspection, JWT profile) always fail.
type storage struct{ *state }

var (
	_ op.Storage                        = storage{}
	_ op.CanSetUserinfoFromRequest      = storage{}
	_ op.CanTerminateSessionFromRequest = storage{}
)

var errNotOffered = errors.New("the built-in identity provider does not offer this")

func (s storage) CreateAuthRequest(ctx context.Context, r *oidc.AuthRequest, _ string) (op.AuthRequest, error) {
	if len(r.CodeChallenge) < 43 || r.CodeChallengeMethod != oidc.CodeChallengeMethodS256 {
		return nil, oidc.ErrInvalidRequest().WithDescription("PKCE with S256 is required")
	}
	if r.ResponseMode == oidc.ResponseModeFragment {
		return nil, oidc.ErrInvalidRequest().WithDescription("the code is not sent in a fragment")
	}
	b := browserOf(ctx)
	if b == nil {
		return nil, oidc.ErrServerError()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	if len(s.logins) >= mostLogins {
		return nil, oidc.ErrServerError().WithDescription("too many logins are under way")
	}
	l := &login{AuthRequest: *r, id: random(), browser: b.digest, began: s.cfg.Now()}
	if slices.Contains(r.Prompt, oidc.PromptNone) {
		e, ok := s.sessions[b.session]
		if !ok || !l.servedBy(e, s.hinted(l), s.cfg.Now()) {
			return nil, oidc.ErrLoginRequired()
		}
	}
	s.logins[l.id] = l
	return l.copy(), nil
}

func (l *login) copy() *login {
	c := *l
	return &c
}

// hintedUser is who login_hint means: by user name, e-mail or subject.
func (s *state) hintedUser(l *login) user {
	for _, u := range s.users {
		if l.LoginHint != "" && (strings.EqualFold(u.Username, l.LoginHint) || strings.EqualFold(u.Email, l.LoginHint) || u.Subject == l.LoginHint) {
			return u
		}
	}
	return user{}
}

func (s *state) hinted(l *login) string {
	return s.hintedUser(l).Subject
}

func (s storage) AuthRequestByID(_ context.Context, id string) (op.AuthRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	if l := s.logins[id]; l != nil {
		return l.copy(), nil
	}
	return nil, errors.New("this login is over or never began")
}

// AuthRequestByCode spends the code, whatever comes of it.
func (s storage) AuthRequestByCode(ctx context.Context, code string) (op.AuthRequest, error) {
	s.mu.Lock()
	id, ok := s.codes[code]
	delete(s.codes, code)
	s.mu.Unlock()
	if !ok {
		return nil, errors.New("code unknown or spent")
	}
	return s.AuthRequestByID(ctx, id)
}

func (s storage) SaveAuthCode(_ context.Context, id, code string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for old, of := range s.codes { // coming back twice yields one code, not two
		if of == id {
			delete(s.codes, old)
		}
	}
	s.codes[code] = id
	return nil
}

func (s storage) DeleteAuthRequest(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.logins, id)
	return nil
}

func (s storage) CreateAccessToken(_ context.Context, r op.TokenRequest) (string, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, end := random(), s.cfg.Now().Add(tokenLife)
	s.tokens[id] = token{r.GetSubject(), r.GetScopes(), end}
	return id, end, nil
}

func (s storage) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	if c, ok := s.clients[id]; ok {
		return client{c}, nil
	}
	return nil, errors.New("unknown client")
}

func (s storage) AuthorizeClientIDSecret(_ context.Context, id, secret string) error {
	if c, ok := s.clients[id]; ok && (client{c}).hasSecret(secret) {
		return nil
	}
	return errors.New("unknown client or wrong secret")
}

func (s storage) SetUserinfoFromScopes(_ context.Context, info *oidc.UserInfo, subject, _ string, scopes []string) error {
	u, ok := s.userOf(subject)
	if !ok {
		return errors.New("no such user")
	}
	info.Subject = u.Subject
	if slices.Contains(scopes, oidc.ScopeProfile) {
		info.Name, info.PreferredUsername = u.Name, u.Username
	}
	if slices.Contains(scopes, oidc.ScopeEmail) && u.Email != "" {
		info.Email, info.EmailVerified = u.Email, true
	}
	if slices.Contains(scopes, scopeGroups) {
		info.AppendClaims("groups", append([]string{}, u.Groups...))
	}
	return nil
}

// SetUserinfoFromRequest adds the session's id to the ID token.
func (s storage) SetUserinfoFromRequest(_ context.Context, info *oidc.UserInfo, r op.IDTokenRequest, _ []string) error {
	if l, ok := r.(*login); ok && l.session != nil {
		info.AppendClaims("sid", l.session.ID)
	}
	return nil
}

func (s storage) SetUserinfoFromToken(ctx context.Context, info *oidc.UserInfo, id, subject, _ string) error {
	s.mu.Lock()
	t, ok := s.tokens[id]
	s.mu.Unlock()
	if !ok || t.subject != subject || s.cfg.Now().After(t.end) {
		return errors.New("token unknown or expired")
	}
	return s.SetUserinfoFromScopes(ctx, info, subject, "", t.scopes)
}

type signingKey struct{ *state }

func (k signingKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.ES256 }
func (k signingKey) Algorithm() jose.SignatureAlgorithm          { return jose.ES256 }
func (k signingKey) Use() string                                 { return "sig" }
func (k signingKey) Key() any                                    { return k.key }
func (k signingKey) ID() string                                  { return k.keyID }

type publicKey struct{ signingKey }

func (k publicKey) Key() any { return &k.key.PublicKey }

func (s storage) SigningKey(context.Context) (op.SigningKey, error) { return signingKey(s), nil }
func (s storage) KeySet(context.Context) ([]op.Key, error) {
	return []op.Key{publicKey{signingKey(s)}}, nil
}

func (s storage) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{jose.ES256}, nil
}
func (s storage) Health(context.Context) error { return nil }

func (s storage) CreateAccessAndRefreshTokens(context.Context, op.TokenRequest, string) (string, string, time.Time, error) {
	return "", "", time.Time{}, errNotOffered
}

func (s storage) TokenRequestByRefreshToken(context.Context, string) (op.RefreshTokenRequest, error) {
	return nil, errNotOffered
}

func (s storage) RevokeToken(context.Context, string, string, string) *oidc.Error {
	return oidc.ErrInvalidRequest().WithDescription("the built-in identity provider does not offer this")
}

func (s storage) GetRefreshTokenInfo(context.Context, string, string) (string, string, error) {
	return "", "", op.ErrInvalidRefreshToken
}

func (s storage) SetIntrospectionFromToken(context.Context, *oidc.IntrospectionResponse, string, string, string) error {
	return errNotOffered
}

func (s storage) GetPrivateClaimsFromScopes(context.Context, string, string, []string) (map[string]any, error) {
	return nil, nil
}

func (s storage) GetKeyByIDAndClientID(context.Context, string, string) (*jose.JSONWebKey, error) {
	return nil, errNotOffered
}

func (s storage) ValidateJWTProfileScopes(context.Context, string, []string) ([]string, error) {
	return nil, errNotOffered
}

// TerminateSession is replaced by TerminateSessionFromRequest.
func (s storage) TerminateSession(context.Context, string, string) error { return errNotOffered }
