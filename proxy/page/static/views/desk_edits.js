/* What the model has changed by its tools: those edits that wait for a person, and all others, with before and after.

   waiting(desk, at)   a panel; null if none waits          edits(desk)   a panel
     at    {whose, signal, done(said, focus)} */

import { api } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { t, tn } from "../lib/i18n.js";
import { passage } from "../lib/passage.js";
import { acts, ofRequest, panel, state } from "./desk_parts.js";

export function waiting(desk, at) {
  const found = desk.edits.filter((each) => each.state === "waiting");
  if (!found.length) return null;
  const decide = (each, isAllowed) => async () => {
    await api.post("desk/edits", { ...at.whose, edit: each.number, is_allowed: isAllowed }, { signal: at.signal });
    await at.done(t(isAllowed ? "desk.confirmed" : "desk.declined"), "#desk-waits, #desk-edits");
  };
  const buttons = (each) =>
    acts([
      { text: t("desk.confirm"), name: `${t("desk.confirm")}: ${each.name}`, kind: "primary", run: decide(each, true) },
      { text: t("desk.decline"), name: `${t("desk.decline")}: ${each.name}`, run: decide(each, false) },
    ]);
  return panel(
    "waits",
    null,
    h("p", { class: "panel-body" }, t("desk.waits.what")),
    h("ol", { class: "desk-list" }, found.map((each) => edit(each, desk, buttons(each)))),
  );
}

export function edits(desk) {
  const found = desk.edits.filter((each) => each.state !== "waiting");
  return panel(
    "edits",
    null,
    found.length
      ? h("ol", { class: "desk-list" }, found.map((each) => edit(each, desk)))
      : h("p", { class: "panel-body muted" }, t("desk.edits.none")),
  );
}

function edit(each, { scope }, more) {
  return h(
    "li",
    { class: "desk-item", dataset: { number: each.number } },
    h(
      "div",
      { class: "spread" },
      h("span", { class: "row" }, h("code", { class: "tag" }, each.tool || t(each.by === "person" ? "desk.by.person" : "desk.session.end")), h("strong", { class: "break" }, each.name), state(each.state)),
      h("span", { class: "muted small" }, ofRequest(each.request_id, each.at, scope)),
    ),
    each.before !== null && each.after !== null && difference(each.before, each.after),
    more,
  );
}

/** Only the lines in between: those that both begin and end with stay. */
function difference(before, after) {
  const [old, now] = [before, after].map((text) => (text ? text.split("\n") : []));
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const between = (lines) => lines.slice(head, lines.length - tail).join("\n");
  const side = (name, tag, lines) =>
    h(
      "div",
      { class: "desk-side" },
      h("h3", t(`desk.${name}`)),
      between(lines) ? h(tag, passage(between(lines))) : h("p", { class: "muted small" }, t("desk.nothing")),
    );
  return [
    h("div", { class: "pair" }, side("before", "del", old), side("after", "ins", now)),
    head + tail > 0 && h("p", { class: "muted small" }, tn("desk.same", head + tail, { n: count(head + tail) })),
  ];
}
