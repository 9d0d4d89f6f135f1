/* A text that may be long: its beginning, and the rest once somebody wants it. Code between fences and texts that are JSON
   stand in the type of code.

   passage(text, {isCode})   a list of nodes; isCode: all of it in the type of code
   blocks(text)              [{kind: "text" | "code", text}] of a text, fences left out; JSON in lines */

import { h } from "./dom.js";
import { register, t } from "./i18n.js";
import { pretty } from "./json.js";

register({
  en: { "passage.more": "Show all", "passage.less": "Show less" },
  es: { "passage.more": "Ver todo", "passage.less": "Ver menos" },
});

const LONG = 320; // characters that are shown at first
const MOST_LINES = 5;
const LONG_CODE = 900;
const MOST_LINES_OF_CODE = 12;
const FENCED = /(?:^|\n)(?:```|~~~)[^\n]*\n([^]*?)(?:\n(?:```|~~~)[ \t]*(?=\n|$)|$)/g;

export function blocks(text) {
  const json = /^\s*[{[]/.test(text) && pretty(text);
  if (json) return [{ kind: "code", text: json }];
  const found = [];
  let at = 0;
  const said = (end) => {
    const between = text.slice(at, end);
    if (between.trim()) found.push({ kind: "text", text: found.length ? between.replace(/^\n+/, "") : between });
  };
  for (const fence of text.matchAll(FENCED)) {
    said(fence.index);
    found.push({ kind: "code", text: fence[1] });
    at = fence.index + fence[0].length;
  }
  said(text.length);
  return found;
}

export function passage(text, { isCode = false } = {}) {
  const whole = isCode ? [{ kind: "code", text }] : blocks(text);
  const short = cut(whole, isCode);
  const body = h("div", { class: "passage" }, drawn(short ?? whole, isCode));
  if (!short) return [body];
  const toggle = h("button", { class: "link", type: "button", "aria-expanded": "false" }, t("passage.more"));
  toggle.addEventListener("click", () => {
    const isOpen = toggle.getAttribute("aria-expanded") === "true";
    toggle.setAttribute("aria-expanded", String(!isOpen));
    toggle.textContent = t(isOpen ? "passage.more" : "passage.less");
    body.replaceChildren(...drawn(isOpen ? short : whole, isCode));
  });
  return [body, toggle];
}

const drawn = (found, isInline) =>
  found.map((each) => h(each.kind === "code" && !isInline ? "pre" : "span", { class: ["text", each.kind === "code" && (isInline ? "mono" : "code")] }, each.text));

/** The beginning of what is too long to be shown at once; null if it is not. */
function cut(found, isInline) {
  const isOfCode = isInline || (found.length > 0 && found[0].kind === "code");
  const [most, mostLines] = isOfCode ? [LONG_CODE, MOST_LINES_OF_CODE] : [LONG, MOST_LINES];
  const shown = [];
  let [size, lines] = [0, 0];
  for (const [at, each] of found.entries()) {
    const its = each.text.split("\n");
    const isLast = at === found.length - 1;
    if (size + each.text.length <= most * (isLast ? 1.2 : 1) && lines + its.length <= mostLines + (isLast ? 1 : 0)) {
      shown.push(each);
      size += each.text.length;
      lines += its.length;
      continue;
    }
    const part = its.slice(0, Math.max(1, mostLines - lines)).join("\n");
    shown.push({ ...each, text: `${part.slice(0, Math.max(80, most - size))} …` });
    return shown;
  }
  return null;
}
