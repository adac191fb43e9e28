package slurm

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"quartermaster/internal/fault"
)

// token is the credential and what it says of itself. Only Slurm checks its signature.
type token struct {
	text string
	user string    // "sun"; "" where the site names users by another claim
	ends time.Time // zero: it says nothing
}

// readToken refuses what is no JSON Web Token. The value stands in no message.
func readToken(text string) (token, error) {
	refuse := fault.New(fault.Invalid, "Paste the token that scontrol token printed, without SLURM_JWT= in front: three parts with dots between them.")
	text = strings.TrimPrefix(strings.TrimSpace(text), "SLURM_JWT=")
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return token{}, refuse
	}
	body, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return token{}, refuse
	}
	var claims struct {
		Expires number `json:"exp"`
		User    string `json:"sun"`
	}
	if err := json.Unmarshal(body, &claims); err != nil {
		return token{}, refuse
	}
	t := token{text: text, user: claims.User}
	if claims.Expires.Set {
		t.ends = time.Unix(claims.Expires.Value, 0).UTC()
	}
	return t, nil
}

// valid is a fault once the token has ended: Slurm itself would only close the connection.
func (t token) valid(now time.Time) error {
	if t.ends.IsZero() || now.Before(t.ends) {
		return nil
	}
	return fault.Newf(fault.Unavailable, "The token of Slurm user %s ended on %s. Make a new one with scontrol token and connect it.", t.who(), t.ends.Format("2 Jan 2006, 15:04 UTC"))
}

func (t token) who() string {
	if t.user == "" {
		return "(not named)"
	}
	return t.user
}
