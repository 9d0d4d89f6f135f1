/* Sums of a range: in words and figures, by mechanism, and as two charts. */

import { h } from "../lib/dom.js";
import "../lib/held.js"; // whose words are used here, too
import { count, money, percent, tokens } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { meter, stat } from "../lib/parts.js";
import { saved, word } from "../lib/rows.js";
import { table } from "../lib/table.js";

const HOUR = 3600;
const MOST_BARS = 100;
const LEAST_BARS = 12;
const LEFT_OUT = ["window", "capped", "tools", "elided", "pruned"];
const ADDED = ["summaries", "facts", "recall", "desk"];

const reusedBy = (groups, name) => groups.find((each) => each.name === name)?.sums.tokens_reused ?? 0;

/** `held`: the figure of whether answers held, in words; null: none were compared. */
export function headline({ totals, groups }, held = null) {
  const left = totals.tokens_original - totals.tokens_sent;
  const demand = totals.tokens_original + totals.tokens_reused;
  const isPriced = totals.passthrough_cost > 0;
  const share = isPriced ? totals.dollars_saved / totals.passthrough_cost : demand > 0 ? totals.tokens_saved / demand : 0;
  const isLost = isPriced && totals.dollars_saved < 0;
  const parts = [
    { value: totals.tokens_sent, class: "sent", label: t("now.sent") },
    { value: left, class: "context", label: t("now.left") },
    { value: reusedBy(groups, "intent"), class: "intent", label: t("now.intent") },
    { value: reusedBy(groups, "exact"), class: "exact", label: t("now.exact") },
  ];
  const figure = (name, id, value, note, kind) =>
    h("div", h("dt", name), h("dd", h("span", { class: ["figure", kind], id }, value), note && h("span", { class: "muted small" }, note)));
  let shareNote = t("now.saved.none");
  const compared = totals.quality ?? 0; // dollars, which may be all that makes it dearer
  if (isLost && totals.dollars_saved + compared >= 0) shareNote = t("quality.cost.more", { cost: money(compared) });
  else if (isLost) shareNote = t("now.saved.lost");
  else if (isPriced) shareNote = t("now.saved.share");
  else if (totals.requests && totals.errors === totals.requests) shareNote = t("now.saved.failed", { n: count(totals.errors) });
  else if (totals.requests) shareNote = t("now.saved.unpriced");
  return h(
    "section",
    { class: "panel headline" },
    h(
      "dl",
      { class: "headline-figures" },
      figure(t(isLost ? "now.dearer" : "now.saved"), "share-saved", percent(Math.abs(share)), shareNote, isLost ? "bad" : "good"),
      isPriced && figure(t(isLost ? "now.added.money" : "now.saved.money"), "dollars-saved", money(Math.abs(totals.dollars_saved)), t("now.saved.of", { paid: money(totals.cost), whole: money(totals.passthrough_cost) })),
      held && figure(held.name, "quality-held", h("a", { href: held.href }, held.value), held.note),
      figure(t("now.tokens"), "tokens-saved", tokens(totals.tokens_saved), demand > 0 && t("now.tokens.of", { share: percent(totals.tokens_saved / demand), whole: tokens(demand) })),
    ),
    h(
      "div",
      { class: "headline-where" },
      h("h2", t("now.where")),
      meter(parts, { label: parts.map((each) => `${each.label}: ${count(each.value)}`).join(", ") }),
      h(
        "ul",
        { class: "legend" },
        parts.map((each) => h("li", h("i", { class: ["swatch", each.class] }), each.label, h("b", tokens(each.value)))),
      ),
    ),
  );
}

/** What is 0 is not worth a tile. */
export function figures(totals) {
  const measured = totals.tokens_sent ? totals.tokens_measured / totals.tokens_sent : 1;
  const hits = (name) => totals[name] > 0 && stat(t(`now.stat.${name}`), percent(totals[name] / Math.max(1, totals.requests)), t("now.stat.hits", { n: count(totals[name]), of: count(totals.requests) }));
  const troubles = (name, kind) => totals[name] > 0 && stat(t(`now.stat.${name}`), count(totals[name]), null, { kind, title: t(`now.stat.${name}.note`) });
  const tiles = [
    totals.requests > 0 && stat(t("now.stat.requests"), count(totals.requests), totals.errors ? t("now.stat.errors", { n: count(totals.errors) }) : t("now.stat.noerrors")),
    totals.tokens_original > 0 &&
      stat(t("now.stat.original"), tokens(totals.tokens_original), totals.tokens_reused_prompt > 0 && t("now.stat.original.note", { n: tokens(totals.tokens_reused_prompt) })),
    totals.tokens_sent > 0 &&
      stat(t("now.stat.sent"), tokens(totals.tokens_sent), measured > 0.9995 ? t("now.stat.allmeasured") : t("now.stat.measured", { share: percent(Math.min(measured, 0.99)) })),
    totals.cost > 0 &&
      stat(
        t("now.stat.paid"),
        money(totals.cost),
        totals.added_context > 0 ? t("now.stat.added", { added: money(totals.added_context), saved: money(totals.saved_context) }) : t("now.stat.completion", { n: tokens(totals.tokens_completion) }),
      ),
    hits("reused_exact"),
    hits("reused_intent"),
    troubles("over_budget", "warn"),
    troubles("failed_open", "danger"),
  ].filter(Boolean);
  return tiles.length ? h("dl", { class: "stats" }, tiles) : null;
}

export function mechanisms(groups) {
  const rows = groups.filter((each) => "requests" in each || each.tokens);
  const isPart = (row) => !("requests" in row);
  const sign = (row) => (ADDED.includes(row.name) ? "+" : LEFT_OUT.includes(row.name) ? "−" : "");
  const columns = [
    { label: t("now.by.name"), head: true, cell: (row) => word("mechanism", row.name) },
    { label: t("now.by.requests"), num: true, cell: (row) => (isPart(row) ? "" : count(row.requests)) },
    {
      label: t("now.by.tokens"),
      num: true,
      cell: (row) => (isPart(row) ? h("span", { class: "muted" }, sign(row), tokens(row.tokens)) : tokens(row.tokens_saved)),
    },
    { label: t("now.by.dollars"), num: true, cell: (row) => (isPart(row) ? "" : saved(row.dollars_saved)) },
  ];
  return h(
    "section",
    { class: "panel" },
    h("div", { class: "panel-head" }, h("h2", t("now.by"))),
    table({ columns, rows, cards: false, caption: t("now.by"), rowClass: (row) => isPart(row) && "is-part" }).element,
  );
}

export function honest(totals) {
  const lines = [
    totals.tokens_sent && t("now.honest.measured", { measured: tokens(Math.min(totals.tokens_measured, totals.tokens_sent)), sent: tokens(totals.tokens_sent) }),
    totals.tokens_cached && t("now.honest.cached", { n: tokens(totals.tokens_cached) }),
    totals.managed && (totals.tokens_busted ? t("now.honest.busted", { n: tokens(totals.tokens_busted) }) : t("now.honest.notbusted")),
    totals.added_context > 0 && t("now.honest.added.money", { added: money(totals.added_context) }),
    totals.quality > 0 && t("quality.cost.honest", { cost: money(totals.quality) }),
  ].filter(Boolean);
  if (!lines.length) return null;
  return h(
    "section",
    { class: "panel" },
    h("div", { class: "panel-head" }, h("h2", t("now.honest"))),
    h("ul", { class: "panel-body honest" }, lines.map((each) => h("li", each))),
  );
}

// --- charts --------------------------------------------------------------------------------------------------------

/** Every bucket from the first in which something happened, empty ones too; several put together where there would be
    too many. A range that is mostly still empty would leave a sliver to be looked at. */
export function bars({ from: asked, to, width, points }) {
  const began = points.length ? Math.min(...points.map(({ at }) => at)) : asked;
  const from = Math.max(asked, Math.min(began - width, to - LEAST_BARS * width));
  const buckets = Math.max(1, Math.ceil((to - from) / width));
  const joined = [1, 2, 5, 6, 10, 12, 15, 30, 60].find((each) => buckets / each <= MOST_BARS) ?? Math.ceil(buckets / MOST_BARS);
  const span = width * joined;
  const begin = Math.floor(from / span) * span;
  const many = Math.max(1, Math.ceil((to - begin) / span));
  const zeros = () => new Array(many).fill(0);
  const found = { at: zeros().map((_, index) => begin + index * span), span, original: zeros(), sent: zeros(), left: zeros(), intent: zeros(), exact: zeros(), paid: zeros(), passthrough: zeros() };
  for (const { at, name, sums } of points) {
    const index = Math.min(many - 1, Math.max(0, Math.floor((at - begin) / span)));
    found.original[index] += sums.tokens_original + sums.tokens_reused;
    found.sent[index] += sums.tokens_sent;
    found.left[index] += sums.tokens_original - sums.tokens_sent;
    if (name === "exact" || name === "intent") found[name][index] += sums.tokens_reused;
    found.paid[index] += sums.cost;
    found.passthrough[index] += sums.passthrough_cost;
  }
  return found;
}

export function tokensChart(bars) {
  return {
    title: t("now.chart.tokens", { span: spanned(bars.span) }),
    description: t("now.chart.tokens.what"),
    at: bars.at,
    span: bars.span,
    format: tokens,
    series: [
      { label: t("now.sent"), values: bars.sent, color: "--data-sent", kind: "stack" },
      { label: t("now.left"), values: bars.left, color: "--data-context", kind: "stack" },
      { label: t("now.intent"), values: bars.intent, color: "--data-intent", kind: "stack" },
      { label: t("now.exact"), values: bars.exact, color: "--data-exact", kind: "stack" },
      { label: t("now.original"), values: bars.original, color: "--data-original", kind: "told" },
    ],
  };
}

export function costChart(bars) {
  const added = (values) => {
    let sum = 0;
    return values.map((value) => (sum += value));
  };
  return {
    title: t("now.chart.cost"),
    description: t("now.chart.cost.what"),
    at: bars.at,
    span: bars.span,
    format: money,
    axis: (x) => money(x).replace(/([.,]\d*?)0+$/, "$1").replace(/[.,]$/, ""),
    series: [
      { label: t("now.chart.passthrough"), values: added(bars.passthrough), color: "--data-original", kind: "line", dash: true },
      { label: t("now.chart.paid"), values: added(bars.paid), color: "--data-line", kind: "area" },
    ],
  };
}

function spanned(span) {
  if (span >= 24 * HOUR) return t("now.span.day");
  const [name, size] = span >= HOUR ? ["hour", HOUR] : ["minute", 60];
  return span === size ? t(`now.span.${name}`) : t(`now.span.${name}s`, { n: span / size });
}
