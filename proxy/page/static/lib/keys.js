/* Keys that move through lists: j and k from row to row, / to the search, Esc back. Enter opens a row, since each is a
   link. They rest while something is typed, while a dialog is open, and where somebody has turned them off.

   watchKeys({back})   once, by the shell; `back` leaves the view for the list that it belongs to, if there is one
   keysHint()          what they are, with a button that turns them off and on: for lists
   A row to stop at is a link with the class "row-link"; the search has data-search. */

import { h } from "./dom.js";
import { register, t } from "./i18n.js";

register({
  en: {
    "keys.move": "rows",
    "keys.open": "open",
    "keys.search": "search",
    "keys.back": "back",
    "keys.on": "Keys on",
    "keys.off": "Keys off",
    "keys.what": "Single keys: j and k move through the rows, slash goes to the search, Escape goes back",
  },
  es: {
    "keys.move": "filas",
    "keys.open": "abrir",
    "keys.search": "buscar",
    "keys.back": "volver",
    "keys.on": "Teclas activas",
    "keys.off": "Teclas inactivas",
    "keys.what": "Teclas sueltas: j y k recorren las filas, la barra va a la búsqueda, Escape vuelve atrás",
  },
});

const KEPT = "olvido.keys";

const areOn = () => {
  try {
    return localStorage.getItem(KEPT) !== "off";
  } catch {
    return true;
  }
};

const rows = () => [...document.querySelectorAll("main .row-link")].filter((each) => each.checkVisibility());
const isTyping = (target) => target instanceof HTMLElement && (target.isContentEditable || target.matches("input, select, textarea"));

export function watchKeys({ back }) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !areOn()) return;
    if (document.querySelector("dialog[open]")) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape" && event.target.matches("[data-search]") && !event.target.value) event.target.blur();
      return;
    }
    if (event.key === "j" || event.key === "k") {
      if (move(event.key === "j" ? 1 : -1)) event.preventDefault();
    } else if (event.key === "/") {
      const search = document.querySelector("main [data-search]");
      if (!search) return;
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === "Escape" && !event.target.closest?.(".chart-stage")) {
      if (document.activeElement?.classList.contains("row-link")) document.activeElement.blur();
      else back();
    }
  });
}

function move(step) {
  const all = rows();
  if (!all.length) return false;
  const at = all.indexOf(document.activeElement);
  const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step));
  all[next].focus({ preventScroll: true });
  all[next].closest("tr, li")?.scrollIntoView({ block: "nearest" });
  return true;
}

export function keysHint() {
  const told = (keys, what) => h("span", { class: "key-told" }, keys.map((each) => h("kbd", each)), t(what));
  const toggle = h("button", { class: "link", type: "button", "aria-describedby": "keys-what" });
  const hint = h("span", { class: "key-list", "aria-hidden": "true" });
  const shown = () => {
    const on = areOn();
    toggle.textContent = t(on ? "keys.on" : "keys.off");
    toggle.setAttribute("aria-pressed", String(on));
    hint.hidden = !on;
  };
  toggle.addEventListener("click", () => {
    try {
      localStorage.setItem(KEPT, areOn() ? "off" : "on");
    } catch {
      // then they stay on
    }
    shown();
  });
  hint.append(told(["j", "k"], "keys.move"), told(["↵"], "keys.open"), told(["/"], "keys.search"), told(["Esc"], "keys.back"));
  shown();
  return h("p", { class: "keys" }, hint, toggle, h("span", { class: "sr-only", id: "keys-what" }, t("keys.what")));
}
