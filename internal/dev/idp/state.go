package idp

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"

	"quartermaster/internal/signin"
)

const (
	loginLife   = 10 * time.Minute // from the portal's redirect to the code
	sessionLife = 12 * time.Hour   // of a signed-in browser at the provider
	tokenLife   = 5 * time.Minute
	// mostLogins bounds the logins under way: /authorize is open to everybody.
	mostLogins = 10_000
)

// user is a User with the password hashed.
type user struct {
	User
	hash []byte
}

// session is one browser that is signed in at the provider.
type session struct {
	ID       string    `json:"id"` // the sid claim
	Subject  string    `json:"subject"`
	AuthTime time.Time `json:"auth_time"`
	AMR      []string  `json:"amr"`
	Clients  []string  `json:"clients"` // told when it ends
}

func (s session) multiFactor() bool { return slices.Contains(s.AMR, "mfa") }

type token struct {
	subject string
	scopes  []string
	end     time.Time
}

// state is all the provider knows. mu guards everything below it.
type state struct {
	cfg       Config
	secure    bool
	cookie    string // name of the browser's cookie; the session's ends in -session
	key       *ecdsa.PrivateKey
	keyID     string
	cryptoKey [32]byte
	users     []user
	decoy     []byte // compared with when there is no such user, to take as long
	clients   map[string]Client

	mu       sync.Mutex
	logins   map[string]*login
	codes    map[string]string // code → login
	tokens   map[string]token
	sessions map[string]session // digest of the cookie → session
	spent    map[string]int64   // subject → last step of the one-time code
	attempts map[string]signin.Attempts
}

func newState(cfg Config) *state {
	issuer, _ := url.Parse(cfg.Issuer)
	s := &state{
		cfg: cfg, secure: issuer.Scheme == "https",
		// Cookies do not know ports: two providers on one host must not share one.
		cookie:  "qm-idp" + issuer.Port(),
		clients: map[string]Client{}, logins: map[string]*login{}, codes: map[string]string{}, tokens: map[string]token{},
		sessions: map[string]session{}, spent: map[string]int64{}, attempts: map[string]signin.Attempts{},
	}
	_, _ = rand.Read(s.cryptoKey[:]) // never fails
	return s
}

func (s *state) takeUsers(users []User) error {
	cost := bcrypt.DefaultCost
	if s.cfg.Dev {
		cost = bcrypt.MinCost // demo passwords are on a page anyway
	}
	var err error
	if s.decoy, err = bcrypt.GenerateFromPassword([]byte(random()), cost); err != nil {
		return fmt.Errorf("hash a password: %w", err)
	}
	seen := map[string]bool{}
	for _, u := range users {
		name := strings.ToLower(u.Username)
		if u.Subject == "" || name == "" || seen["subject "+u.Subject] || seen["name "+name] {
			return fmt.Errorf("user %q: subject and user name must be there and be nobody else's", u.Username)
		}
		seen["subject "+u.Subject], seen["name "+name] = true, true
		if u.TOTPSecret != "" && Code(u.TOTPSecret, time.Unix(0, 0)) == "" {
			return fmt.Errorf("user %q: the one-time secret is not base32", u.Username)
		}
		hash := []byte(u.PasswordHash)
		if u.Password != "" {
			if !s.cfg.Dev {
				return fmt.Errorf("user %q: a plain password is for development; give a bcrypt hash", u.Username)
			}
			if hash, err = bcrypt.GenerateFromPassword([]byte(u.Password), cost); err != nil {
				return fmt.Errorf("user %q: %w", u.Username, err)
			}
		}
		if _, err := bcrypt.Cost(hash); err != nil {
			return fmt.Errorf("user %q: no password, or its hash is not bcrypt", u.Username)
		}
		s.users = append(s.users, user{u, hash})
	}
	return nil
}

func (s *state) userNamed(name string) (user, bool) {
	for _, u := range s.users {
		if strings.EqualFold(u.Username, name) {
			return u, true
		}
	}
	return user{}, false
}

func (s *state) userOf(subject string) (user, bool) {
	for _, u := range s.users {
		if u.Subject == subject {
			return u, true
		}
	}
	return user{}, false
}

// sweep forgets what is over. Call it with mu held.
func (s *state) sweep() {
	now := s.cfg.Now()
	for id, l := range s.logins {
		if now.Sub(l.began) > loginLife {
			delete(s.logins, id)
		}
	}
	for code, id := range s.codes {
		if s.logins[id] == nil {
			delete(s.codes, code)
		}
	}
	for id, t := range s.tokens {
		if now.After(t.end) {
			delete(s.tokens, id)
		}
	}
	for id, e := range s.sessions {
		if now.Sub(e.AuthTime) > sessionLife {
			delete(s.sessions, id)
		}
	}
	for name, a := range s.attempts {
		if now.Sub(a.Last) > time.Hour {
			delete(s.attempts, name)
		}
	}
}

func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
