package signin

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/boombuler/barcode/qr"

	"quartermaster/internal/paths"
	"quartermaster/web"
)

// Door is what the pages of the way in say about this installation.
type Door struct {
	Demo    bool   // the built-in identity provider
	Codes   string // address of its page of demo people; empty hides the link
	Version string
	Now     func() time.Time // default time.Now
}

// WebPages are the screens of web. Their frame is bare: whoever stands at the
// door has one thing to do.
func WebPages(d Door) Pages {
	if d.Now == nil {
		d.Now = time.Now
	}
	return Pages{
		SignedOut: func(w http.ResponseWriter, r *http.Request, v SignedOutPage) {
			d.show(w, r, http.StatusOK, web.SignedOutPage(d.frame(w, r, "Sign in"), web.SignedOut{
				SignIn: signInLink(v.Next), Why: v.Why, Demo: d.Demo, Codes: d.Codes,
			}))
		},
		Refused: func(w http.ResponseWriter, r *http.Request, status int, v RefusedPage) {
			what, do, _ := strings.Cut(v.Text, ". ")
			title := "Nobody was signed in"
			if v.StepUp {
				title = "Nothing was confirmed"
			}
			d.show(w, r, status, web.SignInRefusedPage(d.frame(w, r, title), web.SignInRefused{
				Reason: strings.TrimSuffix(what, ".") + ".", Do: do, SignIn: signInLink(v.Next), Record: v.Record,
			}))
		},
		StepUp: func(w http.ResponseWriter, r *http.Request, status int, v StepUpPage) {
			page := web.StepUp{What: v.What, Error: v.Error, Back: v.Back, Window: fmt.Sprintf("%d min", int(v.Window.Minutes())), Recovery: v.Recovery}
			if v.HasRecovery && !v.Recovery {
				page.Lost = paths.With(paths.StepUp, "back", v.Back, "recovery", "1")
			}
			if v.Secret != "" {
				page.Enrol = enrolOf(v.Secret, v.URL)
			}
			d.show(w, r, status, web.StepUpPage(d.frame(w, r, "Confirm that it is you"), page))
		},
		Codes: func(w http.ResponseWriter, r *http.Request, v CodesPage) {
			d.show(w, r, http.StatusOK, web.RecoveryCodesPage(d.frame(w, r, "Your recovery codes"), web.RecoveryCodes{Codes: v.Codes, Go: v.Back}))
		},
		Factor: func(w http.ResponseWriter, r *http.Request, status int, v FactorPage) {
			page := web.SecondFactor{Enrolled: v.Enrolled, Left: v.Recovery.Left, Made: v.Recovery.Made, MadeAt: v.Recovery.At, Confirm: v.Confirm, Proof: v.Proof, Error: v.Error, Provider: v.Provider}
			if v.Secret != "" {
				page.Enrol = enrolOf(v.Secret, v.URL)
			}
			d.show(w, r, status, web.SecondFactorPage(d.frame(w, r, "Your second factor"), page))
		},
	}
}

func enrolOf(secret, address string) *web.Enrol {
	return &web.Enrol{Secret: inFours(secret), URI: address, QR: qrRows(address)}
}

func signInLink(next string) string {
	if next == paths.Home {
		next = ""
	}
	return paths.With(paths.SignIn, "back", next)
}

func (d Door) frame(w http.ResponseWriter, r *http.Request, title string) web.Frame {
	f := web.Frame{Title: title, Path: r.URL.Path, Now: d.Now().UTC(), RequestID: w.Header().Get("X-Request-Id"), Version: d.Version}
	if c, err := r.Cookie("theme"); err == nil {
		f.Theme = c.Value
	}
	return f
}

func (d Door) show(w http.ResponseWriter, r *http.Request, status int, page templ.Component) {
	var b bytes.Buffer
	if err := page.Render(r.Context(), &b); err != nil {
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// inFours sets a secret as authenticator apps do, to be typed.
func inFours(secret string) string {
	var groups []string
	for len(secret) > 4 {
		groups, secret = append(groups, secret[:4]), secret[4:]
	}
	return strings.Join(append(groups, secret), " ")
}

// qrRows draws an address as rows of '1' for dark and '0' for light; none when it
// does not fit, and the text has to do.
func qrRows(address string) []string {
	code, err := qr.Encode(address, qr.M, qr.Auto)
	if err != nil {
		return nil
	}
	size := code.Bounds()
	rows := make([]string, 0, size.Dy())
	for y := size.Min.Y; y < size.Max.Y; y++ {
		var row strings.Builder
		for x := size.Min.X; x < size.Max.X; x++ {
			if red, _, _, _ := code.At(x, y).RGBA(); red == 0 {
				row.WriteByte('1')
			} else {
				row.WriteByte('0')
			}
		}
		rows = append(rows, row.String())
	}
	return rows
}
