package handlers

import (
	"net/http"
	"time"

	"quartermaster/internal/paths"
)

const themeCookie = "theme"

// themeOf is the look this browser chose: light, dark, or "" for the system's.
func themeOf(r *http.Request) string {
	c, err := r.Cookie(themeCookie)
	if err != nil || c.Value != "light" && c.Value != "dark" {
		return ""
	}
	return c.Value
}

// setTheme keeps the choice in the browser alone and goes back to the page.
func (s *server) setTheme(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	c := &http.Cookie{Name: themeCookie, Value: f.text("theme"), Path: "/", MaxAge: int((365 * 24 * time.Hour).Seconds()), HttpOnly: true, Secure: s.https, SameSite: http.SameSiteLaxMode}
	if c.Value != "light" && c.Value != "dark" {
		c.Value, c.MaxAge = "", -1 // the system's
	}
	http.SetCookie(w, c)
	return seeOther(w, r, localPath(f.text("back"), paths.Home))
}
