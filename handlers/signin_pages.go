package handlers

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/boombuler/barcode/qr"

	"quartermaster/handlers/signin"
	"quartermaster/internal/paths"
	"quartermaster/web"
)

// signInPages are the screens of sign-in in the portal's look.
func (s *server) signInPages() signin.Pages {
	return signin.Pages{
		SignedOut: func(w http.ResponseWriter, r *http.Request, p signin.SignedOutPage) {
			v := web.SignedOut{SignIn: paths.With(paths.SignIn, "next", p.Next), Why: p.Why, Demo: s.SignIn.Demo, Codes: s.SignIn.Codes}
			s.showOr500(w, r, http.StatusOK, web.SignedOutPage(s.frame(r, "Signed out"), v))
		},
		Refused: func(w http.ResponseWriter, r *http.Request, status int, p signin.RefusedPage) {
			v := web.SignInRefused{Reason: p.Text, SignIn: paths.With(paths.SignIn, "next", p.Next), Record: p.Record}
			s.showOr500(w, r, status, web.SignInRefusedPage(s.frame(r, "Not signed in"), v))
		},
		StepUp: func(w http.ResponseWriter, r *http.Request, status int, p signin.StepUpPage) {
			v := web.StepUp{What: orElse(p.What, "to go on"), Error: p.Error, Back: p.Back, Window: web.Span(p.Window)}
			if p.Secret != "" {
				v.Enrol = &web.Enrol{Secret: inFours(p.Secret), URI: p.URL, QR: qrRows(p.URL)}
			}
			s.showOr500(w, r, status, web.StepUpPage(s.frame(r, "Confirm that it is you"), v))
		},
	}
}

// showOr500 is show for who cannot return an error.
func (s *server) showOr500(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	if err := s.show(w, r, status, c); err != nil {
		s.showError(w, r, err)
	}
}

// inFours makes a secret readable over a shoulder's distance.
func inFours(secret string) string {
	var b strings.Builder
	for i, c := range secret {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// qrRows are the modules of a QR code, '1' for dark; nil where text has to do.
func qrRows(text string) []string {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return nil
	}
	box := code.Bounds()
	var rows []string
	for y := box.Min.Y; y < box.Max.Y; y++ {
		var row strings.Builder
		for x := box.Min.X; x < box.Max.X; x++ {
			module := 0
			if r, _, _, _ := code.At(x, y).RGBA(); r == 0 {
				module = 1
			}
			fmt.Fprint(&row, module)
		}
		rows = append(rows, row.String())
	}
	return rows
}
