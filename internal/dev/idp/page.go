package idp

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"quartermaster/internal/signin"
)

//go:embed page/*
var files embed.FS

var pages = template.Must(template.ParseFS(files, "page/*.html"))

type loginPage struct {
	ID, Username, Error string
	Again, MultiFactor  bool
	Dev                 bool
}

func (s *state) showForm(w http.ResponseWriter, status int, p loginPage) {
	p.Dev = s.cfg.Dev
	s.render(w, status, "login.html", p)
}

func (s *state) showForeign(w http.ResponseWriter) {
	s.render(w, http.StatusBadRequest, "message.html", map[string]any{
		"Title": "This sign-in is over",
		"Text":  "It was started in another browser, took longer than ten minutes, or was finished already. Go back to the site you came from and sign in again.",
	})
}

func (s *state) showBroken(w http.ResponseWriter, err error) {
	s.cfg.Log.Error("built-in identity provider", "error", err)
	s.render(w, http.StatusInternalServerError, "message.html", map[string]any{
		"Title": "Something is broken here",
		"Text":  "Nobody was signed in. The log of the identity provider says why.",
	})
}

func (s *state) showRoot(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Dev {
		http.Redirect(w, r, "/people", http.StatusSeeOther)
		return
	}
	s.render(w, http.StatusOK, "message.html", map[string]any{
		"Title": "Identity provider", "Text": "Sign-in starts at the site you want to use, not here.",
	})
}

type personRow struct {
	User
	Code  string
	Spent bool
}

// showPeople lists the demo people with what they sign in with. A script renews
// the codes in place; a page that reloads itself would take the focus away.
func (s *state) showPeople(w http.ResponseWriter, _ *http.Request) {
	now := s.cfg.Now()
	step := signin.Step(now)
	next := time.Unix((step+1)*signin.Period, 0).Sub(now)
	rows := make([]personRow, 0, len(s.users))
	s.mu.Lock()
	for _, u := range s.users {
		// The first code that still opens. The next period's is taken already, so
		// whoever has just signed in need not wait for a second time.
		show := min(max(step, s.spent[u.Subject]+1), step+1)
		code, _ := signin.CodeAt(u.TOTPSecret, show)
		rows = append(rows, personRow{User: u.User, Code: code, Spent: s.spent[u.Subject] >= show})
	}
	s.mu.Unlock()
	s.render(w, http.StatusOK, "people.html", map[string]any{
		"People": rows, "Seconds": int(next/time.Second) + 1, "Sites": s.sites(),
	})
}

// sites are the origins of the clients.
func (s *state) sites() []string {
	var out []string
	for _, c := range s.clients {
		for _, raw := range c.RedirectURIs {
			if u, err := url.Parse(raw); err == nil && u.Host != "" && !slices.Contains(out, u.Scheme+"://"+u.Host) {
				out = append(out, u.Scheme+"://"+u.Host)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (s *state) render(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		s.cfg.Log.Error("built-in identity provider", "page", name, "error", err)
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

func serveFile(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=300")
		http.ServeFileFS(w, r, files, "page/"+name)
	}
}

// headers close every page to frames, foreign scripts and foreign forms. form-action
// names the clients too: browsers hold the redirect after a form against it.
func (s *state) headers(next http.Handler) http.Handler {
	policy := "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action " +
		strings.Join(append([]string{"'self'"}, s.sites()...), " ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		// Not no-referrer: browsers then send "Origin: null" with our own forms.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
