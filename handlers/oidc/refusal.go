package oidc

import (
	"errors"
	"regexp"
)

// Reason is a frozen, machine-readable word for why a sign-in was refused. It
// stands in the ledger; never rename one.
type Reason string

const (
	StateMismatch       Reason = "state_mismatch"       // the browser that came back is not the one that left
	ProviderError       Reason = "provider_error"       // the provider answered with an error
	ProviderUnreachable Reason = "provider_unreachable" // no answer, or none that makes sense
	NoCode              Reason = "no_code"
	NoIDToken           Reason = "no_id_token"
	MalformedToken      Reason = "malformed_token"
	BadSignature        Reason = "bad_signature" // also an algorithm that is not allowed, "none" included
	Expired             Reason = "expired"
	NotYetValid         Reason = "not_yet_valid"
	WrongIssuer         Reason = "wrong_issuer"
	WrongAudience       Reason = "wrong_audience"
	WrongNonce          Reason = "wrong_nonce"
	WrongTokenHash      Reason = "wrong_token_hash"
	WrongSubject        Reason = "wrong_subject" // userinfo speaks of somebody else
	MissingClaim        Reason = "missing_claim"
	StaleAuthTime       Reason = "stale_auth_time" // a new authentication was asked for and not made
	NotALogoutToken     Reason = "not_a_logout_token"
	Replayed            Reason = "replayed"
)

// Refusal is why nobody was signed in (or out). Detail names the claim or the
// provider's error code; it holds no token, no personal data and nothing that a
// stranger can word freely.
type Refusal struct {
	Reason Reason
	Detail string
	cause  error
}

func (r *Refusal) Error() string {
	s := "sign-in refused: " + string(r.Reason)
	if r.Detail != "" {
		s += " (" + r.Detail + ")"
	}
	return s
}

// Unwrap gives the cause, for errors.Is. It is not part of Error, because
// libraries put answers of the provider into theirs.
func (r *Refusal) Unwrap() error { return r.cause }

// Public is the sentence for the page: what happened and what to do.
func (r *Refusal) Public() string {
	switch r.Reason {
	case StateMismatch, NoCode:
		return "This sign-in was not started in this browser, or it was used already. Start again from the sign-in page."
	case ProviderUnreachable:
		return "The identity provider does not answer. Try again in a minute; if it lasts, tell whoever runs it."
	case ProviderError:
		if r.Detail == "access_denied" {
			return "The identity provider says that access was denied or cancelled."
		}
		return "The identity provider refused the sign-in. Try again; if it lasts, tell whoever runs it."
	case Expired, NotYetValid:
		return "The identity provider's answer is not valid at this time. Try again; if it lasts, a clock is wrong."
	case StaleAuthTime:
		return "The identity provider did not ask who you are again, although it was asked to. Sign in there anew and come back."
	default:
		return "The identity provider's answer could not be verified, so nobody was signed in. Try again; if it lasts, tell the platform administrators."
	}
}

func refuse(reason Reason, detail string, cause error) *Refusal {
	return &Refusal{Reason: reason, Detail: detail, cause: cause}
}

// ReasonOf returns the reason of the refusal in err's chain, or "".
func ReasonOf(err error) Reason {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

// errorCode passes the error codes of RFC 6749 and OpenID Connect, which are
// lower-case words, and nothing that an attacker could make a sentence of.
var errorCode = regexp.MustCompile(`^[a-z_]{1,40}$`)

func cleanCode(code string) string {
	if errorCode.MatchString(code) {
		return code
	}
	return "unknown"
}
