/* The desk of a conversation, the memory that its model manages itself: what is on it, and what a person can set right. */

import dictionary from "../i18n/desk.js";
import { api } from "../lib/api.js";
import { announce, clear, h } from "../lib/dom.js";
import { dialog } from "../lib/form.js";
import { count, moment, money, percent, tokens } from "../lib/format.js";
import { register, t, tn } from "../lib/i18n.js";
import { badge, bars, stat, tick, when } from "../lib/parts.js";
import { passage } from "../lib/passage.js";
import { href } from "../lib/route.js";
import { word } from "../lib/rows.js";
import { scopeLabel } from "../lib/store.js";
import { table } from "../lib/table.js";
import { documents, sections } from "./desk_documents.js";
import { edits, waiting } from "./desk_edits.js";
import { acts, named, ofRequest, panel, state } from "./desk_parts.js";
import { pressure } from "./desk_pressure.js";
import { pinning, tape } from "./desk_tape.js";

register(dictionary);
export const title = "desk.title";

export async function show(root, ctx) {
  const { name, scope } = ctx.params;
  const { signal } = ctx;
  let desk = await api.get("desk", { session: name, scope }, { signal });
  const whose = { session: desk.session, scope: desk.scope };
  const at = { whose, signal, done };
  const messages = tape(desk, at);
  draw();
  ctx.onLeave(tick(root));
  await messages.load();

  function draw() {
    clear(
      root,
      heading(desk, reset),
      notes(desk),
      waiting(desk, at),
      figures(desk),
      h("div", { class: "split" }, pressure(desk), calls(desk)),
      h("div", { class: "grid grid-2" }, sections(desk, at), h("div", { class: "stack desk-column" }, documents(desk, at), pins(desk, at))),
      marks(desk),
      edits(desk),
      messages.element,
    );
  }

  /** A person has done something: all is shown anew, with the focus where they were. */
  async function done(said, focus) {
    desk = await api.get("desk", whose, { signal });
    messages.update(desk);
    draw();
    announce(said);
    root.querySelector(focus)?.focus({ preventScroll: true });
  }

  async function reset() {
    const undone = await dialog({
      title: t("desk.reset.title"),
      body: h("p", t("desk.reset.what")),
      action: t("desk.reset"),
      kind: "danger",
      run: () => api.post("desk/reset", whose, { signal }),
      signal,
    });
    if (undone) await done(tn("desk.reset.done", undone.undone.length, { n: count(undone.undone.length) }), "h1");
  }
}

function heading(desk, reset) {
  const isClean = desk.marks.every((each) => each.state === "undone") && desk.edits.every((each) => !["done", "waiting"].includes(each.state));
  return h(
    "div",
    { class: "stack request-head" },
    h(
      "div",
      { class: "view-head" },
      h("h1", { tabindex: "-1" }, t("desk.title")),
      isClean ? h("span", { class: "muted small" }, t("desk.reset.none")) : acts([{ text: t("desk.reset"), kind: "danger", run: reset }]),
    ),
    h("p", { class: "muted" }, t("desk.what")),
    h("p", { class: "muted" }, t("desk.session"), " ", h("a", { class: "break", href: href("session", desk.session, { scope: desk.scope }) }, desk.session), " · ", scopeLabel(desk.scope)),
  );
}

function notes(desk) {
  const found = [
    !desk.is_kept && t("desk.unkept"),
    !desk.is_enabled && t("desk.off"),
    !desk.show_content && t("desk.contents.off"),
    desk.reset_at && t("desk.reset.at", { at: moment(desk.reset_at) }),
  ].filter(Boolean);
  return found.length > 0 && h("div", { class: "callout stack" }, found.map((each) => h("p", each)));
}

function figures({ pressure: rows, offered, marks: marked, edits: edited, schemas, calls: called }) {
  const last = rows.at(-1);
  const level = last && named(`desk.level.${last.level}`, last.level);
  const waits = edited.filter((each) => each.state === "waiting").length;
  const isOffered = offered.names.length > 0;
  return h(
    "dl",
    { class: "stats" },
    stat(t("desk.pressure"), last ? (last.limit ? percent(last.pressure) : tokens(last.used)) : "–", last && (last.limit ? level : t("desk.nolimit")), { kind: last?.level === "high" ? "warn" : null }),
    stat(t("desk.offer"), t(offered.ended ? "desk.offer.ended" : isOffered ? "desk.offer.yes" : "desk.offer.none"), offering(offered)),
    stat(t("desk.calls"), count(Object.values(called).reduce((sum, n) => sum + n, 0))),
    stat(t("desk.marks"), count(marked.length)),
    stat(t("desk.waiting.count"), count(waits), null, { kind: waits ? "warn" : null }),
    stat(t("desk.schemas"), share(schemas), schemas.requests ? t("desk.schemas.note", { tokens: tokens(schemas.tokens), cost: money(schemas.cost), of: money(schemas.of_cost) }) : t("desk.schemas.none")),
  );
}

function offering({ names, reason, at, ended }) {
  if (ended) return named(`desk.offer.ended.${ended}`, ended);
  return names.length > 0 && [named(`desk.offer.${reason}`, reason), ", ", when(at)];
}

/** Of the bill; of the prompts' tokens where no price is known. */
function share({ requests, tokens: ours, of_tokens: all, cost, of_cost: bill }) {
  if (!requests) return "–";
  if (bill > 0) return t("desk.schemas.share", { share: percent(cost / bill) });
  return t("desk.schemas.tokens", { share: all > 0 ? percent(ours / all) : "–" });
}

function calls({ calls: called }) {
  const items = Object.entries(called).sort(([, one], [, other]) => other - one).map(([name, n]) => ({ label: h("code", name), value: n, text: count(n) }));
  return panel("calls", null, h("div", { class: "panel-body" }, items.length ? bars(items, { label: t("desk.calls") }) : h("p", { class: "muted" }, t("desk.calls.none"))));
}

function marks({ marks: found, scope }) {
  const columns = [
    { label: t("desk.mark.messages"), head: true, cell: (each) => (each.first === each.last ? `#${each.first}` : `#${each.first}–${each.last}`) },
    { label: t("desk.mark.kind"), cell: (each) => named(`desk.mark.${each.kind}`, each.kind) },
    { label: t("desk.mark.tokens"), num: true, cell: (each) => count(each.tokens) },
    { label: t("desk.mark.state"), cell: (each) => [state(each.state), each.reason && h("span", { class: "muted small" }, " ", named(`desk.mark.${each.reason}`, each.reason))] },
    { label: t("desk.mark.when"), cell: (each) => [ofRequest(each.request_id, each.at, scope), each.applied_by && h("span", { class: "small" }, " → ", ofRequest(each.applied_by, each.applied_at, scope))] },
    { label: t("desk.mark.text"), wide: true, cell: (each) => each.text && passage(each.text) },
  ];
  return panel("marks", null, found.length ? table({ columns, rows: found, caption: t("desk.marks") }).element : h("p", { class: "panel-body muted" }, t("desk.marks.none")));
}

function pins({ pins: found }, at) {
  const item = (each) =>
    h(
      "li",
      { class: "desk-item" },
      h(
        "div",
        { class: "spread" },
        h("span", { class: "row" }, h("span", { class: "tag" }, `#${each.message}`), badge(word("role", each.role)), h("span", { class: "muted small" }, when(each.at), " · ", t("desk.size", { tokens: count(each.tokens) }))),
        pinning(each.message, true, at, "#desk-pins", { unpin: each.message }),
      ),
      each.text && h("div", passage(each.text)),
    );
  return panel("pins", null, found.length ? h("ul", { class: "desk-list" }, found.map(item)) : h("p", { class: "panel-body muted" }, t("desk.pins.none")));
}
