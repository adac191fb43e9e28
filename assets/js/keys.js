// Keys: g + letter goes to a page, j and k move over rows, o opens one, / searches,
// ? shows help. Nothing happens while somebody types.
const typing = (el) => el && (el.isContentEditable || /^(input|textarea|select)$/i.test(el.tagName));

function rows() {
  return [...document.querySelectorAll("[data-rows] > tbody > tr")].filter((r) => r.querySelector(".rowlink"));
}

function move(step) {
  const all = rows();
  if (all.length === 0) return;
  const now = all.findIndex((r) => r.classList.contains("at"));
  const next = Math.min(all.length - 1, Math.max(0, now + step));
  all.forEach((r, i) => r.classList.toggle("at", i === next));
  const link = all[next].querySelector(".rowlink");
  link.focus({ preventScroll: true });
  all[next].scrollIntoView({ block: "nearest" });
}

export function keys() {
  let waiting = 0; // time of the last g
  document.addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || typing(e.target)) return;
    const help = document.getElementById("help");
    if (help && help.open) return;
    if (waiting && e.timeStamp - waiting < 1500) {
      waiting = 0;
      const link = document.querySelector(`.rail [data-keys="g ${CSS.escape(e.key)}"]`);
      if (link) {
        e.preventDefault();
        link.click();
      }
      return;
    }
    waiting = 0;
    switch (e.key) {
      case "g": waiting = e.timeStamp; return;
      case "j": move(1); break;
      case "k": move(-1); break;
      case "o": document.querySelector("[data-rows] tr.at .rowlink")?.click(); break;
      case "/": document.getElementById("search")?.focus(); break;
      case "?": help?.showModal(); break;
      default: return;
    }
    e.preventDefault();
  });
}
