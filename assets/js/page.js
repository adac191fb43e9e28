// localTimes adds the reader's own zone to what a time shows on hover.
export function localTimes(within) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const form = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
  for (const t of within.querySelectorAll("time[data-local]")) {
    const at = new Date(t.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    t.title = `${t.title}\n${form.format(at)} (${zone})`;
    t.removeAttribute("data-local");
  }
}

// copy gives each copy button its work; the buttons are hidden without a script.
export function copy() {
  if (!navigator.clipboard) return;
  for (const b of document.querySelectorAll("[data-copy]")) {
    b.hidden = false;
    b.addEventListener("click", async () => {
      const word = b.querySelector("span");
      const before = word.textContent;
      await navigator.clipboard.writeText(document.getElementById(b.dataset.copy).textContent);
      word.textContent = "Copied";
      setTimeout(() => { word.textContent = before; }, 2000);
    });
  }
}

// menus close on Escape, on a click elsewhere, and when another opens.
export function menus() {
  const open = () => document.querySelectorAll("details.menu[open]");
  document.addEventListener("click", (e) => { for (const m of open()) if (!m.contains(e.target)) m.open = false; });
  document.addEventListener("keydown", (e) => {
    if (e.key !== "Escape") return;
    for (const m of open()) {
      m.open = false;
      m.querySelector("summary").focus();
    }
  });
}

// once lets a form be sent one time; the idempotency key guards the server all the same.
export function once() {
  document.addEventListener("submit", (e) => {
    const form = e.target;
    if (!form.matches("[data-once]") || e.defaultPrevented) return;
    if (form.dataset.sent) {
      e.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    // After the browser has read the form: a disabled button would not be sent.
    setTimeout(() => { for (const b of form.querySelectorAll("button")) b.disabled = true; }, 0);
  });
  // Coming back with the history shows the form as it was, ready again.
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("[data-once]")) {
      delete form.dataset.sent;
      for (const b of form.querySelectorAll("button")) b.disabled = false;
    }
  });
}

// approveWord keeps the button's words true to the figures typed.
export function approveWord() {
  const form = document.getElementById("decide");
  const button = form?.querySelector("[data-approve]");
  if (!button) return;
  form.addEventListener("input", () => {
    const grants = [...form.querySelectorAll('input[name^="grant."]')];
    const values = grants.map((g) => Number(g.value));
    if (grants.some((g) => g.value === "") || values.some((v) => !Number.isInteger(v) || v < 0)) {
      button.textContent = "Approve request";
      return;
    }
    const unit = grants[0].closest(".inputline")?.querySelector(".unit")?.textContent ?? "";
    const pools = grants.length > 1 ? ` in ${grants.length} pools` : "";
    const total = values.reduce((a, b) => a + b, 0);
    button.textContent = `Approve ${total.toLocaleString("en")} ${total === 1 ? unit.replace(/s$/, "") : unit}${pools}`;
  });
}
