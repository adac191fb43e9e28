package handlers

import (
	"net/http"

	"quartermaster/web"
)

func (s *server) help(w http.ResponseWriter, r *http.Request) error {
	return s.render(w, r, web.HelpPage(s.frame(r, "Help")))
}
