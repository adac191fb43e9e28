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
// Without anything to prove it for it leads back.
func (h *Handler) showStepUp(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	s, _ := FromContext(ctx)
	back := wayBack(r.URL.Query().Get("back"))
	if len(h.asked(ctx, back).Digests) == 0 {
		http.Redirect(w, r, back, http.StatusSeeOther)
		return nil
	}
	secret, _, err := h.cfg.Factors.TOTP(ctx, s.PersonID)
	if err != nil {
		return err
	}
	if secret != "" {
		return h.showCode(w, r, s, http.StatusOK, codeForm{back: back, recovery: r.URL.Query().Get("recovery") != ""})
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
	return h.showCode(w, r, s, http.StatusOK, codeForm{back: back, newSecret: secret})
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

// codeForm is the form that asks for a code.
type codeForm struct {
	back      string
	newSecret string // to be enrolled; "" = there is one
	recovery  bool   // asks for a recovery code
	problem   string
}

func (h *Handler) showCode(w http.ResponseWriter, r *http.Request, s facts.Session, status int, f codeForm) error {
	p := StepUpPage{What: h.asked(r.Context(), f.back).What, Back: f.back, Error: f.problem, Window: h.cfg.Rules.StepUp, Recovery: f.recovery}
	if f.newSecret != "" {
		address, err := h.enrolURL(s, f.newSecret)
		if err != nil {
			return err
		}
		p.Secret, p.URL = f.newSecret, address
	} else {
		state, err := h.cfg.Factors.State(r.Context(), s.PersonID)
		if err != nil {
			return err
		}
		p.HasRecovery = state.Recovery.Left > 0
	}
	h.cfg.Pages.StepUp(w, r, status, p)
	return nil
}

func (h *Handler) enrolURL(s facts.Session, secret string) (string, error) {
	base, err := url.Parse(h.cfg.BaseURL)
	if err != nil {
		return "", err
	}
	return facts.EnrolURL("Quartermaster "+base.Host, orElse(s.Email, s.Name), secret), nil
}

// takeStepUp judges a code. It decides nothing else.
func (h *Handler) takeStepUp(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	s, _ := FromContext(ctx)
	f := codeForm{back: wayBack(r.PostFormValue("back")), recovery: r.PostFormValue("recovery") != ""}
	if len(h.asked(ctx, f.back).Digests) == 0 {
		http.Redirect(w, r, f.back, http.StatusSeeOther)
		return nil
	}
	secret, _, err := h.cfg.Factors.TOTP(ctx, s.PersonID)
	if err != nil {
		return err
	}
	if secret == "" {
		if !s.FirstFactorFresh(h.cfg.Now(), h.cfg.Rules) {
			return h.showStepUp(w, withBack(r, f.back))
		}
		if f.newSecret, err = h.pendingSecret(ctx, s); err != nil {
			return err
		}
	}
	by, code := facts.ProofTOTP, r.PostFormValue("code")
	if f.recovery && secret != "" {
		by, code = facts.ProofRecovery, r.PostFormValue("recovery")
	}
	codes, status, err := h.judge(ctx, s, by, code, f.newSecret, &f.problem)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return h.showCode(w, r, s, status, f)
	}
	if len(codes) == 0 {
		return h.proven(w, r, s, by, f.back)
	}
	// Just enrolled: the recovery codes are shown now and never again.
	if err := h.keepProof(ctx, s, by, f.back); err != nil {
		return err
	}
	h.cfg.Pages.Codes(w, r, CodesPage{Codes: codes, Back: f.back})
	return nil
}

// judge looks at one code and uses it up. A wrong one is recorded and counted, and
// problem says what is wrong. codes are set when enrolling was what it did.
func (h *Handler) judge(ctx context.Context, s facts.Session, by facts.Proof, code, enrolling string, problem *string) (codes []string, status int, err error) {
	if until := h.count(s.PersonID); !until.IsZero() {
		*problem = tooMany(until)
		return nil, http.StatusTooManyRequests, nil
	}
	ok := false
	if by == facts.ProofRecovery {
		_, ok, err = h.cfg.Factors.UseRecovery(ctx, s, code)
		*problem = "This recovery code is not right, or it was used already. Each counts once."
	} else {
		codes, ok, err = h.judgeTOTP(ctx, s, code, enrolling)
		*problem = "This code is not right, or it was used already. Each code counts once; wait for the next one."
	}
	if err != nil {
		return nil, 0, err
	}
	if !ok {
		attempt := Refused{Reason: "wrong_code", Issuer: s.Issuer, Session: s, StepUp: true, At: h.cfg.Now()}
		if by == facts.ProofRecovery {
			attempt.Reason = "wrong_recovery_code"
		}
		_, err := h.cfg.People.Refuse(context.WithoutCancel(ctx), attempt)
		return nil, http.StatusUnprocessableEntity, err
	}
	*problem = ""
	h.forgive(s.PersonID)
	return codes, http.StatusOK, nil
}

// judgeTOTP makes the code's step unusable before it counts.
func (h *Handler) judgeTOTP(ctx context.Context, s facts.Session, code, enrolling string) (codes []string, ok bool, err error) {
	secret, last, err := h.cfg.Factors.TOTP(ctx, s.PersonID)
	if err != nil {
		return nil, false, err
	}
	step, ok := facts.VerifyTOTP(orElse(secret, enrolling), code, h.cfg.Now(), last)
	switch {
	case !ok:
		return nil, false, nil
	case secret == "":
		return h.cfg.Factors.ConfirmTOTP(ctx, s, step)
	}
	ok, err = h.cfg.Factors.SpendTOTP(ctx, s.PersonID, step)
	return nil, ok, err
}

// ProveCode judges a one-time code that came with the form of what it is for, and
// keeps the proof under a new token. problem is for the field; "" = proven.
func (h *Handler) ProveCode(ctx context.Context, code string, ask Ask) (proof, problem string, err error) {
	s, signedIn := FromContext(ctx)
	if !signedIn {
		return "", "You are signed out.", nil
	}
	if secret, _, err := h.cfg.Factors.TOTP(ctx, s.PersonID); err != nil || secret == "" {
		return "", "You have no authenticator here yet.", err
	}
	if _, _, err := h.judge(ctx, s, facts.ProofTOTP, code, "", &problem); err != nil || problem != "" {
		return "", problem, err
	}
	if proof, err = h.cfg.People.SteppedUp(ctx, s, facts.ProofTOTP, ask); err != nil {
		return "", "", err
	}
	return proof, "", h.sessions.RenewToken(ctx)
}

func tooMany(until time.Time) string {
	return "Too many wrong codes. Try again after " + until.UTC().Format("15:04:05") + " UTC."
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
