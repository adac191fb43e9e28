// Everything here is a convenience: each page and each decision works without it.
import "htmx.org";
import { keys } from "./keys.js";
import { theme } from "./theme.js";
import { copy, localTimes, menus, once, approveWord } from "./page.js";

document.documentElement.classList.add("js");
theme();
keys();
menus();
copy();
once();
approveWord();
localTimes(document);
document.addEventListener("htmx:afterSwap", (e) => localTimes(e.target));
