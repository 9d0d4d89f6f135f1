/* The rounds of a request that its client never saw, and what the tools cost that its model was offered.

   rounds(found, row)   a panel; null for a request without a desk */

import dictionary from "../i18n/desk.js";
import { call } from "../lib/calls.js";
import { h } from "../lib/dom.js";
import { count, money, percent, tokens } from "../lib/format.js";
import { register, t } from "../lib/i18n.js";
import { badge } from "../lib/parts.js";
import { passage } from "../lib/passage.js";
import { href } from "../lib/route.js";
import { named } from "./desk_parts.js";

register(dictionary);

export function rounds({ rounds: hidden }, row) {
  const desk = row.trail?.desk;
  if (!hidden.length && !desk) return null;
  return h(
    "section",
    { class: "panel rounds" },
    h("div", { class: "panel-head" }, h("h2", t("rounds.title")), h("a", { class: "small", href: href("desk", row.session, { scope: row.scope }) }, t("rounds.desk"))),
    h("p", { class: "panel-body muted small" }, t(hidden.length ? "rounds.what" : "rounds.none")),
    desk && numbers(desk, row),
    hidden.length > 0 && h("ol", { class: "messages" }, hidden.map(round)),
  );
}

function numbers(desk, row) {
  const lines = [
    ["pressure", desk.limit ? `${percent(desk.pressure)} · ${named(`desk.level.${desk.level}`, desk.level)} · ${t("rounds.used", { used: tokens(desk.used), limit: tokens(desk.limit) })}` : t("desk.nolimit")],
    ["billed", count(desk.rounds)],
    desk.schemas > 0 && ["schemas", [t("rounds.schemas.what", { tokens: count(desk.schemas), cost: money(desk.cost) }), row.cost > 0 && ` · ${t("rounds.schemas.share", { share: percent(desk.cost / row.cost) })}`]],
  ].filter(Boolean);
  return h("dl", { class: "panel-body facts-list" }, lines.map(([name, value]) => [h("dt", t(`rounds.${name}`)), h("dd", value)]));
}

function round(each, index) {
  return h(
    "li",
    { class: "message round" },
    h("div", { class: "message-head" }, h("h3", t("rounds.round", { n: count(index + 1) })), each.tokens > 0 && h("span", { class: "muted small" }, t("rounds.tokens", { n: count(each.tokens) }))),
    each.text && h("div", passage(each.text)),
    each.calls.map(made),
  );
}

function made({ name, arguments: given, result, outcome }) {
  return h(
    "div",
    { class: "round-call" },
    call({ name, arguments: given }, outcome && badge(named(`rounds.outcome.${outcome}`, outcome.replaceAll("-", " ")), outcome === "ok" ? "accent" : "warn")),
    given !== null &&
      (result === null
        ? h("p", { class: "muted small" }, t("rounds.noresult"))
        : h("div", { class: "quoted" }, h("span", { class: "ours-label" }, t("rounds.result")), passage(result))),
  );
}
