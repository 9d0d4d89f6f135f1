/* The parts of the header that the page and the documents have in common.

   brand(page)                 the name, a link to the page; `page`: its address from here, "" on the page itself
   navigation(current, page, views)   every view, and the documents, or those of `views`; `current`: the entry to be
                               marked
   languageSwitch()            what changes the language, and the theme; whoever watches onLang and onTheme shows it
   themeSwitch()               anew */

import { h } from "./dom.js";
import { lang, setLang, t } from "./i18n.js";
import { icon } from "./parts.js";
import { href } from "./route.js";
import { setTheme, theme } from "./theme.js";

const NAV = ["now", "requests", "sessions", "facts", "jobs", "reuse", "keys", "what-if", "docs"];
const THEMES = ["auto", "light", "dark"];

export const brand = (page = "") => h("a", { class: "brand", href: page + href("now") }, h("span", { class: "brand-mark", "aria-hidden": "true" }), "Olvido");

export function navigation(current, page = "", views = NAV) {
  const place = (each) => (each === "docs" ? `${page || "ui"}/docs` : page + href(each));
  return h(
    "nav",
    { class: "nav", "aria-label": t("shell.nav") },
    h(
      "ul",
      views.map((each) => h("li", h("a", { href: place(each), "aria-current": each === current ? "page" : null }, t(`shell.${each.replace("-", "_")}`)))),
    ),
  );
}

export function languageSwitch() {
  const other = lang() === "es" ? "en" : "es";
  const label = t("shell.language");
  return h(
    "button",
    { class: "btn btn-quiet btn-small", type: "button", id: "language", lang: other, title: label, onclick: () => setLang(other) },
    h("span", { "aria-hidden": "true" }, other.toUpperCase()),
    h("span", { class: "sr-only" }, label),
  );
}

export function themeSwitch() {
  const now = theme();
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  const label = t("shell.theme", { theme: t(`shell.theme.${now}`), next: t(`shell.theme.${next}`) });
  const change = () => {
    setTheme(next);
    document.getElementById("theme").replaceWith(themeSwitch());
    document.getElementById("theme").focus();
  };
  return h("button", { class: "btn btn-quiet btn-small", type: "button", id: "theme", title: label, "aria-label": label, onclick: change }, icon(now));
}
