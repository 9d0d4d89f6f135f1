/* One conversation: its requests in the order they came, what left the window and when, and its branches. */

import dictionary from "../i18n/sessions.js";
import { api } from "../lib/api.js";
import { clear, failure, h } from "../lib/dom.js";
import { count, moment, money, tokens } from "../lib/format.js";
import { has, register, t, tn } from "../lib/i18n.js";
import { badge, copyButton, delta, icon, stat, tick, when } from "../lib/parts.js";
import { href } from "../lib/route.js";
import { badges, saved } from "../lib/rows.js";
import { scopeLabel } from "../lib/store.js";
import { table } from "../lib/table.js";
import { growth } from "./session_chart.js";

register(dictionary);
export const title = "session.title";

const MOST_REQUESTS = 500;
const LISTED = 60; // requests that the timeline shows at first
const LONG_RUN = 12; // turns without a branch that are shown at once

export async function show(root, ctx) {
  const { name, scope } = ctx.params;
  const found = await api.get(`sessions/${encodeURIComponent(name)}`, { scope }, { signal: ctx.signal });
  const foot = h("div", { class: "more" });
  let drawn = null;
  const draw = () => {
    drawn?.destroy();
    const told = settled(found);
    drawn = growth(told);
    clear(
      root,
      heading(found),
      figures(found.requests),
      drawn && h("section", { class: "panel" }, drawn.element),
      h("div", { class: "split" }, timeline(told), branches(found)),
      foot,
    );
    clear(foot, found.next !== null && h("button", { class: "btn btn-small", type: "button", onclick: older }, t("shell.more")));
  };
  const older = async (event) => {
    event.target.disabled = true;
    try {
      const page = await api.get(`sessions/${encodeURIComponent(name)}`, { scope: found.scope, before: found.next }, { signal: ctx.signal });
      found.requests.unshift(...page.requests);
      Object.assign(found.attempts, page.attempts);
      found.next = page.next;
      draw();
    } catch (error) {
      if (!ctx.signal.aborted) clear(foot, failure(error, draw));
    }
  };
  draw();
  ctx.onLeave(tick(root));
  ctx.onLeave(() => drawn?.destroy());
}

/** Of requests that an SDK made again after a failure the last try alone, which knows how many there were. */
function settled({ requests, attempts }) {
  const many = new Map();
  for (const row of requests) {
    const first = attempts[row.request_id];
    if (first) many.set(first, [...(many.get(first) ?? []), row.request_id]);
  }
  return requests
    .filter((row) => !attempts[row.request_id] || many.get(attempts[row.request_id]).at(-1) === row.request_id)
    .map((row) => ({ ...row, tries: many.get(attempts[row.request_id])?.length ?? 1 }));
}

function heading({ session, scope, question, requests }) {
  const [first, last] = [requests[0], requests.at(-1)];
  return h(
    "div",
    { class: "stack request-head" },
    h("div", { class: "view-head" }, h("h1", { class: "asked" }, question || t("session.title")), h("span", { class: "row" }, h("code", { class: "tag break" }, session), copyButton(session)), h("a", { class: "btn btn-small", href: href("desk", session, { scope }) }, t("session.desk"))),
    first && h("p", { class: "muted" }, t("session.since", { first: moment(first.at), last: moment(last.at) }), " · ", when(last.at), " · ", scopeLabel(scope)),
  );
}

function figures(requests) {
  const sum = (pick) => requests.reduce((so, row) => so + pick(row), 0);
  const upstream = requests.filter((row) => row.source === "upstream");
  const original = upstream.reduce((so, row) => so + row.tokens_original, 0);
  const sent = upstream.reduce((so, row) => so + row.tokens_sent, 0);
  const left = requests.map((row) => row.trail?.break_even?.leave ?? 0).filter(Boolean);
  const reused = requests.length - upstream.length;
  const dollars = sum((row) => row.cost_saved);
  return h(
    "dl",
    { class: "stats" },
    stat(t("session.requests"), count(requests.length), reused ? tn("session.reused", reused) : null),
    stat(t("session.original"), tokens(original)),
    stat(t("session.sent"), tokens(sent), original ? delta(original, sent) : null),
    stat(t("session.cost"), money(sum((row) => row.cost))),
    stat(t("session.saved"), money(dollars), null, { kind: dollars > 0 ? "good" : dollars < 0 ? "danger" : null }),
    stat(t("session.folds"), count(left.length), left.length ? tn("session.folds.note", left.reduce((one, other) => one + other, 0)) : null),
    stat(t("session.shifts"), count(requests.filter((row) => row.trail?.shift).length)),
  );
}

// --- timeline ------------------------------------------------------------------------------------------------------

function timeline(requests) {
  const most = Math.max(1, ...requests.map((row) => Math.max(row.tokens_original, row.tokens_sent)));
  const columns = [
    { label: t("session.turn"), num: true, class: "cell-turn", cell: (row) => (row.trail ? count(row.trail.turns) : "") },
    { label: t("session.when"), head: true, class: "nowrap", cell: (row) => h("a", { href: href("request", row.request_id, { scope: row.scope }) }, when(row.at)) },
    { label: t("session.tokens"), class: "cell-bar", wide: true, cell: (row) => bar(row, most) },
    {
      label: t("session.window"),
      num: true,
      class: "cell-window",
      cell: (row) => (row.trail ? h("span", { title: tn("session.window.what", row.trail.kept) }, count(row.trail.kept)) : ""),
    },
    { label: t("session.events"), class: "cell-events", wide: true, cell: (row) => h("div", { class: "row happened" }, badges(row), row.tries > 1 && badge(tn("session.tries", row.tries), "warn"), events(row)) },
    { label: t("rows.saved"), num: true, class: "cell-saved", cell: (row) => saved(row.cost_saved) },
  ];
  const list = table({ columns, rows: requests.slice(-LISTED), caption: t("session.timeline"), cards: "compact" });
  const rest = requests.length - LISTED;
  const all = () => {
    list.set(requests);
    earlier.remove();
  };
  const earlier = rest > 0 ? h("div", { class: "more" }, h("button", { class: "btn btn-small", type: "button", onclick: all }, tn("session.earlier", rest, { n: count(rest) }))) : h("span", { hidden: true });
  return h(
    "section",
    { class: "panel" },
    h(
      "div",
      { class: "panel-head" },
      h("h2", t("session.timeline")),
      h(
        "ul",
        { class: "legend" },
        h("li", h("i", { class: "swatch" }), t("session.timeline.legend.sent")),
        h("li", h("i", { class: "swatch context" }), t("session.timeline.legend.left")),
      ),
    ),
    requests.length >= MOST_REQUESTS && h("p", { class: "panel-body muted small" }, t("session.timeline.most")),
    earlier,
    list.element,
  );
}

/** All on one scale, so that a column of them shows how the prompts would have grown, and how they did. */
function bar(row, most) {
  const isReused = row.source !== "upstream";
  const left = Math.max(0, row.tokens_original - row.tokens_sent);
  const width = (value) => ({ width: `${(value / most) * 100}%` });
  return h(
    "span",
    { class: "turn-bar" },
    h(
      "span",
      { class: "turn-track", "aria-hidden": "true" },
      h("i", { class: "sent", style: width(row.tokens_sent) }),
      h("i", { class: isReused ? row.source : "context", style: width(isReused ? row.tokens_original : left) }),
    ),
    h("span", { class: "small nowrap" }, tokens(row.tokens_original), row.tokens_sent !== row.tokens_original && [h("span", { class: "muted" }, " → "), tokens(row.tokens_sent)]),
  );
}

function events({ trail }) {
  if (!trail) return null;
  const even = trail.break_even;
  const found = [];
  const told = (name, text, why) => found.push(h("li", { title: why }, icon(name), text, why && h("span", { class: "muted" }, `· ${why}`)));
  if (even?.leave) {
    const reason = `session.reason.${even.reason}`;
    told("fold", tn("session.fold", even.leave), has(reason) ? t(reason) : even.reason);
  }
  if (trail.shift) told("shift", t("session.shift"));
  if (trail.recalled?.length) told("recall", tn("session.recalled", trail.recalled.length));
  if (even?.leave && trail.summaries) told("check", tn("session.summaries", trail.summaries));
  return found.length > 0 && h("ul", { class: "events" }, found);
}

// --- branches ------------------------------------------------------------------------------------------------------

function branches({ turns, requests }) {
  const tree = grown(turns);
  const forks = [...tree.children.values()].filter((each) => each.length > 1).length;
  const n = turns.length;
  let told = t("session.branches.none");
  if (n) told = forks ? tn("session.branches.fork", forks, { n: count(n), forks: count(forks) }) : tn("session.branches.line", n, { n: count(n) });
  return h(
    "section",
    { class: "panel" },
    h("div", { class: "panel-head" }, h("h2", t("session.branches"))),
    h("div", { class: "panel-body stack" }, h("p", { class: "muted small" }, told), n > 0 && h("div", { class: "tree" }, line(tree, tree.children.get("") ?? [], asked(requests)))),
  );
}

/** Turns by what they follow, the one that most turns follow first; and how many turns each begins, itself included. */
function grown(turns) {
  const known = new Set(turns.map((turn) => turn.link));
  const children = new Map();
  for (const turn of turns) {
    const parent = known.has(turn.parent) && turn.parent !== turn.link ? turn.parent : "";
    children.set(parent, [...(children.get(parent) ?? []), turn]);
  }
  const order = [...(children.get("") ?? [])];
  for (const turn of order) order.push(...(children.get(turn.link) ?? []));
  const sizes = new Map();
  for (const turn of order.reverse()) sizes.set(turn.link, (children.get(turn.link) ?? []).reduce((sum, each) => sum + sizes.get(each.link), 1));
  for (const siblings of children.values()) siblings.sort((one, other) => sizes.get(other.link) - sizes.get(one.link) || other.at - one.at);
  return { children, sizes };
}

/** Which request asked a turn: the one that came at its time. */
function asked(requests) {
  const millisecond = (at) => Math.round(at * 1000);
  const known = new Map(requests.map((row) => [millisecond(row.at), row]));
  return (turn) => known.get(millisecond(turn.at));
}

/** The longest way from here, turn by turn; other ways are branches of the turn that they are an alternative to. So it
    is only as deep as branches branch, however long the conversation. */
function line(tree, from, requestOf) {
  const stretches = [[]];
  for (let next = from; next.length; next = tree.children.get(next[0].link) ?? []) {
    const [turn, ...others] = next;
    const make = () => h("li", node(turn, requestOf(turn)), others.length > 0 && h("ul", { class: "forks" }, others.map((other, index) => h("li", branch(tree, other, index, requestOf)))));
    if (others.length) stretches.push([{ turn, make }], []);
    else stretches.at(-1).push({ turn, make });
  }
  return stretches.filter((stretch) => stretch.length).map(stretched);
}

function branch(tree, turn, index, requestOf) {
  const label = [t("session.branch", { n: index + 2 }), h("span", { class: "muted" }, ` · ${tn("session.turns", tree.sizes.get(turn.link))}`)];
  return h("details", { open: true }, h("summary", label), line(tree, [turn], requestOf));
}

/** Turns one after another; many without a branch are put away but for both ends. */
function stretched(stretch) {
  const list = (part) => h("ol", { class: "line" }, part.map((each) => each.make()));
  if (stretch.length <= LONG_RUN) return list(stretch);
  const middle = stretch.slice(2, -2);
  const range = t("session.turns.range", { first: count(middle[0].turn.turn), last: count(middle.at(-1).turn.turn) });
  const away = h("details", { class: "run" }, h("summary", range));
  away.addEventListener("toggle", () => away.children.length < 2 && away.append(list(middle)));
  return [list(stretch.slice(0, 2)), away, list(stretch.slice(-2))];
}

function node(turn, row) {
  const name = t("session.turn.n", { n: count(turn.turn) });
  return [
    row ? h("a", { href: href("request", row.request_id, { scope: row.scope }) }, name) : h("span", { class: "role" }, name),
    turn.begins && h("span", { class: "begins" }, turn.begins),
  ];
}
