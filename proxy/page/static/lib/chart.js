/* uPlot with our colours, a tooltip, the arrow keys, and the same numbers as a table.

   chart({title, description, at, series, format, span, height, note}) -> {element, update({at, series, …}), destroy()}
     title        visible, short          description   for screen readers: what is to be seen in it
     at           unix seconds, ascending: where each bucket begins
     series       [{label, values, color: "--data-sent", kind}], values of the same length as `at`
                    kind "stack": bars, each on top of the one before it · "line" · "area": a line, filled below it ·
                    "told": in tooltip and table alone
                    dash: true for a dashed line
     format       number -> string, for tooltip and table (lib/format.js); `axis`: another one for the axis
     span         seconds of a bucket
     tell         (index) -> string, tick (value) -> string, first: names of the buckets, of places on the axis, and of their
                  column, where `at` is no time but a number of its own: 1, 2, 3
     marks        [{index, text}] buckets that are marked by a line; markLabel: the name of their column
     note         a node or text beside the title
   Call destroy() when the view is left. */

import uPlot from "../vendor/uplot-1.6.32/uPlot.esm.js";
import { clear, h } from "./dom.js";
import { time } from "./format.js";
import { lang, register, t } from "./i18n.js";
import { table } from "./table.js";
import { color, onTheme } from "./theme.js";

register({
  en: { "chart.table": "As a table", "chart.time": "Time", "chart.keys": "Left and right arrow keys read the values." },
  es: { "chart.table": "Como tabla", "chart.time": "Hora", "chart.keys": "Con las flechas izquierda y derecha se leen los valores." },
});

const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

export function chart(given) {
  let shown = { height: 200, span: 60, format: String, ...given };
  let plot = null;
  let at = -1; // the bucket that the keys are on
  const legend = h("ul", { class: "legend" });
  const tip = h("div", { class: "chart-tip", hidden: true });
  const spoken = h("div", { class: "sr-only", "aria-live": "polite" });
  const stage = h("div", { class: "chart-stage", tabindex: "0", role: "img", "aria-label": `${shown.title}. ${shown.description} ${t("chart.keys")}` }, tip);
  const numbers = h("details", { class: "chart-numbers" }, h("summary", t("chart.table")));
  const head = h("figcaption", { class: "panel-head" });
  const element = h("figure", { class: "chart" }, head, legend, stage, spoken, numbers);

  const told = (index) => shown.series.map((each) => [each, each.values[index]]);

  function draw() {
    plot?.destroy();
    plot = null;
    const width = stage.clientWidth;
    if (!width || !shown.at.length) return;
    plot = new uPlot(options(width, shown, move), columns(shown), stage);
  }

  function move(u) {
    const index = u.cursor.idx;
    if (index === null || index === undefined || u.cursor.left < 0) {
      tip.hidden = true;
      return;
    }
    clear(
      tip,
      h("strong", label(shown, index)),
      marked(shown, index).map((text) => h("div", { class: "tip-mark" }, text)),
      told(index).map(([each, value]) =>
        h("div", { class: "tip-line" }, h("i", { class: "swatch", style: { background: isDrawn(each) ? `var(${each.color})` : "none" } }), h("span", each.label), h("b", shown.format(value))),
      ),
    );
    tip.hidden = false;
    const left = u.cursor.left + u.bbox.left / devicePixelRatio;
    const room = stage.clientWidth - tip.offsetWidth - 4;
    tip.style.setProperty("left", `${Math.max(0, Math.min(left + 12 > room ? left - tip.offsetWidth - 12 : left + 12, room))}px`);
  }

  stage.addEventListener("keydown", (event) => {
    const last = shown.at.length - 1;
    const goes = { ArrowLeft: Math.max(0, (at < 0 ? last + 1 : at) - 1), ArrowRight: Math.min(last, at + 1), Home: 0, End: last };
    if (event.key === "Escape") {
      plot?.setCursor({ left: -10, top: -10 });
      return;
    }
    if (!plot || !(event.key in goes)) return;
    event.preventDefault();
    at = goes[event.key];
    plot.setCursor({ left: plot.valToPos(plot.data[0][at], "x"), top: 20 });
    spoken.textContent = `${label(shown, at)}: ${[...told(at).map(([each, value]) => `${each.label} ${shown.format(value)}`), ...marked(shown, at)].join(", ")}`;
  });
  stage.addEventListener("blur", () => plot?.setCursor({ left: -10, top: -10 }));

  function around() {
    clear(head, h("h2", shown.title), shown.note && h("span", { class: "muted small" }, shown.note));
    clear(
      legend,
      shown.series.filter(isDrawn).map((each) => h("li", h("i", { class: ["swatch", each.kind === "line" && "swatch-line"], style: { background: `var(${each.color})` } }), each.label)),
      shown.marks?.length > 0 && h("li", h("i", { class: "swatch swatch-mark" }), shown.markLabel),
    );
    if (numbers.open) tabled();
  }

  function tabled() {
    const columnsOf = [{ label: shown.first ?? t("chart.time"), head: true, cell: (index) => label(shown, index) }];
    for (const each of shown.series) columnsOf.push({ label: each.label, num: true, cell: (index) => shown.format(each.values[index]) });
    if (shown.marks?.length) columnsOf.push({ label: shown.markLabel, cell: (index) => marked(shown, index).join(", ") });
    const rows = shown.at.map((_, index) => index).filter((index) => told(index).some(([, value]) => value));
    if (!shown.tell) rows.reverse(); // of times the latest first
    clear(numbers, numbers.firstElementChild, h("div", { class: "chart-rows", tabindex: "0", role: "region", "aria-label": shown.title }, table({ columns: columnsOf, rows, cards: false, caption: shown.title }).element));
  }

  numbers.addEventListener("toggle", () => numbers.open && tabled());
  const sized = new ResizeObserver(() => {
    if (!plot) draw();
    else if (plot.width !== stage.clientWidth) plot.setSize({ width: stage.clientWidth, height: shown.height });
  });
  sized.observe(stage);
  const offTheme = onTheme(draw);
  around();

  return {
    element,
    update(changed) {
      const isSame = changed.series?.length === shown.series.length && (changed.span ?? shown.span) === shown.span;
      shown = { ...shown, ...changed };
      around();
      if (plot && isSame) plot.setData(columns(shown));
      else draw();
    },
    destroy() {
      sized.disconnect();
      offTheme();
      plot?.destroy();
    },
  };
}

/** What uPlot draws: stacked series as their running sums, the highest first, so that each stands before the next. */
function columns({ at, series }) {
  const sums = at.map(() => 0);
  const drawn = series.map((each) => (each.kind === "stack" ? each.values.map((value, index) => (sums[index] += Math.max(0, value))) : each.values));
  return [at, ...order(series).map((index) => drawn[index])];
}

const order = (series) => {
  const all = series.map((_, index) => index);
  const isStack = (index) => series[index].kind === "stack";
  return [...all.filter(isStack).reverse(), ...all.filter((index) => !isStack(index) && isDrawn(series[index]))];
};

const isDrawn = ({ kind }) => kind !== "told";

function options(width, shown, move) {
  const axis = { stroke: color("--ink-3"), font: FONT, ticks: { show: false }, gap: 4 };
  const grid = { stroke: color("--line"), width: 1 };
  return {
    width,
    height: shown.height,
    tzDate: (at) => (isDays(shown) ? uPlot.tzDate(new Date(at * 1000), "Etc/UTC") : new Date(at * 1000)),
    padding: [8, 16, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false }, move: (_, left, top) => [left, top] },
    scales: {
      x: { range: (_, least, most) => [least - shown.span / 2, most + shown.span / 2] },
      y: { range: (_, least, most) => [Math.min(0, least ?? 0), Math.max(most ?? 0, 1e-9) * 1.06] },
    },
    axes: [
      { ...axis, grid: { show: false }, space: 64, size: 24, values: (_, splits) => splits.map((each) => (shown.tick ?? tick)(each, shown)), incrs: shown.tell && WHOLE },
      { ...axis, grid, space: 36, size: 56, values: (_, splits) => splits.map(shown.axis ?? shown.format) },
    ],
    series: [{}, ...order(shown.series).map((index) => drawn(shown.series[index]))],
    hooks: { setCursor: [move], draw: [(u) => drawMarks(u, shown)] },
  };
}

function drawn({ label: name, kind, color: token, dash }) {
  const shade = color(token);
  if (kind === "stack") {
    return { label: name, fill: shade, stroke: shade, width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.72, 40], radius: 0 }) };
  }
  return {
    label: name,
    stroke: shade,
    width: 1.5,
    dash: dash ? [4, 3] : undefined,
    fill: kind === "area" ? shade.replace("rgb(", "rgba(").replace(")", ", 0.14)") : undefined,
    points: { show: false },
  };
}

const marked = ({ marks = [] }, index) => marks.filter((each) => each.index === index).map((each) => each.text);

/** A dashed line through the whole height, and a notch at its top. */
function drawMarks(u, { marks = [], at }) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = color("--mark");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  const notch = 4 * devicePixelRatio;
  for (const { index } of marks) {
    const x = Math.round(u.valToPos(at[index], "x", true)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x - notch, bbox.top - notch);
    ctx.lineTo(x + notch, bbox.top - notch);
    ctx.lineTo(x, bbox.top + notch);
    ctx.fill();
  }
  ctx.restore();
}

const WHOLE = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000];
const isDays = ({ span }) => span >= 86_400; // the proxy's days are UTC's
const pad = (n) => String(n).padStart(2, "0");
const day = (at, month, timeZone) => new Intl.DateTimeFormat(lang(), { day: "numeric", month, timeZone }).format(new Date(at * 1000));

function tick(at, shown) {
  if (isDays(shown)) return day(at, "short", "UTC");
  const date = new Date(at * 1000);
  if (shown.span >= 3600 && date.getHours() === 0 && date.getMinutes() === 0) return day(at, "short");
  return `${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

const label = (shown, index) => (shown.tell ? shown.tell(index) : isDays(shown) ? day(shown.at[index], "long", "UTC") : time(shown.at[index]).replace(/(\d\d:\d\d):00$/, "$1"));
