/* Conversations, latest first. */

import dictionary from "../i18n/sessions.js";
import { api } from "../lib/api.js";
import { clear, empty, failure, h, unique } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { register, t, tn } from "../lib/i18n.js";
import { tick, when } from "../lib/parts.js";
import { href } from "../lib/route.js";
import { flow, saved } from "../lib/rows.js";
import { scope, scopeLabel, scopes } from "../lib/store.js";
import { table } from "../lib/table.js";

register(dictionary);
export const title = "sessions.title";

const PAGE = 50;

export async function show(root, ctx) {
  const loaded = [];
  let next = null;
  let sought = "";
  const list = table({ columns: columns(), caption: t("sessions.caption"), empty: h("div"), key: (card) => `${card.scope} ${card.session}` });
  const shown = h("span", { class: "muted small", role: "status" });
  const foot = h("div", { class: "more" });
  const nothing = h("div");
  const id = unique("search");

  async function load() {
    const found = await api.get("sessions", { scope: scope(), before: next, limit: PAGE }, { signal: ctx.signal });
    loaded.push(...found.sessions);
    next = found.next;
    draw();
  }

  function draw() {
    const wanted = sought.toLocaleLowerCase();
    const rows = loaded.filter((card) => card.session.toLocaleLowerCase().includes(wanted));
    list.set(rows);
    clear(nothing, !rows.length && empty(t("sessions.nothing", { text: sought })));
    shown.textContent = tn("sessions.shown", rows.length, { n: count(rows.length) });
    const more = async (event) => {
      event.target.disabled = true;
      try {
        await load();
      } catch (error) {
        if (!ctx.signal.aborted) clear(foot, failure(error, draw));
      }
    };
    clear(foot, next !== null && h("button", { class: "btn btn-small", type: "button", onclick: more }, t("shell.more")));
  }

  await load();
  if (!loaded.length) {
    clear(root, h("div", { class: "view-head" }, h("h1", t("sessions.title"))), h("section", { class: "panel" }, empty(t("sessions.empty"))));
    return;
  }
  const search = (event) => {
    sought = event.target.value.trim();
    draw();
  };
  clear(
    root,
    h(
      "div",
      { class: "view-head" },
      h("h1", t("sessions.title")),
      shown,
      h(
        "div",
        { class: "search" },
        h("label", { class: "sr-only", for: id }, `${t("sessions.search")}, ${t("sessions.search.hint")}`),
        h("input", { class: "input", id, type: "search", placeholder: t("sessions.search"), autocomplete: "off", oninput: search }),
      ),
    ),
    h("section", { class: "panel" }, list.element, nothing, foot),
  );
  ctx.onLeave(tick(root));
}

function columns() {
  const sums = (card) => card.sums;
  const reused = (card) => sums(card).reused_exact + sums(card).reused_intent;
  return [
    {
      label: t("sessions.name"),
      head: true,
      cell: (card) => [
        h("a", { class: "break", href: href("session", card.session, { scope: card.scope }) }, card.session),
        scopes().length > 1 && !scope() && h("span", { class: "muted small session-scope" }, scopeLabel(card.scope)),
      ],
    },
    { label: t("sessions.last"), class: "nowrap", cell: (card) => when(card.last_at) },
    { label: t("sessions.requests"), num: true, cell: (card) => count(sums(card).requests) },
    { label: t("sessions.reused"), num: true, cell: (card) => (reused(card) ? count(reused(card)) : h("span", { class: "muted" }, "–")) },
    { label: t("sessions.tokens"), class: "cell-flow", cell: (card) => flow({ source: "upstream", tokens_original: sums(card).tokens_original, tokens_sent: sums(card).tokens_sent }) },
    { label: t("sessions.saved"), num: true, cell: (card) => saved(sums(card).dollars_saved) },
  ];
}
