/* What several views show in the same way.

   when(ts)                       <time>: how long ago, with the moment as its title. Ages by itself: see `tick`
   badge(text, kind?)             kind: accent | warn | danger | quiet | null
   copyButton(text, label?)       puts text into the clipboard, and says so
   stat(label, value, note?, {kind, title})    one figure with its name; value and note may be nodes
   meter(parts, {label})          a bar of parts [{value, class, label}]; for the eye: say the numbers in text, too
   bars(items, {label, most})     a list of [{label, value, text, class}] with a bar each, on one scale
   icon(name)                     check, copy, auto, light, dark, out, fold, shift, recall, tool, arrow, back
   delta(original, sent)          "−62 %", accented where it is less
   tick(root)                     keeps the times below root up to date; returns what ends it */

import { clear, h, s } from "./dom.js";
import { ago, moment, percent } from "./format.js";
import { t } from "./i18n.js";

export const when = (ts) =>
  h("time", { datetime: new Date(ts * 1000).toISOString(), title: moment(ts), dataset: { at: ts } }, ago(ts));

export function tick(root) {
  const timer = setInterval(() => {
    if (document.hidden) return;
    for (const each of root.querySelectorAll("time[data-at]")) {
      const told = ago(Number(each.dataset.at));
      if (each.textContent !== told) each.textContent = told;
    }
  }, 5000);
  return () => clearInterval(timer);
}

export const badge = (text, kind) => h("span", { class: ["badge", kind && `badge-${kind}`] }, text);

export function copyButton(text, label = t("shell.copy")) {
  const told = h("span", label);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      return; // not a secure context: the text is there to be selected
    }
    told.textContent = t("shell.copied");
    setTimeout(() => clear(told, label), 1600);
  };
  return h("button", { class: "btn btn-small", type: "button", onclick: copy, "aria-live": "polite" }, icon("copy"), told);
}

export const stat = (label, value, note, { kind, title } = {}) =>
  h(
    "div",
    { class: ["stat", kind && `stat-${kind}`], title },
    h("dt", label),
    h("dd", h("span", { class: "stat-value" }, value), note && h("span", { class: "stat-note" }, note)),
  );

export function meter(parts, { label } = {}) {
  const whole = parts.reduce((sum, part) => sum + Math.max(0, part.value), 0);
  const shown = parts
    .filter((part) => part.value > 0)
    .map((part) => {
      const share = part.value / whole;
      return h("span", { class: part.class, style: { "flex-grow": part.value }, title: part.label && `${part.label} · ${percent(share)}` });
    });
  return h("div", label ? { class: "meter", role: "img", "aria-label": label } : { class: "meter", "aria-hidden": "true" }, shown);
}

export function bars(items, { label, most = Math.max(...items.map((each) => each.value), 1e-12) } = {}) {
  return h(
    "ul",
    { class: "bars", "aria-label": label },
    items.map((each) =>
      h(
        "li",
        h("span", { class: "bars-label" }, each.label),
        h("span", { class: "bars-track", "aria-hidden": "true" }, h("i", { class: each.class, style: { width: `${Math.max(0, Math.min(1, each.value / most)) * 100}%` } })),
        h("span", { class: "bars-value" }, each.text),
      ),
    ),
  );
}

export function delta(original, sent) {
  if (!original || original === sent) return h("span", { class: "muted" }, "=");
  const change = sent / original - 1;
  return h("span", { class: change < 0 ? "good" : "muted" }, change > 0 ? `+${percent(change)}` : percent(change));
}

const PATHS = {
  check: "M3 8.5l3.2 3.2L13 5",
  copy: "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7",
  auto: "M8 2.5a5.5 5.5 0 100 11zM8 2.5a5.5 5.5 0 010 11",
  light: "M8 5a3 3 0 100 6 3 3 0 000-6zM8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  dark: "M13 9.6A5.5 5.5 0 016.4 3a5.5 5.5 0 106.6 6.6z",
  out: "M6.5 3h-3v10h3M7 8h6.5M11 5.5L13.5 8 11 10.5",
  fold: "M3 4h10M3 8h6M3 12h3",
  shift: "M3 5h4l3 6h3M11 9l2 2-2 2",
  recall: "M6 4L3 7l3 3M3.5 7H10a3 3 0 010 6H8",
  tool: "M9.5 3.5a3 3 0 00-3.9 3.9L2.8 10.2a1.4 1.4 0 002 2l2.8-2.8a3 3 0 003.9-3.9L9.8 7.2 8 7V5.2z",
  arrow: "M4 8h8M9 5l3 3-3 3",
  back: "M12 8H4M7 5L4 8l3 3",
  down: "M8 2.5v8M4.8 7.5L8 10.7l3.2-3.2M3 13.5h10",
  edit: "M3 13l.6-2.8L11 2.8l2.2 2.2-7.4 7.4L3 13",
};

export const icon = (name) =>
  s("svg", { class: ["icon", `icon-${name}`], viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", focusable: "false" }, s("path", { d: PATHS[name] ?? "" }));
