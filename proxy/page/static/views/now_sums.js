/* Sums of a range: in words and figures, by mechanism, and as two charts. */

import { h } from "../lib/dom.js";
import { count, money, percent, tokens } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { meter, stat } from "../lib/parts.js";
import { saved, word } from "../lib/rows.js";
import { table } from "../lib/table.js";

const HOUR = 3600;
const MOST_BARS = 100;
const LEFT_OUT = ["window", "capped", "tools", "elided", "pruned"];
const ADDED = ["summaries", "facts", "recall", "desk"];

const reusedBy = (groups, name) => groups.find((each) => each.name === name)?.sums.tokens_reused ?? 0;

export function headline({ totals, groups }) {
  const left = totals.tokens_original - totals.tokens_sent;
  const demand = totals.tokens_original + totals.tokens_reused;
  const isPriced = totals.passthrough_cost > 0;
  const parts = [
    { value: totals.tokens_sent, class: "sent", label: t("now.sent") },
    { value: left, class: "context", label: t("now.left") },
    { value: reusedBy(groups, "intent"), class: "intent", label: t("now.intent") },
    { value: reusedBy(groups, "exact"), class: "exact", label: t("now.exact") },
  ];
  let dollarsNote = t("now.saved.none");
  if (isPriced) {
    const said = totals.dollars_saved < 0 ? "now.saved.lost" : "now.saved.of";
    dollarsNote = t(said, { share: percent(totals.dollars_saved / totals.passthrough_cost), whole: money(totals.passthrough_cost) });
  } else if (totals.requests) dollarsNote = t("now.saved.unpriced");
  return h(
    "section",
    { class: "panel headline" },
    h(
      "dl",
      { class: "headline-figures" },
      h(
        "div",
        h("dt", t("now.saved")),
        h("dd", h("span", { class: ["figure", totals.dollars_saved < 0 ? "bad" : "good"], id: "dollars-saved" }, money(totals.dollars_saved)), h("span", { class: "muted small" }, dollarsNote)),
      ),
      h(
        "div",
        h("dt", t("now.tokens")),
        h(
          "dd",
          h("span", { class: "figure", id: "tokens-saved" }, tokens(totals.tokens_saved)),
          demand > 0 && h("span", { class: "muted small" }, t("now.tokens.of", { share: percent(totals.tokens_saved / demand), whole: tokens(demand) })),
        ),
      ),
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

export function figures(totals) {
  const measured = totals.tokens_sent ? totals.tokens_measured / totals.tokens_sent : 1;
  const told = (n, key, vars) => (n ? t(key, vars) : null);
  return h(
    "dl",
    { class: "stats" },
    stat(t("now.stat.requests"), count(totals.requests), totals.errors ? t("now.stat.errors", { n: count(totals.errors) }) : t("now.stat.noerrors")),
    stat(t("now.stat.original"), tokens(totals.tokens_original), told(totals.tokens_reused_prompt, "now.stat.original.note", { n: tokens(totals.tokens_reused_prompt) })),
    stat(
      t("now.stat.sent"),
      tokens(totals.tokens_sent),
      totals.tokens_sent ? (measured > 0.9995 ? t("now.stat.allmeasured") : t("now.stat.measured", { share: percent(Math.min(measured, 0.99)) })) : null,
    ),
    stat(
      t("now.stat.paid"),
      money(totals.cost),
      totals.added_context > 0
        ? t("now.stat.added", { added: money(totals.added_context), saved: money(totals.saved_context) })
        : t("now.stat.completion", { n: tokens(totals.tokens_completion) }),
    ),
    stat(t("now.stat.exact"), percent(totals.hit_rate_exact), t("now.stat.hits", { n: count(totals.reused_exact), of: count(totals.requests) })),
    stat(t("now.stat.intent"), percent(totals.hit_rate_intent), t("now.stat.hits", { n: count(totals.reused_intent), of: count(totals.requests) })),
    stat(t("now.stat.over"), count(totals.over_budget), null, { kind: totals.over_budget ? "warn" : null, title: t("now.stat.over.note") }),
    stat(t("now.stat.open"), count(totals.failed_open), null, { kind: totals.failed_open ? "danger" : null, title: t("now.stat.open.note") }),
  );
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

/** Every bucket of the range, empty ones too; several put together where there would be too many. */
export function bars({ from, to, width, points }) {
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
