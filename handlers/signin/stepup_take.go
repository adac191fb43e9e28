package signin

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"time"

	"quartermaster/handlers/oidc"
	facts "quartermaster/internal/signin"
)

// showStepUp chooses the way: the portal's own one-time code for who has one,
// else the provider where it can prove two factors, else enrolment of a code.
func (h *Handler) showStepUp(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	s, _ := FromContext(ctx)
	back := wayBack(r.URL.Query().Get("back"))
	if s.Fresh(h.cfg.Now(), h.cfg.Rules) {
		http.Redirect(w, r, back, http.StatusSeeOther)
		return nil
	}
	secret, _, err := h.cfg.Factors.TOTP(ctx, s.PersonID)
	if err != nil {
		return err
	}
	if secret != "" {
		return h.showCode(w, r, s, http.StatusOK, back, "", "")
	}
	own := r.URL.Query().Get("own") != "" // the provider was asked and could not
	if len(h.cfg.StepUpACR) > 0 && !own {
		return h.leave(w, r, pending{Next: back, StepUp: true}, oidc.AuthOptions{
			MaxAge: new(time.Duration(0)), ACRValues: h.cfg.StepUpACR, LoginHint: hintOf(s),
		})
	}
	if !s.FirstFactorFresh(h.cfg.Now(), h.cfg.Rules) {
		// Not MaxAge: this provider may be one that never sends auth_time.
		return h.leave(w, r, pending{Next: back, StepUp: true}, oidc.AuthOptions{Prompt: "login", LoginHint: hintOf(s)})
	}
	if secret, err = h.pendingSecret(ctx, s); err != nil {
		return err
	}
	return h.showCode(w, r, s, http.StatusOK, back, secret, "")
}

// pendingSecret is the one to be confirmed: the same at each look, so that a
// reload does not spoil what was scanned.
func (h *Handler) pendingSecret(ctx context.Context, s facts.Session) (string, error) {
	proposed, err := facts.NewTOTPSecret(rand.Reader)
	if err != nil {
		return "", err
	}
	return h.cfg.Factors.PendingTOTP(ctx, s.PersonID, proposed)
}

// hintOf is what the provider most likely knows the person by.
func hintOf(s facts.Session) string {
	if s.Email != "" {
		return s.Email
	}
	return s.Subject
}

func (h *Handler) showCode(w http.ResponseWriter, r *http.Request, s facts.Session, status int, back, newSecret, problem string) error {
	p := StepUpPage{What: h.whatFor(r.Context(), back), Back: back, Error: problem, Window: h.cfg.Rules.StepUp}
	if newSecret != "" {
		base, err := url.Parse(h.cfg.BaseURL)
		if err != nil {
			return err
		}
		p.Secret, p.URL = newSecret, facts.EnrolURL("Quartermaster "+base.Host, orElse(s.Email, s.Name), newSecret)
	}
	h.cfg.Pages.StepUp(w, r, status, p)
	return nil
}

// takeStepUp judges a one-time code. It decides nothing else.
func (h *Handler) takeStepUp(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	s, _ := FromContext(ctx)
	back, code := wayBack(r.PostFormValue("back")), r.PostFormValue("code")
	secret, last, err := h.cfg.Factors.TOTP(ctx, s.PersonID)
	if err != nil {
		return err
	}
	pendingSecret := ""
	if secret == "" {
		if !s.FirstFactorFresh(h.cfg.Now(), h.cfg.Rules) {
			return h.showStepUp(w, withBack(r, back))
		}
		if pendingSecret, err = h.pendingSecret(ctx, s); err != nil {
			return err
		}
	}
	if until := h.count(s.PersonID); !until.IsZero() {
		return h.showCode(w, r, s, http.StatusTooManyRequests, back, pendingSecret,
			"Too many wrong codes. Try again after "+until.UTC().Format("15:04:05")+" UTC.")
	}
	step, ok := facts.VerifyTOTP(orElse(secret, pendingSecret), code, h.cfg.Now(), last)
	if ok {
		ok, err = h.spend(ctx, s, step, secret == "")
		if err != nil {
			return err
		}
	}
	if !ok {
		attempt := Refused{
			Reason: "wrong_code", Issuer: s.Issuer, Session: s, StepUp: true, At: h.cfg.Now(),
		}
		if _, err := h.cfg.People.Refuse(context.WithoutCancel(ctx), attempt); err != nil {
			return err
		}
		return h.showCode(w, r, s, http.StatusUnprocessableEntity, back, pendingSecret,
			"This code is not right, or it was used already. Each code counts once; wait for the next one.")
	}
	h.forgive(s.PersonID)
	return h.proven(w, r, s, facts.ProofTOTP, back)
}

// spend makes the step unusable before it counts.
func (h *Handler) spend(ctx context.Context, s facts.Session, step int64, enrolling bool) (bool, error) {
	if enrolling {
		return h.cfg.Factors.ConfirmTOTP(ctx, s, step)
	}
	return h.cfg.Factors.SpendTOTP(ctx, s.PersonID, step)
}

func withBack(r *http.Request, back string) *http.Request {
	again := r.Clone(r.Context())
	again.URL.RawQuery = url.Values{"back": {back}}.Encode()
	return again
}

// count takes one attempt before the code is looked at, so that many guesses at
// once gain nothing: some four an hour, each on record, by somebody who already
// holds the first factor. The count is this process's; n replicas give n times that.
func (h *Handler) count(personID string) (locked time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.cfg.Now()
	if until := h.attempts[personID].LockedUntil(now); !until.IsZero() {
		return until
	}
	h.attempts[personID] = h.attempts[personID].Fail(now)
	return time.Time{}
}

func (h *Handler) forgive(personID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.attempts, personID)
}
