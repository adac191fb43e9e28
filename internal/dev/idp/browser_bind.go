package idp

import (
	"context"
	"net/http"
)

// browser is who is asking: the digest of its own random cookie, and of its
// session's cookie. A login can be seen and finished only by the browser that
// began it, or an attacker could have a victim sign in to the attacker's login.
type browser struct {
	digest  string
	session string
}

type browserKey struct{}

func browserOf(ctx context.Context) *browser {
	b, _ := ctx.Value(browserKey{}).(*browser)
	return b
}

// bind knows the browser by its cookie, and gives it one.
func (s *state) bind(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := &browser{}
		if c, err := r.Cookie(s.cookie + "-browser"); err == nil && len(c.Value) >= 32 {
			b.digest = digest(c.Value)
		} else {
			value := random()
			b.digest = digest(value)
			s.setCookie(w, "-browser", value, 0)
		}
		if c, err := r.Cookie(s.cookie + "-session"); err == nil && c.Value != "" {
			b.session = digest(c.Value)
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), browserKey{}, b)))
	})
}

func (s *state) setCookie(w http.ResponseWriter, suffix, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: s.cookie + suffix, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode,
	})
}

// loginOf finds the login that a request speaks of, if it is this browser's.
func (s *state) loginOf(r *http.Request) (*login, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	l := s.logins[r.FormValue("id")]
	if l == nil || l.browser != browserOf(r.Context()).digest {
		return nil, false
	}
	return l.copy(), true
}

func (s *state) onlySameBrowser(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := s.loginOf(r); !ok {
			s.showForeign(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}
