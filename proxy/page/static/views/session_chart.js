/* The prompts of a conversation, as they would have grown and as they were sent, request by request; folds are marked.

   growth(requests) -> {element, destroy()}   null for fewer than two requests */

import { chart } from "../lib/chart.js";
import { count, listed, tokens } from "../lib/format.js";
import { t, tn } from "../lib/i18n.js";

const MOST_NAMED = 12; // folds that the description names one by one

export function growth(requests) {
  if (requests.length < 2) return null;
  const left = (row) => Math.max(0, row.tokens_original - row.tokens_sent);
  const name = (index) => (requests[index].trail ? t("session.turn.n", { n: count(requests[index].trail.turns) }) : t("session.request.n", { n: count(index + 1) }));
  const folds = requests.flatMap((row, index) => {
    const turns = row.trail?.break_even?.leave ?? 0;
    return turns ? [{ index, text: tn("session.fold", turns) }] : [];
  });
  return chart({
    title: t("session.chart"),
    description: description(requests, folds.map((each) => name(each.index))),
    at: requests.map((_, index) => index + 1),
    series: [
      { label: t("session.timeline.legend.sent"), values: requests.map((row) => row.tokens_sent), color: "--data-sent", kind: "stack" },
      { label: t("session.timeline.legend.left"), values: requests.map(left), color: "--data-context", kind: "stack" },
      { label: t("session.chart.original"), values: requests.map((row) => row.tokens_original), color: "--data-original", kind: "line" },
    ],
    format: tokens,
    span: 1,
    tell: name,
    tick: (value) => (Number.isInteger(value) && value > 0 ? count(value) : ""),
    first: t("session.turn"),
    marks: folds,
    markLabel: t("session.chart.folds"),
    note: t("session.chart.note"),
    height: 220,
  });
}

function description(requests, folds) {
  const sent = requests.map((row) => row.tokens_sent);
  const first = requests[0];
  const last = requests.at(-1);
  const said = t("session.chart.what", {
    n: count(requests.length),
    first: count(first.tokens_original),
    last: count(last.tokens_original),
    sent: count(last.tokens_sent),
    most: count(Math.max(...sent)),
  });
  if (!folds.length) return `${said} ${t("session.chart.nofolds")}`;
  const named = folds.length <= MOST_NAMED ? t("session.chart.at", { turns: listed(folds) }) : "";
  return `${said} ${tn("session.chart.folded", folds.length)}${named}.`;
}
