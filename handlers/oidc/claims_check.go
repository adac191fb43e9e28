package oidc

import (
	"crypto/subtle"
	"math"
	"slices"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
)

// slack is how far the provider's clock and ours may be apart.
const slack = time.Minute

type expected struct {
	issuer, clientID, nonce, accessToken string

	notBefore time.Time // of auth_time; zero when no age was asked for
	now       time.Time
}

// checkClaims is OpenID Connect Core section 3.1.3.7 for a token whose signature
// has passed. Times are compared with a minute of slack.
func checkClaims(t *gooidc.IDToken, claims map[string]any, want expected) error {
	for _, name := range []string{"iss", "sub", "aud", "exp", "iat"} {
		if v, ok := claims[name]; !ok || v == nil || v == "" {
			return refuse(MissingClaim, name, nil)
		}
	}
	if t.Issuer != want.issuer {
		return refuse(WrongIssuer, "", nil)
	}
	if err := checkAudience(t.Audience, claims, want.clientID); err != nil {
		return err
	}
	if len(t.Subject) > maxSubject {
		return refuse(MalformedToken, "sub", nil)
	}
	if !want.now.Before(t.Expiry.Add(slack)) {
		return refuse(Expired, "", nil)
	}
	if t.IssuedAt.After(want.now.Add(slack)) {
		return refuse(NotYetValid, "iat", nil)
	}
	if v, ok := claims["nbf"]; ok {
		if nbf, ok := seconds(v); !ok || nbf.After(want.now.Add(slack)) {
			return refuse(NotYetValid, "nbf", nil)
		}
	}
	if want.nonce == "" || subtle.ConstantTimeCompare([]byte(t.Nonce), []byte(want.nonce)) != 1 {
		return refuse(WrongNonce, "", nil)
	}
	if _, ok := claims["at_hash"]; ok && t.VerifyAccessToken(want.accessToken) != nil {
		return refuse(WrongTokenHash, "", nil)
	}
	return checkAuthTime(claims, want)
}

func checkAudience(audience []string, claims map[string]any, clientID string) error {
	if !slices.Contains(audience, clientID) {
		return refuse(WrongAudience, "aud", nil)
	}
	azp, there := claims["azp"]
	if there && azp != clientID {
		return refuse(WrongAudience, "azp", nil)
	}
	if len(audience) > 1 && !there {
		return refuse(WrongAudience, "several audiences without azp", nil)
	}
	return nil
}

// checkAuthTime: who asked for an age must look at the answer, for the provider
// may have ignored it.
func checkAuthTime(claims map[string]any, want expected) error {
	v, there := claims["auth_time"]
	at, readable := seconds(v)
	if there && !readable {
		return refuse(MalformedToken, "auth_time", nil)
	}
	if there && at.After(want.now.Add(slack)) {
		return refuse(NotYetValid, "auth_time", nil)
	}
	if want.notBefore.IsZero() {
		return nil
	}
	if !there {
		return refuse(MissingClaim, "auth_time", nil)
	}
	if at.Before(want.notBefore.Add(-slack)) {
		return refuse(StaleAuthTime, "", nil)
	}
	return nil
}

// seconds reads a NumericDate (RFC 7519 section 2). The bound is the year 9999,
// beyond which other software stops reading times.
func seconds(v any) (time.Time, bool) {
	f, ok := v.(float64)
	if !ok || math.IsNaN(f) || f < 0 || f > 253402300799 {
		return time.Time{}, false
	}
	return time.Unix(int64(f), 0).UTC(), true
}
