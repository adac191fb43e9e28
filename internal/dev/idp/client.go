package idp

import (
	"crypto/subtle"
	"net/url"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const scopeGroups = "groups"

// client shows a Client to the library: a confidential web client with the code
// flow and nothing else.
type client struct{ Client }

func (c client) GetID() string                       { return c.ID }
func (c client) RedirectURIs() []string              { return c.Client.RedirectURIs }
func (c client) PostLogoutRedirectURIs() []string    { return c.PostLogout }
func (c client) ApplicationType() op.ApplicationType { return op.ApplicationTypeWeb }
func (c client) AuthMethod() oidc.AuthMethod         { return oidc.AuthMethodBasic }
func (c client) ResponseTypes() []oidc.ResponseType {
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}
func (c client) GrantTypes() []oidc.GrantType         { return []oidc.GrantType{oidc.GrantTypeCode} }
func (c client) LoginURL(id string) string            { return "/login?id=" + url.QueryEscape(id) }
func (c client) AccessTokenType() op.AccessTokenType  { return op.AccessTokenTypeBearer }
func (c client) IDTokenLifetime() time.Duration       { return tokenLife }
func (c client) DevMode() bool                        { return false }
func (c client) IsScopeAllowed(scope string) bool     { return scope == scopeGroups }
func (c client) IDTokenUserinfoClaimsAssertion() bool { return true }
func (c client) ClockSkew() time.Duration             { return 0 }

func (c client) RestrictAdditionalIdTokenScopes() func([]string) []string {
	return slices.Clone[[]string]
}
func (c client) RestrictAdditionalAccessTokenScopes() func([]string) []string {
	return slices.Clone[[]string]
}

func (c client) hasSecret(secret string) bool {
	return subtle.ConstantTimeCompare([]byte(digest(secret)), []byte(digest(c.Secret))) == 1
}
