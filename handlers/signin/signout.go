package signin

import (
	"errors"
	"net/http"

	"quartermaster/handlers/oidc"
	"quartermaster/internal/paths"
)

// takeSignOut ends the session here and sends the browser to end it at the
// provider.
func (h *Handler) takeSignOut(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	target := paths.With(paths.SignedOut, "why", "sign_out")
	if s, signedIn := FromContext(ctx); signedIn {
		if err := h.cfg.People.SignOut(ctx, s, "sign_out"); err != nil {
			return err
		}
		if there, ok := h.cfg.Provider.EndSessionURL(ctx, h.sessions.GetString(ctx, keyHint), h.cfg.BaseURL+paths.SignedOut); ok {
			target = there
		}
	}
	if err := h.sessions.Destroy(ctx); err != nil {
		return err
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
	return nil
}

const logoutTokenLimit = 64 << 10

// takeBackChannel hears from the provider itself that a session is over (OpenID
// Connect Back-Channel Logout section 2.8). Only a signed token counts; no cookie
// is looked at.
func (h *Handler) takeBackChannel(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, logoutTokenLimit)
	raw := r.PostFormValue("logout_token")
	out, err := h.cfg.Provider.VerifyLogoutToken(r.Context(), raw)
	var refusal *oidc.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.Reason == oidc.ProviderUnreachable:
		http.Error(w, `{"error":"temporarily_unavailable"}`, http.StatusServiceUnavailable)
		return nil
	case errors.As(err, &refusal):
		h.cfg.Log.WarnContext(r.Context(), "back-channel logout refused", "reason", string(refusal.Reason), "detail", refusal.Detail)
		if h.strangers.Allow() {
			if _, err := h.cfg.People.Refuse(r.Context(), Refused{
				Reason: string(refusal.Reason), Detail: "back-channel logout", Issuer: h.cfg.Provider.Issuer(), At: h.cfg.Now(),
			}); err != nil {
				return err
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_request"}`))
		return nil
	case err != nil:
		return err
	}
	n, err := h.cfg.People.EndSessions(r.Context(), out)
	if err != nil {
		return err
	}
	h.cfg.Log.InfoContext(r.Context(), "sessions ended by the identity provider", "sessions", n)
	w.WriteHeader(http.StatusOK)
	return nil
}
