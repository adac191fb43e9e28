package idp

import (
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
)

// login is one authorization request on its way to a code. The library reads it
// through the getters below, from copies.
type login struct {
	oidc.AuthRequest
	id      string
	browser string // digest of the cookie of the browser that began it
	began   time.Time
	session *session // nil until the person has signed in
}

func (l *login) asksMultiFactor() bool { return slices.Contains(l.ACRValues, ACRMultiFactor) }

// servedBy tells whether a browser's session answers this request without
// asking the person again.
func (l *login) servedBy(e session, hinted string, now time.Time) bool {
	switch {
	case slices.Contains(l.Prompt, oidc.PromptLogin), slices.Contains(l.Prompt, oidc.PromptSelectAccount):
		return false
	case l.MaxAge != nil && now.Sub(e.AuthTime) >= time.Duration(*l.MaxAge)*time.Second:
		return false
	case l.asksMultiFactor() && !e.multiFactor():
		return false
	case hinted != "" && hinted != e.Subject: // somebody else is expected
		return false
	}
	return true
}

func (l *login) GetID() string { return l.id }
func (l *login) GetACR() string {
	if l.session != nil && l.session.multiFactor() {
		return ACRMultiFactor
	}
	return ACRPassword
}

func (l *login) GetAMR() []string {
	if l.session == nil {
		return nil
	}
	return l.session.AMR
}
func (l *login) GetAudience() []string { return []string{l.ClientID} }
func (l *login) GetAuthTime() time.Time {
	if l.session == nil {
		return time.Time{}
	}
	return l.session.AuthTime
}
func (l *login) GetClientID() string { return l.ClientID }
func (l *login) GetCodeChallenge() *oidc.CodeChallenge {
	return &oidc.CodeChallenge{Challenge: l.CodeChallenge, Method: l.CodeChallengeMethod}
}
func (l *login) GetNonce() string                   { return l.Nonce }
func (l *login) GetResponseType() oidc.ResponseType { return l.ResponseType }
func (l *login) GetScopes() []string                { return l.Scopes }
func (l *login) GetSubject() string {
	if l.session == nil {
		return ""
	}
	return l.session.Subject
}
func (l *login) Done() bool { return l.session != nil }
