/* A text that may be long: its beginning, and the rest once somebody wants it.

   passage(text, {isCode})   a list of nodes; isCode: in the type of code */

import { h } from "./dom.js";
import { register, t } from "./i18n.js";

register({
  en: { "passage.more": "Show all", "passage.less": "Show less" },
  es: { "passage.more": "Ver todo", "passage.less": "Ver menos" },
});

const LONG = 320; // characters that are shown at first
const MOST_LINES = 5;

export function passage(text, { isCode = false } = {}) {
  const lines = text.split("\n");
  const isLong = text.length > LONG * 1.2 || lines.length > MOST_LINES + 1;
  const short = () => {
    const cut = lines.slice(0, MOST_LINES).join("\n");
    return `${cut.length > LONG ? cut.slice(0, LONG) : cut} …`;
  };
  const body = h("span", { class: ["text", isCode && "mono"] }, isLong ? short() : text);
  if (!isLong) return [body];
  const toggle = h("button", { class: "link", type: "button", "aria-expanded": "false" }, t("passage.more"));
  toggle.addEventListener("click", () => {
    const isOpen = toggle.getAttribute("aria-expanded") === "true";
    toggle.setAttribute("aria-expanded", String(!isOpen));
    toggle.textContent = t(isOpen ? "passage.more" : "passage.less");
    body.textContent = isOpen ? short() : text;
  });
  return [body, " ", toggle];
}
