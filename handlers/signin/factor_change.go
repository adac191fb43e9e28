package signin

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	facts "quartermaster/internal/signin"
)

// keyFactor remembers what a person wanted to change while two factors are proven.
const keyFactor = "factor"

// What may be changed, and how the step-up names it.
const (
	changeCodes   = "codes"
	changeReplace = "replace"
)

var factorWords = map[string]string{
	changeCodes:   "to make new recovery codes",
	changeReplace: "to replace your authenticator",
}

// showFactor is a person's own second factor: what there is, how many recovery codes
// are left. After a step-up it asks for the last word; nothing is changed by GET.
func (h *Handler) showFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	p := FactorPage{Proof: h.Take(ctx, KeptProof(paths.SecondFactor))}
	if what := h.Take(ctx, keyFactor); p.Proof != "" {
		p.Confirm = what
	}
	return h.showFactorPage(w, r, http.StatusOK, p)
}

func (h *Handler) showFactorPage(w http.ResponseWriter, r *http.Request, status int, p FactorPage) error {
	s, _ := FromContext(r.Context())
	var err error
	if p.FactorState, err = h.cfg.Factors.State(r.Context(), s.PersonID); err != nil {
		return err
	}
	p.Provider = len(h.cfg.StepUpACR) > 0
	h.cfg.Pages.Factor(w, r, status, p)
	return nil
}

// renewCodes makes new recovery codes and shows them, once.
func (h *Handler) renewCodes(w http.ResponseWriter, r *http.Request) error {
	s, _ := FromContext(r.Context())
	codes, err := h.cfg.Factors.RenewRecovery(r.Context(), s, r.PostFormValue("proof"))
	if err != nil {
		return h.askForFactor(w, r, err, changeCodes)
	}
	h.cfg.Pages.Codes(w, r, CodesPage{Codes: codes, Back: paths.SecondFactor})
	return nil
}

// replaceFactor shows a new secret, or takes its first code, which puts it in force.
func (h *Handler) replaceFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	s, _ := FromContext(ctx)
	p := FactorPage{Proof: r.PostFormValue("proof")}
	if !r.PostForm.Has("code") {
		secret, err := facts.NewTOTPSecret(rand.Reader)
		if err != nil {
			return err
		}
		if err := h.cfg.Factors.Propose(ctx, s, p.Proof, secret); err != nil {
			return h.askForFactor(w, r, err, changeReplace)
		}
		return h.showSecret(w, r, s, http.StatusOK, p, secret)
	}
	secret, err := h.cfg.Factors.Proposed(ctx, s, p.Proof)
	if err != nil {
		return h.askForFactor(w, r, err, changeReplace)
	}
	if until := h.count(s.PersonID); !until.IsZero() {
		p.Error = tooMany(until)
		return h.showSecret(w, r, s, http.StatusTooManyRequests, p, secret)
	}
	step, ok := facts.VerifyTOTP(secret, r.PostFormValue("code"), h.cfg.Now(), 0)
	if !ok {
		attempt := Refused{Reason: "wrong_code", Issuer: s.Issuer, Session: s, StepUp: true, At: h.cfg.Now()}
		if _, err := h.cfg.People.Refuse(context.WithoutCancel(ctx), attempt); err != nil {
			return err
		}
		p.Error = "This is not the code of the new secret. Take the one that the authenticator shows now."
		return h.showSecret(w, r, s, http.StatusUnprocessableEntity, p, secret)
	}
	h.forgive(s.PersonID)
	codes, err := h.cfg.Factors.Replace(ctx, s, p.Proof, step)
	if err != nil {
		return h.askForFactor(w, r, err, changeReplace)
	}
	h.cfg.Pages.Codes(w, r, CodesPage{Codes: codes, Back: paths.SecondFactor})
	return nil
}

func (h *Handler) showSecret(w http.ResponseWriter, r *http.Request, s facts.Session, status int, p FactorPage, secret string) error {
	var err error
	if p.URL, err = h.enrolURL(s, secret); err != nil {
		return err
	}
	p.Secret = secret
	return h.showFactorPage(w, r, status, p)
}

// askForFactor asks for two factors where that is all that was missing.
func (h *Handler) askForFactor(w http.ResponseWriter, r *http.Request, err error, what string) error {
	var need *portal.StepUpNeeded
	if !errors.As(err, &need) {
		return err
	}
	ctx := r.Context()
	h.Keep(ctx, keyFactor, what)
	h.Keep(ctx, KeptAsk(paths.SecondFactor), Ask{What: factorWords[what], Digests: need.Digests}.Text())
	http.Redirect(w, r, paths.With(paths.StepUp, "back", paths.SecondFactor), http.StatusSeeOther)
	return nil
}
