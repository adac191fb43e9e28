package idp

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"

	"quartermaster/internal/signin"
)

// showLogin asks who it is, unless the browser's session answers the request.
func (s *state) showLogin(w http.ResponseWriter, r *http.Request) {
	l, ok := s.loginOf(r)
	if !ok {
		s.showForeign(w)
		return
	}
	s.mu.Lock()
	e, signedIn := s.sessions[browserOf(r.Context()).session]
	serves := signedIn && l.servedBy(e, s.hinted(l), s.cfg.Now())
	var err error
	if serves {
		err = s.complete(l.id, browserOf(r.Context()).session, e)
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		s.showBroken(w, err)
	case serves:
		s.finish(w, r, l.id)
	default:
		s.showForm(w, http.StatusOK, loginPage{ID: l.id, Username: s.hintedUser(l).Username, Again: signedIn, MultiFactor: l.asksMultiFactor()})
	}
}

func (s *state) finish(w http.ResponseWriter, r *http.Request, id string) {
	http.Redirect(w, r, "/authorize/callback?id="+url.QueryEscape(id), http.StatusSeeOther)
}

// complete ties a login to a session. Call it with mu held.
func (s *state) complete(id, sessionKey string, e session) error {
	l := s.logins[id]
	if l == nil {
		return errors.New("the login is over")
	}
	known := false
	for _, c := range e.Clients {
		known = known || c == l.ClientID
	}
	if !known {
		e.Clients = append(append([]string{}, e.Clients...), l.ClientID)
	}
	s.sessions[sessionKey] = e
	l.session = &e
	return s.save()
}

// takeLogin judges name, password and code. Unknown names count, wait and fail
// exactly as known ones.
func (s *state) takeLogin(w http.ResponseWriter, r *http.Request) {
	l, ok := s.loginOf(r)
	if !ok {
		s.showForeign(w)
		return
	}
	name, password, code := strings.TrimSpace(r.PostFormValue("username")), r.PostFormValue("password"), r.PostFormValue("code")
	refuse := func(status int, message string) {
		s.showForm(w, status, loginPage{ID: l.id, Username: name, Error: message, MultiFactor: l.asksMultiFactor()})
	}
	if name == "" || password == "" {
		refuse(http.StatusUnprocessableEntity, "Enter user name and password.")
		return
	}
	if until := s.count(name); !until.IsZero() {
		refuse(http.StatusTooManyRequests, "Too many wrong attempts for this user name. Try again after "+until.UTC().Format("15:04:05")+" UTC.")
		return
	}
	u, known := s.userNamed(name)
	if !known {
		u.hash = s.decoy
	}
	// bcrypt is slow on purpose; not under the lock.
	right := bcrypt.CompareHashAndPassword(u.hash, []byte(password)) == nil && known
	if !right {
		refuse(http.StatusUnauthorized, "User name or password is not right.")
		return
	}
	e := session{ID: random(), Subject: u.Subject, AuthTime: s.cfg.Now().UTC(), AMR: []string{"pwd"}}

	s.mu.Lock()
	defer s.mu.Unlock()
	if u.TOTPSecret != "" {
		step, ok := signin.VerifyTOTP(u.TOTPSecret, code, s.cfg.Now(), s.spent[u.Subject])
		if !ok {
			message := "The one-time code is not right, or it was used already. Each code counts once; wait for the next one."
			if strings.TrimSpace(code) == "" {
				message = "Enter the one-time code from your authenticator app."
			}
			refuse(http.StatusUnauthorized, message)
			return
		}
		s.spent[u.Subject] = step
		e.AMR = []string{"pwd", "otp", "mfa"}
	}
	delete(s.attempts, strings.ToLower(name))

	// A new cookie at every sign-in: one that was planted before opens nothing.
	delete(s.sessions, browserOf(r.Context()).session)
	cookie := random()
	if err := s.complete(l.id, digest(cookie), e); err != nil {
		s.showBroken(w, err)
		return
	}
	s.setCookie(w, "-session", cookie, int(sessionLife/time.Second))
	s.cfg.Log.Info("signed in at the built-in identity provider", "subject", u.Subject, "methods", strings.Join(e.AMR, " "), "client", l.ClientID)
	s.finish(w, r, l.id)
}

// mostNames bounds how many names are counted at once; past it, names that are
// nobody's are not, as no password is at stake.
const mostNames = 10_000

// count takes one attempt for a name and tells until when it is locked, zero if
// the attempt may be judged. It counts before the password is looked at, so that
// many guesses at once gain nothing; a sign-in clears the count.
func (s *state) count(name string) (locked time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name = strings.ToLower(name)
	now := s.cfg.Now()
	if until := s.attempts[name].LockedUntil(now); !until.IsZero() {
		return until
	}
	if len(s.attempts) >= mostNames {
		if _, known := s.userNamed(name); !known {
			s.sweep()
			return time.Time{}
		}
	}
	s.attempts[name] = s.attempts[name].Fail(now)
	return time.Time{}
}
