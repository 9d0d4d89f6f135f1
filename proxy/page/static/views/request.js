/* One request: what the client sent, what the model got, what was left out, and why. */

import dictionary from "../i18n/request.js";
import { api } from "../lib/api.js";
import { clear, h } from "../lib/dom.js";
import { count, decimal, moment, money, seconds, time } from "../lib/format.js";
import { register, t, tn } from "../lib/i18n.js";
import { sessionLink } from "../lib/names.js";
import { badge, bars, copyButton, delta, stat, tick, when } from "../lib/parts.js";
import { href } from "../lib/route.js";
import { badges, isManaged, word } from "../lib/rows.js";
import { scopeLabel } from "../lib/store.js";
import { table } from "../lib/table.js";
import { tabs } from "../lib/tabs.js";
import { rounds } from "./request_rounds.js";
import { sentence, tone } from "./request_sentence.js";
import { after, before } from "./request_texts.js";
import { unmanaged } from "./request_unmanaged.js";
import { breakEven, story } from "./request_why.js";

register(dictionary);
export const title = "request.title";

const ASKED = 160; // characters of a question in the heading
let lastTab = "before"; // of the request that was looked at before

export async function show(root, ctx) {
  const { id, scope } = ctx.params;
  const found = await api.get(`requests/${encodeURIComponent(id)}`, { scope }, { signal: ctx.signal });
  const row = found.request;
  ctx.onLeave(tick(root));
  if (!isManaged(row)) {
    clear(root, unmanaged(row, heading(found)));
    return;
  }
  const entry = row.source === "intent" ? await reuseEntry(row, ctx) : null;
  const why = h("div", { class: "why-parts" }, story(row, entry), row.trail?.break_even ? breakEven(row.trail) : mechanisms(row));
  const more = details(found, row, entry);
  const numbers = figures(row);
  clear(root, heading(found), h("p", { class: ["verdict", tone(found.verdict)] }, sentence(found.verdict)), numbers, tries(found.attempts, row));
  if (found.has_content) {
    const [sent, got] = [before(found.messages), after(found, row)];
    const parts = [
      { name: "before", text: t("request.tab.before"), panels: [sent] },
      { name: "after", text: t("request.tab.after"), panels: [got] },
      { name: "why", text: t("request.tab.why"), panels: [why, numbers, more] },
    ];
    const choice = tabs({ label: t("request.tabs"), parts, chosen: lastTab, pick: (name) => (lastTab = name) });
    ctx.onLeave(choice.destroy);
    root.append(choice.element, h("div", { class: "request-parts" }, why, sent, got), more);
  } else root.append(withoutText(ctx.me, row), why, more);
}

/** All that is known beside the texts. */
function details(found, row, entry) {
  return h(
    "div",
    { class: "stack request-more" },
    rounds(found, row),
    h(
      "div",
      { class: "grid grid-fit" },
      row.trail && trail(row.trail),
      row.trail?.recalled?.length > 0 && recalled(row),
      row.trail?.break_even && mechanisms(row),
      stages(row),
      headers(t("request.response"), responseHeaders(row, entry)),
      found.has_content && headers(t("request.headers"), Object.entries(found.headers), t("request.headers.none")),
    ),
  );
}

/** Which answer was given again: the reuse log knows, the ledger does not. */
async function reuseEntry(row, ctx) {
  try {
    let next = null;
    do {
      const page = await api.get("reuse", { scope: row.scope, limit: 1000, before: next }, { signal: ctx.signal });
      const line = page.log.find((each) => each.request_id === row.request_id && each.result === "hit");
      if (line) return line;
      next = page.next;
    } while (next !== null);
    return null;
  } catch {
    return null; // the rest of the page does not need it
  }
}

// --- what it was ---------------------------------------------------------------------------------------------------

function heading({ request: row, messages, session_question: first }) {
  const part = (label, ...value) => h("div", h("dt", { class: "sr-only" }, label), h("dd", { title: label }, value));
  const asked = messages.findLast((each) => each.role === "user" && each.text)?.text;
  const conversation = sessionLink({ ...row, session_question: first }, { class: "cut session-link" });
  return h(
    "div",
    { class: "stack request-head" },
    h(
      "div",
      { class: "view-head" },
      h("h1", { class: "asked", title: asked ?? null }, asked ? oneLine(asked) : t("request.title")),
      h("span", { class: "row" }, h("code", { class: "tag break" }, row.request_id), copyButton(row.request_id)),
    ),
    h(
      "dl",
      { class: "row request-facts" },
      part(t("rows.what"), badges(row)),
      part(t("request.at"), moment(row.at), " · ", when(row.at)),
      isManaged(row) && part(t("request.session"), conversation),
      part(t("request.model"), row.model || "–"),
      part(t("request.upstream"), row.upstream, row.stream && ` · ${t("request.streamed")}`, row.retries > 0 && ` · ${tn("request.retries", row.retries)}`),
      part(t("request.scope"), h("span", { class: "muted" }, scopeLabel(row.scope))),
    ),
  );
}

/** Its beginning: a question may be a whole document. */
const oneLine = (text) => {
  const line = text.slice(0, 400).replace(/\s+/g, " ").trim();
  return line.length > ASKED ? `${line.slice(0, ASKED).trimEnd()}…` : line;
};

function figures(row) {
  const isReused = row.source !== "upstream";
  const how = t(row.measured ? "request.measured" : "request.estimated");
  const ours = Math.max(0, row.total_seconds - row.upstream_seconds);
  const dollars = row.cost || row.cost_saved || (!isReused && !row.tokens_billed) ? money : () => "–"; // no price is known
  return h(
    "dl",
    { class: "stats request-stats" },
    stat(t("request.original"), count(row.tokens_original)),
    stat(t("request.sent"), count(row.tokens_sent), isReused ? null : delta(row.tokens_original, row.tokens_sent)),
    !isReused && stat(t("request.billed"), count(row.tokens_billed), how),
    !isReused && stat(t("request.cached"), count(row.tokens_cached), t("request.cached.note")),
    stat(t("request.completion"), count(row.tokens_completion), isReused ? null : how),
    stat(t("request.cost"), dollars(row.cost)),
    stat(t("request.saved"), dollars(row.cost_saved), t(row.cost_saved < 0 ? "request.dearer.note" : "request.saved.note"), { kind: row.cost_saved > 0 ? "good" : null }),
    stat(t("request.took"), seconds(row.total_seconds), isReused ? null : t("request.took.note", { ours: seconds(ours) })),
  );
}

/** The tries of an SDK that asked again after a failure: each is a request of its own. */
function tries(attempts, row) {
  if (!attempts.length) return null;
  const line = (each, at) => {
    const isThis = each.request_id === row.request_id;
    const name = t("request.try", { n: count(at + 1) });
    const failed = each.status >= 400 || each.status === 0 || each.outcome !== "complete";
    return h(
      "li",
      { "aria-current": isThis ? "true" : null },
      isThis ? h("strong", name) : h("a", { href: href("request", each.request_id, { scope: row.scope }) }, name),
      badge(each.status || "–", failed ? "danger" : null),
      failed && h("span", each.outcome === "complete" ? t("request.try.refused") : word("outcome", each.outcome)),
      h("span", { class: "muted small nowrap" }, time(each.at), " · ", seconds(each.seconds)),
    );
  };
  return h("section", { class: "panel tries" }, h("div", { class: "panel-head" }, h("h2", t("request.tries", { n: count(attempts.length) })), h("span", { class: "muted small" }, t("request.tries.what"))), h("ol", { class: "panel-body" }, attempts.map(line)));
}

// --- what is known without texts -----------------------------------------------------------------------------------

function withoutText(me, row) {
  return h("p", { class: "callout" }, t(me.show_content ? "request.hidden.gone" : "request.hidden.off"));
}

function trail(told) {
  const indices = (list) => (list?.length ? list.map((each) => `#${each}`).join(", ") : null);
  const lines = [
    ["profile", told.profile],
    ["limit", told.limit ? count(told.limit) : t("request.trail.nolimit")],
    ["turns", count(told.turns)],
    ["kept", count(told.kept)],
    ["start", `#${told.start}`],
    ["newest", `#${told.newest}`],
    ["head", told.head ? `${count(told.head)} · ${tn("request.summaries", told.summaries)}, ${tn("request.facts", told.facts)}` : null],
    ["volatile", told.volatile ? count(told.volatile) : null],
    ["capped", indices(told.capped)],
    ["markers", indices(told.markers)],
    ["domain", told.domain],
    ["continuity", typeof told.continuity === "number" ? decimal(told.continuity, 2) : null],
  ].filter(([, value]) => value);
  return h(
    "section",
    { class: "panel" },
    h("div", { class: "panel-head" }, h("h2", t("request.trail"))),
    h("dl", { class: "panel-body facts-list" }, lines.map(([name, value]) => [h("dt", t(`request.trail.${name}`)), h("dd", value)])),
  );
}

function recalled(row) {
  const columns = [
    { label: t("request.recalled.turn"), head: true, cell: (line) => count(line.turn) },
    { label: t("request.recalled.role"), cell: (line) => word("role", line.role) },
    {
      label: t("request.recalled.session"),
      cell: (line) => (line.session === row.session ? h("span", { class: "muted" }, t("request.recalled.this")) : h("a", { href: href("session", line.session, { scope: row.scope }) }, line.session)),
    },
    { label: t("request.recalled.tokens"), num: true, cell: (line) => count(line.tokens) },
    { label: t("request.recalled.score"), num: true, cell: (line) => decimal(line.score, 2) },
  ];
  return h(
    "section",
    { class: "panel" },
    h("div", { class: "panel-head" }, h("h2", t("request.recalled"))),
    table({ columns, rows: row.trail.recalled, caption: t("request.recalled"), cards: false }).element,
  );
}

// --- numbers and headers -------------------------------------------------------------------------------------------

const ADDED = ["summaries", "facts", "recall"];

function mechanisms(row) {
  const used = Object.entries(row.mechanisms ?? {}).filter(([, value]) => value);
  const items = used.map(([name, value]) => {
    const isAdded = ADDED.includes(name);
    return { label: word("mechanism", name), value, text: `${isAdded ? "+" : "−"}${count(value)}`, class: isAdded ? "original" : "context" };
  });
  return h(
    "section",
    { class: "panel" },
    h("div", { class: "panel-head" }, h("h2", t("request.mechanisms")), h("span", { class: "muted small" }, t("shell.tokens"))),
    h("div", { class: "panel-body" }, items.length ? bars(items) : h("p", { class: "muted" }, t("request.mechanisms.none"))),
  );
}

function stages(row) {
  const items = Object.entries(row.stage_seconds ?? {}).map(([name, value]) => ({ label: name, value, text: seconds(value) }));
  const ours = Math.max(0, row.total_seconds - row.upstream_seconds);
  return h(
    "section",
    { class: "panel" },
    h(
      "div",
      { class: "panel-head" },
      h("h2", t("request.stages")),
      h("span", { class: "muted small" }, t("request.stages.ours", { ours: seconds(ours), upstream: seconds(row.upstream_seconds) })),
    ),
    h("div", { class: "panel-body" }, items.length > 0 && bars(items)),
  );
}

/** As proxy/pipeline/chat.py writes them. */
function responseHeaders(row, entry) {
  return [
    ["x-olvido-source", row.source],
    ["x-olvido-session", row.session],
    ["x-olvido-request", row.request_id],
    ["x-olvido-tokens-original", row.tokens_original],
    ["x-olvido-tokens-sent", row.tokens_sent],
    ["x-olvido-plan", row.plan_reason ? `${row.plan};${row.plan_reason}` : row.plan],
    entry && ["x-olvido-reuse", `${entry.entry_id};cosine=${entry.cosine.toFixed(2)}`],
  ].filter(Boolean);
}

const headers = (name, lines, none) =>
  h(
    "section",
    { class: "panel" },
    h("div", { class: "panel-head" }, h("h2", name)),
    h(
      "div",
      { class: "panel-body" },
      lines.length ? h("dl", { class: "headers mono" }, lines.map(([key, value]) => [h("dt", key), h("dd", String(value))])) : h("p", { class: "muted" }, none),
    ),
  );
