package handlers

import (
	"net/http"

	"quartermaster/internal/fault"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// maxReason bounds every reason and comment, in characters. The longest one fits
// into what the session keeps of a form while a second factor is proven.
const maxReason = 2000

// requestWithdrawAsk asks before a request is taken back.
func (s *server) requestWithdrawAsk(w http.ResponseWriter, r *http.Request) error {
	n, err := numberIn(r, "request")
	if err != nil {
		return err
	}
	d, err := s.Portal.ViewRequest(r.Context(), actorOf(r), n)
	if err != nil {
		return err
	}
	if !d.MayWithdraw {
		return fault.Newf(fault.Conflict, "This request is %s, or it is not yours to withdraw.", d.Request.State)
	}
	return s.showWithdraw(w, r, http.StatusOK, n, formOf(nil), newKey())
}

// requestWithdraw takes it back.
func (s *server) requestWithdraw(w http.ResponseWriter, r *http.Request) error {
	n, err := numberIn(r, "request")
	if err != nil {
		return err
	}
	f, err := readForm(r)
	if err != nil {
		return err
	}
	key, err := f.key()
	if err != nil {
		return err
	}
	in := portal.WithdrawInput{Number: n, Reason: f.long("reason", maxReason), Key: key}
	if f.err() != nil {
		return s.showWithdraw(w, r, http.StatusUnprocessableEntity, n, f, key)
	}
	if _, err := s.Portal.WithdrawRequest(r.Context(), actorOf(r), in); err != nil {
		return s.conflictOr(w, r, err, f.values)
	}
	s.say(r, requestWord(n)+" withdrawn.")
	return seeOther(w, r, requestPath(n))
}

func (s *server) showWithdraw(w http.ResponseWriter, r *http.Request, status int, n int64, f *form, key string) error {
	word := requestWord(n)
	reason := f.field("reason", "Reason", false)
	reason.Rows, reason.Hint = 3, "Stands in the record."
	v := web.ConfirmView{
		Title: "Withdraw " + word, Text: []string{"Nobody decides on it any more. It stays in the lists and in the record, and a new request can be filled from it."},
		Action: paths.RequestWithdraw(decimal(n)), IdempotencyKey: key, Reason: reason, Verb: "Withdraw " + word, Danger: true,
		Cancel: web.Link{Text: "Keep " + word, Href: requestPath(n)},
	}
	return s.show(w, r, status, web.ConfirmPage(s.frame(r, v.Title, web.Link{Text: "Requests", Href: paths.Requests}, requestLink(n)), v))
}
