package signin_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/handlers/signin"
)

func TestThePagesOfTheDoor(t *testing.T) {
	pages := signin.WebPages(signin.Door{Demo: true, Codes: "http://localhost:1/people", Version: "test"})
	r := httptest.NewRequest(http.MethodGet, "/signed-out", nil)

	w := httptest.NewRecorder()
	pages.SignedOut(w, r, signin.SignedOutPage{Why: "You are signed out.", Next: "/requests/1?a=b"})
	require.Equal(t, 200, w.Code)
	for _, s := range []string{"You are signed out.", "/sign-in?back=%2Frequests%2F1%3Fa%3Db", "small labs", "http://localhost:1/people"} {
		require.Contains(t, w.Body.String(), s)
	}

	w = httptest.NewRecorder()
	pages.Refused(w, r, 403, signin.RefusedPage{Reason: "expired", Text: "It is late. Try again; <b>now</b>.", Record: "e-1", Next: "/"})
	require.Equal(t, 403, w.Code)
	for _, s := range []string{"It is late.", "Try again; &lt;b&gt;now", "e-1"} {
		require.Contains(t, w.Body.String(), s)
	}

	w = httptest.NewRecorder()
	pages.StepUp(w, r, 422, signin.StepUpPage{
		What: "to approve R-1", Back: "/decide", Error: "Not right.", Window: 10 * time.Minute,
		Secret: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", URL: "otpauth://totp/Q:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Q",
	})
	require.Equal(t, 422, w.Code)
	w2 := httptest.NewRecorder()
	pages.Codes(w2, r, signin.CodesPage{Codes: []string{"aaaa-bbbb-cccc-dddd"}, Back: "/decide?a=b"})
	for _, s := range []string{"aaaa-bbbb-cccc-dddd", "not shown again", `href="/decide?a=b"`} {
		require.Contains(t, w2.Body.String(), s)
	}
	w2 = httptest.NewRecorder()
	pages.Factor(w2, r, 200, signin.FactorPage{Confirm: "codes", Proof: "p-1"})
	for _, s := range []string{`action="/second-factor/codes"`, `value="p-1"`, "Make new recovery codes"} {
		require.Contains(t, w2.Body.String(), s)
	}
	for _, s := range []string{"to approve R-1", "Not right.", "GEZD GNBV GY3T QOJQ", `class="qr"`, "h1v1h-1z", `value="/decide"`, "10 min", `autocomplete="one-time-code"`} {
		require.Contains(t, w.Body.String(), s)
	}
}
