/* Conversations, latest first, each by its first question where that may be shown. */

import dictionary from "../i18n/sessions.js";
import { api, isAborted } from "../lib/api.js";
import { announce, clear, empty, failure, h, unique } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { register, t, tn } from "../lib/i18n.js";
import { keysHint } from "../lib/keys.js";
import { sessionLink } from "../lib/names.js";
import { tick, when } from "../lib/parts.js";
import { href } from "../lib/route.js";
import { flow, saved } from "../lib/rows.js";
import { scope, scopeLabel, scopes } from "../lib/store.js";
import { table } from "../lib/table.js";

register(dictionary);
export const title = "sessions.title";

const PAGE = 50;
const WAIT = 250; // ms after the last key of a search

export async function show(root, ctx) {
  let shownRows = 0;
  let next = null;
  let sought = ctx.params.text ?? "";
  let asking = null; // the newest search: an older one is dropped
  let waiting = null;
  const list = table({ columns: columns(), caption: t("sessions.caption"), empty: h("div"), key: (card) => `${card.scope} ${card.session}` });
  const told = h("span", { class: "muted small", role: "status" });
  const foot = h("div", { class: "more" });
  const nothing = h("div");
  const id = unique("search");
  const hint = t(ctx.me.show_content ? "sessions.search" : "sessions.search.ids");

  async function begin() {
    asking?.abort();
    asking = new AbortController();
    shownRows = 0;
    next = null;
    await load(asking, (cards) => list.set(cards));
  }

  /** Asks until a page is full, or nothing is left. */
  async function load(mine, put = (cards) => list.add(cards)) {
    let left = PAGE;
    let place = put;
    try {
      do {
        const found = await api.get("sessions", { scope: scope(), before: next, limit: left, text: sought }, { signal: mine.signal });
        place(found.sessions);
        place = (cards) => list.add(cards);
        shownRows += found.sessions.length;
        left -= found.sessions.length;
        next = found.next;
      } while (sought && left > 0 && next !== null);
      drawn();
    } catch (error) {
      if (!isAborted(error) && !ctx.signal.aborted) clear(foot, failure(error, () => load(mine)));
    }
  }

  function drawn() {
    clear(nothing, !shownRows && empty(sought ? t("sessions.nothing", { text: sought }) : t("sessions.empty")));
    told.textContent = next === null ? tn("sessions.shown", shownRows, { n: count(shownRows) }) : t("sessions.more", { n: count(shownRows) });
    announce(told.textContent);
    const more = async (event) => {
      event.target.disabled = true;
      await load(asking);
    };
    clear(foot, next !== null && h("button", { class: "btn btn-small", type: "button", onclick: more }, t("shell.more")));
  }

  const search = (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      sought = event.target.value.trim().slice(0, 200);
      history.replaceState(null, "", href("sessions", null, { text: sought }));
      begin();
    }, WAIT);
  };
  clear(
    root,
    h(
      "div",
      { class: "view-head" },
      h("h1", t("sessions.title")),
      told,
      h(
        "search",
        { class: "search" },
        h("label", { class: "sr-only", for: id }, hint),
        h("input", { class: "input", id, type: "search", value: sought, placeholder: hint, autocomplete: "off", maxlength: "200", dataset: { search: "" }, oninput: search }),
      ),
    ),
    h("section", { class: "panel" }, list.element, nothing, foot),
    keysHint(),
  );
  ctx.onLeave(tick(root));
  ctx.onLeave(() => asking?.abort());
  await begin();
}

function columns() {
  const sums = (card) => card.sums;
  const reused = (card) => sums(card).reused_exact + sums(card).reused_intent;
  return [
    {
      label: t("sessions.name"),
      head: true,
      class: "cell-question",
      cell: (card) => [
        sessionLink(card, { class: "row-link cut" }),
        (card.question || (scopes().length > 1 && !scope())) &&
          h("span", { class: "muted small cut" }, [card.question && card.session, scopes().length > 1 && !scope() && scopeLabel(card.scope)].filter(Boolean).join(" · ")),
      ],
    },
    { label: t("sessions.last"), class: "nowrap", cell: (card) => when(card.last_at) },
    { label: t("sessions.requests"), num: true, cell: (card) => count(sums(card).requests) },
    { label: t("sessions.reused"), num: true, cell: (card) => (reused(card) ? count(reused(card)) : h("span", { class: "muted" }, "–")) },
    { label: t("sessions.tokens"), class: "cell-flow", cell: (card) => flow({ source: "upstream", tokens_original: sums(card).tokens_original, tokens_sent: sums(card).tokens_sent }) },
    { label: t("sessions.saved"), num: true, cell: (card) => saved(sums(card).dollars_saved) },
  ];
}
