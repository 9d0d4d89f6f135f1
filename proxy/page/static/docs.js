/* The header of the documents: the page's own. The documents themselves are there without it, and are in English. */

import { clear, h } from "./lib/dom.js";
import { lang, onLang, register, t } from "./lib/i18n.js";
import { brand, languageSwitch, navigation, themeSwitch } from "./lib/shell.js";
import shell from "./i18n/shell.js";

register(shell);

const top = document.getElementById("top");

function frame() {
  document.documentElement.lang = lang();
  document.getElementById("skip").textContent = t("shell.skip");
  document.getElementById("docs-list").setAttribute("aria-label", t("shell.docs"));
  const page = `${top.dataset.root}../ui`;
  clear(top, h("div", { class: "top-in" }, brand(page), navigation("docs", page), h("div", { class: "tools" }, languageSwitch(), themeSwitch())));
}

onLang(frame);
frame();
