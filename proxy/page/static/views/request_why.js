/* What became of a request, in words: what was sent, and the numbers by which it was decided whether old turns leave. */

import misses from "../i18n/misses.js";
import { h } from "../lib/dom.js";
import { count, decimal, listed, percent } from "../lib/format.js";
import { has, register, t, tn } from "../lib/i18n.js";
import { bars, meter } from "../lib/parts.js";
import { href } from "../lib/route.js";

register(misses);

export function story(row, entry) {
  const lines = row.source === "upstream" ? planned(row) : reused(row, entry);
  return h(
    "section",
    { class: "panel" },
    h("div", { class: "panel-head" }, h("h2", t("request.story"))),
    h(
      "div",
      { class: "panel-body stack" },
      row.tokens_original > 0 && row.source === "upstream" && meter([{ value: row.tokens_sent, class: "sent" }, { value: row.tokens_original - row.tokens_sent, class: "context" }]),
      h("ul", { class: "story" }, lines.filter(Boolean).map((line) => h("li", line))),
    ),
  );
}

function reused(row, entry) {
  return [
    t(`request.story.${row.source}`),
    entry && h("a", { href: href("reuse", null, { scope: row.scope, entry: entry.entry_id }) }, t("request.story.entry")),
    entry && h("span", { class: "muted" }, `“${entry.earlier_question}” · cos ${decimal(entry.cosine, 3)}`),
  ];
}

function planned(row) {
  const { trail, plan, plan_reason: reason } = row;
  const would = /meter;would_send=(\d+)/.exec(reason ?? "");
  const held = /^(returned=dearer|returned=reported|canary|rule)(;|$)/.exec(reason ?? "");
  const lines = [];
  if (held) lines.push(t(`request.story.held.${held[1]}`));
  if (would) lines.push(t("request.story.meter", { n: count(Number(would[1])) }));
  else if (plan === "untouched") lines.push(t("request.story.untouched"));
  else if (plan === "fail-open") lines.push(t("request.story.fail-open", { reason: reason || "–" }));
  if (plan === "over-budget") {
    lines.push(trail?.limit ? t("request.story.over-budget", { limit: count(trail.limit) }) : t("request.story.over-budget.nolimit"));
  }
  if (trail && plan === "managed") {
    lines.push(t(trail.kept ? "request.story.managed" : "request.story.managed.none", { turns: trail.turns, kept: trail.kept }));
  }
  if (plan === "managed" && trail?.capped?.length) lines.push(tn("request.story.capped", trail.capped.length));
  if (plan === "managed" && trail?.markers?.length) lines.push(tn("request.story.markers", trail.markers.length));
  if (trail?.head) {
    const held = ["summaries", "facts"].filter((each) => trail[each]).map((each) => tn(`request.${each}`, trail[each]));
    lines.push(t("request.story.head", { tokens: count(trail.head), held: listed(held) || "–" }));
  }
  if (trail?.volatile) lines.push(t("request.story.volatile", { tokens: count(trail.volatile) }));
  if (trail?.shift) {
    const why = has(`request.shift.${trail.shift}`) ? t(`request.shift.${trail.shift}`) : trail.shift;
    lines.push(t("request.story.shift", { why }));
  }
  if (typeof trail?.continuity === "number") lines.push(h("span", { class: "muted" }, t("request.story.continuity", { x: decimal(trail.continuity, 2) })));
  if (row.tokens_busted) lines.push(t("request.story.busted", { n: count(row.tokens_busted) }));
  const missed = (reason) => (has(`miss.${reason}`) ? t(`miss.${reason}`) : reason.replaceAll("_", " "));
  if (row.reuse_reason) {
    const intent = row.intent_reason && t("request.story.notintent", { intent: missed(row.intent_reason) });
    lines.push(h("span", { class: "muted" }, t("request.story.notreused", { exact: missed(row.reuse_reason) }), " ", intent));
  }
  return lines;
}

export function breakEven(trail) {
  const even = trail.break_even;
  const whole = (x) => count(Math.abs(x));
  const pair = (one, other, names) =>
    bars(
      [
        { label: t(`request.even.${names[0]}`), value: one, text: count(one), class: "original" },
        { label: t(`request.even.${names[1]}`), value: other, text: count(other), class: "context" },
      ],
      { label: t("request.even.unit") },
    );
  const prices = { cached: percent(even.cached), write: percent(even.write) };
  const canFold = even.turns > 0 && even.folded < even.standing;
  return h(
    "section",
    { class: "panel break-even" },
    h(
      "div",
      { class: "panel-head" },
      h("h2", even.leave ? tn("request.even.left", even.leave) : t("request.even")),
      h("span", { class: "muted small" }, t("request.even.unit")),
    ),
    h(
      "div",
      { class: "panel-body stack" },
      h("p", h("strong", verdict(even, trail))),
      pair(even.standing, even.folded, ["standing", "folded"]),
      canFold && even.advance > 0 && pair(even.advance, even.carried, ["advance", "carried"]),
      canFold && h("p", { class: "small" }, t(even.advance > 0 ? "request.even.dear" : "request.even.cheap", { advance: whole(even.advance) }), " ", t("request.even.prices", prices)),
      pair(even.baseline, even.spent, ["baseline", "spent"]),
      h("p", { class: "small muted" }, t("request.even.books", { spent: count(even.spent), baseline: count(even.baseline) })),
    ),
  );
}

function verdict(even, trail) {
  const vars = { carried: count(even.carried), advance: count(Math.abs(even.advance)), limit: count(trail.limit), regret: percent(even.regret) };
  if (even.leave) {
    if (even.reason === "economic" && even.advance <= 0) return t("request.even.atonce");
    const key = `request.even.${even.reason}`;
    return has(key) ? t(key, vars) : even.reason;
  }
  if (even.folded === even.standing) return t("request.even.window");
  if (even.folded > even.standing) return t("request.even.longer");
  if (even.regret > 0) return t("request.even.regret", vars);
  if (even.carried < even.advance) return t("request.even.waits", vars);
  return t("request.even.alone");
}
