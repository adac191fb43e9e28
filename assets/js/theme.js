// A click on a theme changes the page at once and keeps the choice in the cookie
// that the server reads; without a script the same buttons post the form.
export function theme() {
  const root = document.documentElement;
  document.addEventListener("submit", (e) => {
    if (!e.target.matches(".theme-form") || !e.submitter) return;
    e.preventDefault();
    const chosen = e.submitter.value;
    root.dataset.bsTheme = chosen;
    const scheme = document.querySelector('meta[name="color-scheme"]');
    if (scheme) scheme.content = chosen === "auto" ? "light dark" : chosen;
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `theme=${chosen}; path=/; max-age=31536000; samesite=lax${secure}`;
    for (const b of e.target.querySelectorAll("button")) b.setAttribute("aria-pressed", String(b === e.submitter));
  });
}
