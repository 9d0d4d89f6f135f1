/* What would have been with other numbers: the last requests once more, as the profiles are and as they might be. */

import dictionary from "../i18n/what_if.js";
import { api, isAborted } from "../lib/api.js";
import { announce, clear, empty, failure, h, loading, s, unique } from "../lib/dom.js";
import { chips, field } from "../lib/form.js";
import { count, money, percent, tokens } from "../lib/format.js";
import { has, register, t, tn } from "../lib/i18n.js";
import { copyButton, delta, stat, tick, when } from "../lib/parts.js";
import { href } from "../lib/route.js";
import { saved } from "../lib/rows.js";
import { scope } from "../lib/store.js";
import { table } from "../lib/table.js";
import { configuration, drawn } from "./what_if_numbers.js";

register(dictionary);
export const title = "what_if.title";

const [LEAST, USUAL, MOST] = [10, 50, 200];
const LISTED = 15;
const PRESETS = ["save", "balanced", "remember"];
// Numbers that say most about a preset.
const TELLING = ["budget", "window.turns", "window.tokens", "recall.cap"];

export async function show(root, ctx) {
  const { me } = ctx;
  const head = h("div", { class: "view-head" }, h("h1", t("what_if.title")));
  const lead = h("p", { class: "muted" }, t("what_if.lead"));
  if (!me.show_content) {
    clear(root, head, lead, h("div", { class: "panel" }, empty(t("what_if.off"), h("pre", { class: "yaml" }, "admin:\n  show_content: true"))));
    return;
  }
  const { sessions } = await api.get("sessions", { scope: scope(), limit: 100 }, { signal: ctx.signal });

  let changes = {}; // by dotted name, as they go to the proxy
  let running = null; // what ends it
  const result = h("div", { class: "stack" });
  const numbers = h("div", { class: "numbers" });
  const all = h("details", { class: "what-numbers" }, h("summary", t("what_if.numbers")), numbers);
  const cards = h("div", { class: "presets", role: "group", "aria-label": t("what_if.presets") });
  const yaml = h("div");
  const told = h("span", { class: "hint", role: "status" });
  const list = unique("sessions");
  const profile = h("select", { class: "select", onchange: () => choose() }, Object.keys(me.profiles).map((name) => h("option", { value: name }, t(`what_if.profile.${use(name)}`, { name }))));
  const last = h("input", { class: "input", type: "number", min: LEAST, max: MOST, required: true, value: USUAL });
  const session = h("input", { class: "input", list, autocomplete: "off", placeholder: t("what_if.session.all"), value: ctx.params.session ?? "" });
  const run = h("button", { class: "btn btn-primary", type: "submit" }, t("what_if.run"));
  const reset = h("button", { class: "btn", type: "button", onclick: () => choose() }, t("what_if.reset"));
  profile.value = me.profile;

  clear(
    root,
    head,
    lead,
    h(
      "form",
      { class: "panel what-form", onsubmit: ask },
      cards,
      h(
        "div",
        { class: "toolbar" },
        field(t("what_if.profile"), profile),
        field(t("what_if.last"), last, t("what_if.last.hint", { least: LEAST, most: MOST })),
        field(t("what_if.session"), session, t("what_if.session.hint")),
        h("datalist", { id: list }, sessions.map((card) => h("option", { value: card.session }))),
      ),
      all,
      h("div", { class: "what-foot" }, run, reset, told),
    ),
    result,
    yaml,
  );
  choose();
  ctx.onLeave(tick(root));
  ctx.onLeave(() => running?.abort());

  function use(name) {
    if (name === me.profile) return name === me.profile_with_tools ? "both" : "plain";
    return name === me.profile_with_tools ? "tools" : "unused";
  }

  /** The numbers of the chosen profile, none changed but those of a preset. */
  function choose(given = {}) {
    changes = { ...given };
    clear(numbers, drawn(me.profiles[profile.value], changes, change));
    changed();
  }

  /** A preset as a card: what it is for, and what it changes. Choosing it compares at once. */
  function preset(name) {
    const given = me.presets[profile.value][name];
    const paths = Object.keys(given);
    const isChosen = paths.length > 0 && paths.length === Object.keys(changes).length && paths.every((path) => changes[path] === given[path]);
    const told = TELLING.filter((path) => path in given).slice(0, 3);
    const pick = async () => {
      if (!last.form.reportValidity()) return;
      choose(given);
      await ask();
    };
    return h(
      "button",
      { class: "preset", type: "button", "aria-pressed": isChosen, disabled: !paths.length || running !== null, onclick: pick },
      h("strong", t(`what_if.preset.${name}`)),
      h("span", { class: "muted" }, t(paths.length ? `what_if.preset.${name}.what` : "what_if.preset.now")),
      told.length > 0 && h("span", { class: "small preset-numbers" }, told.map((path) => h("span", t(`what_if.number.short.${path}`), " ", figure(me.profiles[profile.value], path), " → ", h("b", shown(given[path])))))
    );
  }

  function change(path, value) {
    if (value === undefined) delete changes[path];
    else changes[path] = value;
    changed();
  }

  function changed() {
    const many = Object.keys(changes).length;
    const isOther = use(profile.value) === "unused";
    reset.disabled = !many;
    run.disabled = running !== null || (!many && !isOther);
    told.textContent = many ? tn("what_if.changed", many) : t(isOther ? "what_if.other" : "what_if.same");
    clear(cards, PRESETS.map(preset));
    const text = configuration(profile.value, changes, isOther);
    clear(
      yaml,
      text &&
        h(
          "section",
          { class: "panel" },
          h("div", { class: "panel-head" }, h("h2", t("what_if.yaml")), copyButton(text)),
          h("div", { class: "panel-body" }, h("pre", { class: "yaml", tabindex: "0", role: "region", "aria-label": t("what_if.yaml") }, text)),
        ),
    );
  }

  async function ask(event) {
    event?.preventDefault();
    const asked = { profile: profile.value, changes: { ...changes }, last: last.valueAsNumber, session: session.value.trim() || null, scope: scope() || null };
    running = new AbortController();
    changed();
    const done = working(result, asked.last, running);
    try {
      const found = await api.post("what-if", asked, { signal: running.signal });
      clear(result, found.requests ? compared(found) : h("section", { class: "panel" }, empty(t("what_if.none"))));
      announce(t("what_if.done"));
    } catch (error) {
      if (ctx.signal.aborted) return;
      clear(result, isAborted(error) ? h("p", { class: "callout", role: "status" }, t("what_if.stopped")) : failure(error, error.status === 400 ? null : ask));
      mark(error.param);
    } finally {
      running = null;
      done();
      changed();
    }
    const wrong = numbers.querySelector("[aria-invalid]");
    if (wrong) all.open = true;
    (wrong ?? result.querySelector("h2") ?? run).focus();
  }

  /** The changed numbers that the proxy named, or that are of the section that it named. */
  function mark(param) {
    for (const input of numbers.querySelectorAll("[name]")) {
      const isNamed = input.name === param || input.name.startsWith(`${param}.`);
      if (isNamed && input.name in changes) input.setAttribute("aria-invalid", "true");
    }
  }
}

const shown = (value) => (typeof value === "number" ? count(value) : has(`what_if.choice.${value}`) ? t(`what_if.choice.${value}`) : String(value));
const figure = (profile, path) => shown(path.split(".").reduce((part, name) => part[name], profile));

/** Says that it is under way, and for how long. Returns what ends that. */
function working(place, last, running) {
  const began = Date.now();
  const passed = h("span", { class: "muted", "aria-hidden": "true" });
  const button = h("button", { class: "btn btn-small", type: "button", onclick: () => running.abort() }, t("shell.cancel"));
  clear(
    place,
    h("div", { class: "panel" }, h("div", { class: "panel-body working" }, h("div", { class: "row" }, loading(tn("what_if.working", last)), passed), button, h("progress", { "aria-label": t("what_if.run") }))),
  );
  button.focus();
  const timer = setInterval(() => {
    passed.textContent = `${Math.round((Date.now() - began) / 1000)}\u202fs`;
  }, 500);
  return () => clearInterval(timer);
}

// --- what came of it -----------------------------------------------------------------------------------------------

function compared({ requests, without, before, after, rows }) {
  return [
    h("div", { class: "spread" }, h("h2", { tabindex: "-1" }, tn("what_if.result", requests)), h("span", { class: "muted small" }, t("what_if.how"))),
    without > 0 && h("p", { class: "callout warn" }, tn("what_if.without", without)),
    figures(before, after, rows),
    h("section", { class: "panel" }, h("div", { class: "panel-head" }, h("h2", t("what_if.chart")), legend()), h("div", { class: "panel-body" }, sketch(rows))),
    listed([...rows].reverse()),
  ];
}

function figures(before, after, rows) {
  const isPriced = before.passthrough_cost > 0;
  const share = ({ cost, passthrough_cost: whole }) => percent(1 - cost / whole);
  const [wasKept, isKept] = ["kept_before", "kept_after"].map((name) => rows.reduce((sum, row) => sum + row[name], 0));
  const change = (was, now, told) => [t("what_if.was", { x: told(was) }), " · ", delta(was, now)];
  const judged = (was, now) => ({ kind: now < was ? "good" : now > was ? "warn" : null });
  return h(
    "dl",
    { class: "stats" },
    stat(t("what_if.original"), tokens(before.original), t("what_if.original.note")),
    stat(t("what_if.sent"), tokens(after.sent), change(before.sent, after.sent, tokens), judged(before.sent, after.sent)),
    isPriced && stat(t("what_if.cost"), money(after.cost), change(before.cost, after.cost, money), judged(before.cost, after.cost)),
    isPriced && stat(t("what_if.against"), share(after), t("what_if.was", { x: share(before) })),
    stat(t("what_if.kept"), count(isKept), change(wasKept, isKept, count)),
  );
}

const LINES = { original: "original", before: "sent_before", after: "sent_after" };

const legend = () =>
  h("ul", { class: "legend" }, Object.keys(LINES).map((name) => h("li", h("i", { class: `sketch-key ${name}`, "aria-hidden": "true" }), t(`what_if.line.${name}`))));

/** A line of each over the requests, oldest first, one step a request; the last one filled, below the others. */
function sketch(rows) {
  const most = Math.max(...rows.flatMap((row) => Object.values(LINES).map((key) => row[key])), 1);
  const steps = (key) => rows.map((row, at) => `${at ? "L" : "M"}${at},${100 - (row[key] / most) * 100}H${at + 1}`).join("");
  const lines = Object.entries(LINES).map(([name, key]) => s("path", { class: name, d: name === "after" ? `${steps(key)}V100H0Z` : steps(key) }));
  return [
    h("div", { class: "sketch-scale" }, h("span", tokens(most)), h("span", t("shell.tokens"))),
    s("svg", { class: "sketch", viewBox: `0 0 ${rows.length} 100`, preserveAspectRatio: "none", role: "img", "aria-label": t("what_if.chart.what") }, lines.reverse()),
    h("div", { class: "sketch-scale" }, when(rows[0].at), when(rows.at(-1).at)),
  ];
}

const differs = (row) => row.sent_before !== row.sent_after || row.kept_before !== row.kept_after;

function listed(rows) {
  const most = Math.max(...rows.map((row) => Math.max(row.sent_before, row.sent_after)), 1);
  const columns = [
    { label: t("rows.time"), head: true, class: "nowrap", cell: (row) => h("a", { href: href("request", row.request_id) }, when(row.at)) },
    { label: t("rows.session"), class: "cell-session", cell: (row) => h("span", { class: "cut", title: row.session }, row.session) },
    { label: t("what_if.original"), num: true, cell: (row) => count(row.original) },
    { label: t("what_if.sent"), cell: (row) => pair(row, most) },
    { label: t("what_if.difference"), num: true, cell: (row) => delta(row.sent_before, row.sent_after) },
    { label: t("what_if.kept"), num: true, cell: (row) => `${count(row.kept_before)} → ${count(row.kept_after)}` },
    { label: t("what_if.saving"), num: true, cell: (row) => saved(row.cost_before - row.cost_after) },
  ];
  const list = table({ columns, caption: t("what_if.rows"), empty: t("what_if.nochange") });
  const foot = h("div", { class: "more" });
  const pick = (name) => draw(name === "all" ? rows : rows.filter(differs), LISTED);
  const chosen = rows.some(differs) ? "changed" : "all";
  const filter = chips({ label: t("what_if.rows"), chosen, pick, options: ["all", "changed"].map((value) => ({ value, text: t(`what_if.rows.${value}`) })) });
  filter.count({ all: rows.length, changed: rows.filter(differs).length });

  function draw(found, shown) {
    list.set(found.slice(0, shown));
    clear(foot, found.length > shown && h("button", { class: "btn btn-small", type: "button", onclick: () => draw(found, Infinity) }, t("shell.more")));
  }

  pick(chosen);
  return h("section", { class: "panel" }, h("div", { class: "panel-head" }, h("h2", t("what_if.rows")), filter.element), list.element, foot);
}

const pair = (row, most) =>
  h(
    "span",
    { class: "what-pair" },
    h("span", count(row.sent_before), h("span", { class: "muted" }, " → "), count(row.sent_after)),
    [row.sent_before, row.sent_after].map((value) => h("i", { "aria-hidden": "true", style: { width: `${(value / most) * 100}%` } })),
  );
