package e2e

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/stretchr/testify/require"

	"quartermaster/e2e/site"
	"quartermaster/internal/signin"
)

// ageProof makes a person's proof of two factors eleven minutes older, as if they
// had gone for a coffee: it no longer serves a decision.
func ageProof(t *testing.T, s *site.Site, user string) {
	t.Helper()
	database, codec, aged := s.DB(t), scs.GobCodec{}, 0
	var rows []struct {
		Token string
		Data  []byte
	}
	require.NoError(t, database.Select(&rows, `SELECT token, data FROM sessions`))
	for _, row := range rows {
		deadline, values, err := codec.Decode(row.Data)
		require.NoError(t, err)
		text, _ := values["session"].(string)
		var session signin.Session
		if text == "" || json.Unmarshal([]byte(text), &session) != nil || session.Subject != user {
			continue
		}
		session.Proven = session.Proven.Add(-11 * time.Minute)
		raw, err := json.Marshal(session)
		require.NoError(t, err)
		values["session"] = string(raw)
		data, err := codec.Encode(deadline, values)
		require.NoError(t, err)
		_, err = database.Exec(`UPDATE sessions SET data = $2 WHERE token = $1`, row.Token, data)
		require.NoError(t, err)
		aged++
	}
	require.NotZero(t, aged, "%s is signed in", user)
}
