package oidc

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/markbates/goth"
	"golang.org/x/oauth2"
)

// Authorize redeems the code that the browser brought back. It belongs to
// goth.Session; every error is a *Refusal.
func (s *Session) Authorize(provider goth.Provider, params goth.Params) (string, error) {
	p, ok := provider.(*Provider)
	if !ok {
		return "", refuse(ProviderError, "not an OpenID Connect provider", nil)
	}
	return s.redeem(context.Background(), p, params)
}

func (s *Session) redeem(ctx context.Context, p *Provider, params goth.Params) (string, error) {
	// The state comes first: nothing else in an address that somebody may have
	// planted is worth reading.
	if s.State == "" || subtle.ConstantTimeCompare([]byte(params.Get("state")), []byte(s.State)) != 1 {
		return "", refuse(StateMismatch, "", nil)
	}
	e, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	if iss := params.Get("iss"); iss != p.cfg.Issuer && (iss != "" || e.answersIss) {
		return "", refuse(WrongIssuer, "authorization response", nil) // RFC 9207: an answer mixed up with another provider's
	}
	if code := params.Get("error"); code != "" {
		return "", refuse(ProviderError, cleanCode(code), nil)
	}
	code := params.Get("code")
	if code == "" {
		return "", refuse(NoCode, "", nil)
	}
	token, err := e.oauth.Exchange(gooidc.ClientContext(ctx, p.client), code, oauth2.VerifierOption(s.Verifier))
	if err != nil {
		var answer *oauth2.RetrieveError
		if errors.As(err, &answer) && answer.ErrorCode != "" {
			return "", refuse(ProviderError, cleanCode(answer.ErrorCode), err)
		}
		return "", refuse(ProviderUnreachable, "token endpoint", err)
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok || raw == "" {
		return "", refuse(NoIDToken, "", nil)
	}
	s.idToken, s.accessToken = raw, token.AccessToken
	return token.AccessToken, nil
}

// FetchUser verifies the ID token and returns the person. It belongs to
// goth.Provider; RawData holds the claims of the signed token. Every error is a
// *Refusal.
func (p *Provider) FetchUser(session goth.Session) (goth.User, error) {
	s, ok := session.(*Session)
	if !ok {
		return goth.User{}, refuse(NoIDToken, "not an OpenID Connect session", nil)
	}
	id, claims, err := p.identify(context.Background(), s)
	if err != nil {
		return goth.User{}, err
	}
	return goth.User{
		Provider: p.cfg.Name, UserID: id.Subject, Name: id.Name, Email: id.Email, IDToken: id.IDToken, ExpiresAt: id.expires, RawData: claims,
	}, nil
}

// Finish is Authorize and FetchUser in one, under the caller's context.
func (p *Provider) Finish(ctx context.Context, s *Session, params goth.Params) (Identity, error) {
	if _, err := s.redeem(ctx, p, params); err != nil {
		return Identity{}, err
	}
	id, _, err := p.identify(ctx, s)
	return id, err
}

func (p *Provider) identify(ctx context.Context, s *Session) (Identity, map[string]any, error) {
	if s.idToken == "" {
		return Identity{}, nil, refuse(NoIDToken, "", nil)
	}
	e, err := p.discover(ctx)
	if err != nil {
		return Identity{}, nil, err
	}
	token, err := e.verify(ctx, s.idToken)
	if err != nil {
		return Identity{}, nil, err
	}
	claims := map[string]any{}
	if err := token.Claims(&claims); err != nil {
		return Identity{}, nil, refuse(MalformedToken, "claims", err)
	}
	if err := checkClaims(token, claims, expected{
		issuer: p.cfg.Issuer, clientID: p.cfg.ClientID, nonce: s.Nonce, accessToken: s.accessToken,
		notBefore: s.NotBefore, now: p.cfg.Now(),
	}); err != nil {
		return Identity{}, nil, err
	}
	id := identityOf(token, claims, p.cfg.GroupsClaim)
	id.IDToken = s.idToken
	if p.cfg.UserInfo {
		if err := p.fill(ctx, e, s, &id, claims); err != nil {
			return Identity{}, nil, err
		}
	}
	return id, claims, nil
}

// verify checks form and signature, nothing else.
func (e *endpoints) verify(ctx context.Context, raw string) (*gooidc.IDToken, error) {
	failed := &keyFailure{}
	token, err := e.verifier.Verify(context.WithValue(ctx, keyFailureKey{}, failed), raw)
	if err == nil {
		return token, nil
	}
	return nil, e.nameFailure(raw, err, failed.err)
}

// nameFailure finds the word for a token that did not verify.
func (e *endpoints) nameFailure(raw string, err, keys error) *Refusal {
	if keys != nil {
		return refuse(ProviderUnreachable, "keys", err)
	}
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return refuse(MalformedToken, "", err)
	}
	var header struct {
		Algorithm string `json:"alg"`
	}
	if b, decodeErr := base64.RawURLEncoding.DecodeString(parts[0]); decodeErr != nil || json.Unmarshal(b, &header) != nil {
		return refuse(MalformedToken, "header", err)
	}
	if !slices.Contains(e.algorithms, header.Algorithm) {
		return refuse(BadSignature, "algorithm not allowed", err)
	}
	// go-oidc says this only after the signature passed, so what is wrong is a claim's type.
	if strings.Contains(err.Error(), "unmarshal claims") {
		return refuse(MalformedToken, "claims", err)
	}
	return refuse(BadSignature, "", err)
}

// fill takes name, email and groups from userinfo where the signed token lacks
// them, after checking that it speaks of the same person.
func (p *Provider) fill(ctx context.Context, e *endpoints, s *Session, id *Identity, claims map[string]any) error {
	_, hasGroups := claims[p.cfg.GroupsClaim]
	if (id.Name != "" && id.Email != "" && hasGroups) || e.op.UserInfoEndpoint() == "" {
		return nil
	}
	info, err := e.op.UserInfo(gooidc.ClientContext(ctx, p.client), oauth2.StaticTokenSource(&oauth2.Token{AccessToken: s.accessToken, TokenType: "Bearer"}))
	if err != nil {
		return refuse(ProviderUnreachable, "userinfo", err)
	}
	if info.Subject != id.Subject {
		return refuse(WrongSubject, "userinfo", nil)
	}
	more := map[string]any{}
	if err := info.Claims(&more); err != nil {
		return refuse(MalformedToken, "userinfo", err)
	}
	if id.Name == "" {
		id.Name = nameOf(more)
	}
	if id.Email == "" {
		id.Email = text(more, "email", maxEmail)
	}
	if !hasGroups {
		id.Groups, id.GroupsNote = groupsOf(more, p.cfg.GroupsClaim)
	}
	return nil
}
