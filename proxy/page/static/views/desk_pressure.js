/* The pressure of a session's requests: a bar each, and the same numbers as a table. */

import { clear, h, s } from "../lib/dom.js";
import { count, percent, tokens } from "../lib/format.js";
import { t, tn } from "../lib/i18n.js";
import { table } from "../lib/table.js";
import { named, ofRequest, panel } from "./desk_parts.js";

const LEVELS = ["low", "medium", "high"];
const FEWEST = 24; // columns: a single request is no wall
const HEIGHT = 100;

export function pressure({ pressure: rows, scope }) {
  if (!rows.length) return panel("history", null, h("p", { class: "panel-body muted" }, t("desk.pressure.none")));
  const isShare = rows.some((row) => row.limit);
  const value = (row) => (isShare ? row.pressure : row.used);
  const said = isShare ? percent : tokens;
  const most = Math.max(...rows.map(value));
  const told = tn("desk.pressure.told", rows.length, { n: count(rows.length), now: said(value(rows.at(-1))), most: said(most) });
  const levels = LEVELS.filter((level) => rows.some((row) => row.level === level));
  return panel(
    "history",
    t(isShare ? "desk.pressure.note" : "desk.pressure.used"),
    h(
      "div",
      { class: "panel-body stack" },
      bars(rows, { value, said, top: Math.max(most, isShare ? 1 : 1e-9), isShare, label: `${t("desk.history")}. ${told}` }),
      h(
        "ul",
        { class: "legend" },
        levels.map((level) => h("li", h("i", { class: ["swatch", `pressure-${level}`] }), named(`desk.level.${level}`, level))),
        isShare && h("li", h("i", { class: "swatch swatch-line pressure-full" }), percent(1)),
      ),
    ),
    numbers(rows, scope),
  );
}

function bars(rows, { value, said, top, isShare, label }) {
  const width = Math.max(FEWEST, rows.length);
  const column = (row, index) => {
    const height = (value(row) / top) * HEIGHT;
    const title = s("title", `${said(value(row))} · ${named(`desk.level.${row.level}`, row.level)}`);
    return s("rect", { class: `pressure-${row.level}`, x: index + 0.1, y: HEIGHT - height, width: 0.8, height }, title);
  };
  const full = HEIGHT - HEIGHT / top;
  return s(
    "svg",
    { class: "pressure-bars", viewBox: `0 0 ${width} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    rows.map(column),
    isShare && s("line", { class: "pressure-full", x1: 0, x2: width, y1: full, y2: full }),
  );
}

function numbers(rows, scope) {
  const columns = [
    { label: t("desk.request"), head: true, cell: (row) => ofRequest(row.request_id, row.at, scope) },
    { label: t("desk.pressure"), num: true, cell: (row) => (row.limit ? percent(row.pressure) : "–") },
    { label: t("desk.level"), cell: (row) => named(`desk.level.${row.level}`, row.level) },
    { label: t("desk.used"), num: true, cell: (row) => tokens(row.used) },
    { label: t("desk.limit"), num: true, cell: (row) => (row.limit ? tokens(row.limit) : "–") },
    { label: t("desk.schemas"), num: true, cell: (row) => tokens(row.schemas) },
    { label: t("desk.rounds"), num: true, cell: (row) => count(row.rounds) },
  ];
  const summary = h("summary", t("desk.pressure.table"));
  const shown = ({ target }) => {
    if (!target.open) return;
    const list = table({ columns, rows: [...rows].reverse(), cards: false, caption: t("desk.history") });
    clear(target, summary, h("div", { class: "chart-rows", tabindex: "0", role: "region", "aria-label": `${t("desk.history")}: ${t("desk.pressure.table")}` }, list.element));
  };
  return h("details", { class: "chart-numbers", ontoggle: shown }, summary);
}
