package oidc

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
)

// Identity is who signed in, as the provider signed it. Issuer and Subject are
// the person; name and email are labels that anybody may share or change.
type Identity struct {
	Issuer  string
	Subject string
	Name    string
	Email   string

	// Groups is empty unless the claim is an array of strings; GroupsNote then
	// says why, for the page that shows a person without a role.
	Groups     []string
	GroupsNote string

	ACR       string    // from the signed ID token only
	AMR       []string  // from the signed ID token only
	AuthTime  time.Time // zero where the provider does not say
	SessionID string    // the provider's sid, for logout; may be empty
	IDToken   string    // as a hint for signing out at the provider

	expires time.Time
}

const (
	maxSubject = 255 // OpenID Connect Core section 2
	maxName    = 200
	maxEmail   = 320
	maxGroups  = 2000
	maxGroup   = 256
	maxACR     = 256
	maxAMR     = 20
)

func identityOf(t *gooidc.IDToken, claims map[string]any, groupsClaim string) Identity {
	id := Identity{
		Issuer: t.Issuer, Subject: t.Subject, expires: t.Expiry,
		Name: nameOf(claims), Email: text(claims, "email", maxEmail),
		ACR: text(claims, "acr", maxACR), SessionID: text(claims, "sid", maxSubject),
	}
	id.AMR, _ = texts(claims["amr"], maxAMR, maxACR)
	id.AuthTime, _ = seconds(claims["auth_time"])
	id.Groups, id.GroupsNote = groupsOf(claims, groupsClaim)
	return id
}

func nameOf(claims map[string]any) string {
	for _, c := range []string{"name", "preferred_username", "email"} {
		if s := text(claims, c, maxName); s != "" {
			return s
		}
	}
	return ""
}

// text reads a string claim for display: control characters are dropped and the
// length is bounded. Anything but a string is as good as absent.
func text(claims map[string]any, name string, limit int) string {
	s, _ := claims[name].(string)
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s))
	for i := range s {
		if limit--; limit < 0 {
			return s[:i]
		}
	}
	return s
}

// texts reads an array of strings; one element of another kind spoils it all.
func texts(v any, count, length int) ([]string, bool) {
	list, ok := v.([]any)
	if !ok || len(list) > count {
		return nil, false
	}
	out := make([]string, 0, len(list))
	for _, e := range list {
		s, ok := e.(string)
		if !ok || s == "" || len(s) > length || !utf8.ValidString(s) {
			return nil, false
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out, true
}

// groupsOf reads the groups claim. Whatever is not an array of strings gives no
// group, hence no role: guessing at a claim hands out authority.
func groupsOf(claims map[string]any, name string) (groups []string, note string) {
	v, there := claims[name]
	if !there || v == nil {
		if elsewhere, ok := claims["_claim_names"].(map[string]any); ok && elsewhere[name] != nil {
			return nil, "The identity provider left out the groups because there are too many; it must be set to send only those that matter here."
		}
		return nil, "The identity provider sent no groups."
	}
	groups, ok := texts(v, maxGroups, maxGroup)
	if !ok {
		return nil, "The identity provider's groups are not a list of names, so none was used."
	}
	return groups, ""
}
