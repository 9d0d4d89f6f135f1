/* The tape of a session, from a message on, page by page; messages can be pinned on it.

   tape(desk, at) -> {element, load(), update(desk)}
     at        {whose, signal, done(said, focus)}
     load()    the newest page            update(desk)   what is pinned has changed */

import { api, isAborted } from "../lib/api.js";
import { call } from "../lib/calls.js";
import { clear, empty, failure, h, loading } from "../lib/dom.js";
import { field } from "../lib/form.js";
import { count } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { badge, when } from "../lib/parts.js";
import { passage } from "../lib/passage.js";
import { word } from "../lib/rows.js";
import { acts, panel } from "./desk_parts.js";

const PAGE = 50;

export function tape(told, at) {
  let desk = told;
  let lines = [];
  let next = null;
  const first = h("input", { class: "input", type: "number", min: 1, max: Math.max(1, desk.last), required: true, value: Math.max(1, desk.last - PAGE + 1) });
  const list = h("ol", { class: "messages", "aria-label": t("desk.tape.list") });
  const foot = h("div", { class: "more" });
  const go = (event) => {
    event.preventDefault();
    return from(first.valueAsNumber - 1);
  };
  const element = panel(
    "tape",
    t("desk.tape.what"),
    h("form", { class: "toolbar desk-from", onsubmit: go }, field(t("desk.tape.from"), first), h("button", { class: "btn", type: "submit" }, t("desk.tape.show"))),
    list,
    foot,
  );

  async function from(after) {
    lines = [];
    next = after;
    clear(list);
    await more();
  }

  async function more() {
    const isFirst = !lines.length;
    clear(foot, loading());
    try {
      const found = await api.get("desk/tape", { ...at.whose, after: next, limit: PAGE }, { signal: at.signal });
      const known = lines.length;
      lines = [...lines, ...found.lines];
      next = found.next;
      draw();
      // The button that was pressed is gone: on with what it brought.
      if (!isFirst) list.children[known]?.querySelector("button")?.focus();
    } catch (error) {
      if (!isAborted(error)) clear(foot, failure(error, more));
    }
  }

  function draw() {
    const pinned = new Set(desk.pins.map((each) => each.message));
    clear(list, lines.map((each) => line(each, pinned.has(each.message), at)));
    clear(
      foot,
      !lines.length && empty(t("desk.tape.none")),
      next !== null && h("button", { class: "btn btn-small", type: "button", onclick: more }, t("shell.more")),
    );
  }

  return {
    element,
    load: () => from(Math.max(0, desk.last - PAGE)),
    update(changed) {
      desk = changed;
      draw();
    },
  };
}

function line(each, isPinned, at) {
  return h(
    "li",
    { class: "message", dataset: { message: each.message } },
    h(
      "div",
      { class: "message-head" },
      h("span", { class: "tag" }, `#${each.message}`),
      h("span", { class: "role" }, word("role", each.role)),
      each.is_hidden && badge(t("desk.tape.hidden"), "accent"),
      isPinned && badge(t("desk.pinned"), "warn"),
      each.is_forgotten && badge(t("desk.tape.forgotten"), "quiet"),
      h("span", { class: "muted small why" }, when(each.at), " · ", t("desk.size", { tokens: count(each.tokens) })),
      pinning(each.message, isPinned, at, `[data-pin="${each.message}"]`, { pin: each.message }),
    ),
    each.text && h("div", passage(each.text)),
    each.calls.map((made) => call(made)),
  );
}

/** The button that pins a message, or takes the pin away. `focus`: what is focused then. */
export function pinning(message, isPinned, at, focus, data) {
  const key = isPinned ? "desk.unpin" : "desk.pin";
  const n = message;
  const run = async () => {
    await api.post("desk/pins", { ...at.whose, message, pinned: !isPinned }, { signal: at.signal });
    await at.done(t(`${key}.done`, { n }), focus);
  };
  return acts([{ text: t(key), name: t(`${key}.name`, { n }), kind: "quiet", data, run }]);
}
