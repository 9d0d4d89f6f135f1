/* What the parts of a desk share.

   panel(name, note, ...children)      a panel whose heading is t(`desk.${name}`), and can be focused as #desk-<name>
   acts(buttons)                       buttons [{text, name, kind, data, run}]; what goes wrong is told below them
                                         name: for screen readers, where `text` alone says too little
   named(key, raw)                     the text of `key`; what the proxy named anew stays as it is
   ofRequest(id, at, scope)            when it was, leading to its request
   state(name)                         a badge */

import { isAborted } from "../lib/api.js";
import { clear, failure, h } from "../lib/dom.js";
import { has, t } from "../lib/i18n.js";
import { badge, when } from "../lib/parts.js";
import { href } from "../lib/route.js";

const STATES = { waiting: "warn", applied: "accent", done: "accent", confirmed: "accent" };

export function panel(name, note, ...children) {
  const heading = h("h2", { id: `desk-${name}`, tabindex: "-1" }, t(`desk.${name}`));
  return h(
    "section",
    { class: ["panel", `desk-${name}`], "aria-labelledby": heading.id },
    h("div", { class: "panel-head" }, heading, note && h("span", { class: "muted small" }, note)),
    children,
  );
}

export function acts(buttons) {
  const trouble = h("div");
  const made = buttons.map(({ text, name, kind, data, run }) => {
    const go = async (event) => {
      const button = event.currentTarget;
      button.disabled = true;
      clear(trouble);
      try {
        await run();
      } catch (error) {
        if (!isAborted(error)) clear(trouble, failure(error));
      }
      button.disabled = false;
      // A dialog gives the focus back to a button that may have it.
      if (button.isConnected && document.activeElement === document.body) button.focus();
    };
    return h("button", { class: ["btn", "btn-small", kind && `btn-${kind}`], type: "button", "aria-label": name, dataset: data ?? {}, onclick: go }, text);
  });
  return h("div", { class: "desk-acts" }, h("div", { class: "row" }, made), trouble);
}

export const named = (key, raw) => (has(key) ? t(key) : raw);

export const ofRequest = (id, at, scope) => (id ? h("a", { class: "quiet nowrap", href: href("request", id, { scope }) }, when(at)) : h("span", { class: "nowrap" }, when(at)));

export const state = (name) => badge(named(`desk.state.${name}`, name), STATES[name] ?? "quiet");
