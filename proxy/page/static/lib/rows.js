/* Rows of the ledger, as every list of requests shows them.

   badges(row)        what it came to: status, source, plan: only what is worth a word
   flow(row)          "12,345 → 3,210" with a bar
   saved(x)           dollars saved, accented above 0; below, plain: one request alone says little
   isManaged(row)     was it a request to the managed route?
   requestsTable({withSession, withQuestion, empty})   lib/table.js with these columns; rows know their key
                        withQuestion: a row begins with what was asked; else with when it was
   The link of a row covers all of it, but for the other links in it. */

import { h } from "./dom.js";
import { money, seconds, tokens } from "./format.js";
import { has, register, t } from "./i18n.js";
import { sessionLink, sessionName } from "./names.js";
import { badge, meter, when } from "./parts.js";
import { href } from "./route.js";
import { table } from "./table.js";

register({
  en: {
    "rows.time": "When",
    "rows.session": "Session",
    "rows.model": "Model",
    "rows.what": "Outcome",
    "rows.tokens": "Prompt tokens",
    "rows.saved": "Saved",
    "rows.took": "Took",
    "rows.question": "Request",
    "rows.request": "Request {id}",
    "rows.unmanaged": "Not managed",
    "rows.caption": "Requests, newest first",
  },
  es: {
    "rows.time": "Cuándo",
    "rows.session": "Sesión",
    "rows.model": "Modelo",
    "rows.what": "Qué pasó",
    "rows.tokens": "Tokens del prompt",
    "rows.saved": "Ahorro",
    "rows.took": "Tardó",
    "rows.question": "Pedido",
    "rows.request": "Pedido {id}",
    "rows.unmanaged": "Sin gestionar",
    "rows.caption": "Pedidos, los más nuevos primero",
  },
});

const KINDS = { exact: "accent", intent: "accent", managed: "accent", "over-budget": "warn", "fail-open": "danger" };

export const word = (group, name) => (has(`word.${group}.${name}`) ? t(`word.${group}.${name}`) : name);

export const isManaged = (row) => !row.route || row.route === "/v1/chat/completions";

export function badges(row) {
  const found = [];
  if (row.status >= 400 || row.status === 0) found.push(badge(row.status || "–", "danger"));
  if (row.outcome && row.outcome !== "complete") found.push(badge(word("outcome", row.outcome), row.outcome === "client_gone" ? null : "danger"));
  if (!isManaged(row)) found.push(badge(t("rows.unmanaged")));
  else if (row.source !== "upstream") found.push(badge(word("source", row.source), KINDS[row.source]));
  else found.push(badge(word("plan", row.plan), KINDS[row.plan]));
  return h("span", { class: "row badges" }, found);
}

export function flow(row) {
  if (!isManaged(row) && !row.measured) return h("span", { class: "muted" }, "–");
  const isReused = row.source !== "upstream";
  const change = row.tokens_original - row.tokens_sent;
  const kept = { value: Math.min(row.tokens_original, row.tokens_sent), class: "sent" };
  const parts = isReused ? [{ value: row.tokens_original, class: row.source }] : [kept, { value: Math.abs(change), class: change < 0 ? "added" : "context" }];
  const isSame = !isReused && row.tokens_sent === row.tokens_original;
  return h(
    "span",
    { class: "flow" },
    h(
      "span",
      { class: "flow-text" },
      tokens(row.tokens_original),
      !isSame && [h("span", { class: "muted" }, " → "), tokens(row.tokens_sent)],
    ),
    row.tokens_original > 0 && meter(parts),
  );
}

export const saved = (x) => h("span", { class: x > 5e-9 ? "good" : x < -5e-9 ? null : "muted" }, Math.abs(x) < 5e-9 ? "–" : money(x));

function question(row) {
  const id = t("rows.request", { id: row.request_id });
  return [
    requestLink(row, { class: "row-link cut", title: id }, row.question || (isManaged(row) ? row.request_id : row.route)),
    row.excerpt && h("span", { class: "muted small cut" }, row.excerpt),
    h("span", { class: "muted small cut row-where" }, when(row.at), isManaged(row) && sessionName(row) !== row.question && [" · ", sessionLink(row, { class: "quiet" })]),
  ];
}

const requestLink = (row, props, ...children) => h("a", { href: href("request", row.request_id, { scope: row.scope }), ...props }, children);

export function requestsTable({ withSession = true, withQuestion = false, empty, caption = t("rows.caption") } = {}) {
  const columns = [
    withQuestion
      ? { label: t("rows.question"), head: true, class: "cell-question", cell: question }
      : {
          label: t("rows.time"),
          head: true,
          class: "nowrap",
          cell: (row) => requestLink(row, { class: "row-link", title: t("rows.request", { id: row.request_id }) }, when(row.at)),
        },
    withSession && !withQuestion && {
      label: t("rows.session"),
      class: "cell-session",
      cell: (row) => (isManaged(row) ? sessionLink(row, { class: "quiet cut" }) : h("span", { class: "tag cut" }, row.route)),
    },
    { label: t("rows.model"), class: "cell-model", cell: (row) => h("span", { class: "cut", title: row.model }, row.model) },
    { label: t("rows.what"), class: "cell-what", cell: badges },
    { label: t("rows.tokens"), class: "cell-tokens", cell: flow },
    { label: t("rows.saved"), num: true, class: "cell-saved", cell: (row) => saved(row.cost_saved) },
    { label: t("rows.took"), num: true, class: "cell-took", cell: (row) => seconds(row.total_seconds) },
  ];
  return table({ columns: columns.filter(Boolean), caption, empty, cards: "compact", key: (row) => row.request_id });
}
