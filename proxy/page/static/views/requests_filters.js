/* The filters of the list of requests.

   wanted(params)     what the address asks for: {values, query(), asked(), isAny()}; query() for the address, asked()
                      for the proxy
   choices(signal)    models and routes that the ledger knows
   filters(wanted, choices, {me, changed, exported}) -> {element, exporting, refresh()} */

import { api } from "../lib/api.js";
import { clear, h, unique } from "../lib/dom.js";
import { t } from "../lib/i18n.js";
import { icon } from "../lib/parts.js";
import { word } from "../lib/rows.js";
import { scope } from "../lib/store.js";

const HOUR = 3600;
const SPANS = { "1h": HOUR, "24h": 24 * HOUR, "7d": 168 * HOUR, "30d": 720 * HOUR };
const WAIT = 250; // ms after the last key of a search
const CHOICES = 90 * 24 * HOUR; // seconds in which models and routes are looked for

// What a request came to, as the proxy is asked for it.
const FATES = {
  managed: { plan: "managed" },
  untouched: { plan: "untouched" },
  "over-budget": { plan: "over-budget" },
  "fail-open": { plan: "fail-open" },
  exact: { source: "exact" },
  intent: { source: "intent" },
  command: { source: "command" },
  unmanaged: { unmanaged: true },
};
const STATUSES = { ok: { failed: false }, failed: { failed: true } };
const NAMES = ["text", "what", "status", "model", "route", "time", "since", "until", "dearer"];

export function wanted(params) {
  const values = Object.fromEntries(NAMES.map((name) => [name, params[name] ?? ""]));
  // What is no choice is none: an address may have been written by hand.
  for (const [name, known] of [["what", FATES], ["status", STATUSES], ["time", { ...SPANS, span: 0 }]]) if (!(values[name] in known)) values[name] = "";
  const seconds = (text) => (text && !Number.isNaN(Date.parse(text)) ? Date.parse(text) / 1000 : null);
  return {
    values,
    query: () => ({ ...values, ...(values.time === "span" ? {} : { since: "", until: "" }) }),
    isAny: () => NAMES.every((name) => !values[name] || (values.time !== "span" && (name === "since" || name === "until"))),
    asked() {
      const span = SPANS[values.time];
      const time = span ? { since: Math.floor(Date.now() / 1000) - span } : values.time === "span" ? { since: seconds(values.since), until: seconds(values.until) } : {};
      return {
        text: values.text.trim().slice(0, 200),
        model: values.model,
        route: values.route,
        dearer: values.dearer ? true : null,
        ...(FATES[values.what] ?? {}),
        ...(STATUSES[values.status] ?? {}),
        ...time,
      };
    },
  };
}

export async function choices(signal) {
  const to = Date.now() / 1000;
  const groups = await Promise.all(["model", "route"].map((by) => api.get("summary", { from: to - CHOICES, to, by, scope: scope() }, { signal })));
  const [models, routes] = groups.map((each) => each.groups.map((group) => group.name).filter(Boolean).sort());
  return { models, routes };
}

export function filters(chosen, { models, routes }, { me, changed, exported }) {
  const { values } = chosen;
  let waiting = null;
  const id = unique("search");
  const hint = t(me.show_content ? "requests.search" : "requests.search.ids");

  const put = (name, value) => {
    values[name] = value;
    changed();
  };
  const search = h("input", {
    class: "input",
    id,
    type: "search",
    value: values.text,
    placeholder: hint,
    autocomplete: "off",
    maxlength: "200",
    dataset: { search: "" },
    oninput(event) {
      clearTimeout(waiting);
      waiting = setTimeout(() => put("text", event.target.value), WAIT);
    },
  });
  const fates = [["", t("requests.what.all")], ...Object.keys(FATES).map((each) => [each, each === "unmanaged" ? t("requests.what.unmanaged") : word(each in { exact: 1, intent: 1, command: 1 } ? "source" : "plan", each)])];
  const listed = (name, given) => [["", t(`requests.${name}.all`)], ...given.map((each) => [each, each])];
  const span = h("div", { class: "filter-span" }, ["since", "until"].map(date));

  function select(name, options) {
    const label = unique(name);
    if (values[name] && !options.some(([value]) => value === values[name])) options.push([values[name], values[name]]);
    return h(
      "div",
      { class: "field" },
      h("label", { for: label }, t(`requests.${name}`)),
      h(
        "select",
        { class: "select", id: label, name, value: values[name], onchange: (event) => put(name, event.target.value) },
        options.map(([value, text]) => h("option", { value }, text)),
      ),
    );
  }

  function date(name) {
    const label = unique(name);
    return h(
      "div",
      { class: "field" },
      h("label", { for: label }, t(`requests.${name}`)),
      h("input", { class: "input", id: label, name, type: "datetime-local", value: values[name], onchange: (event) => put(name, event.target.value) }),
    );
  }

  const dearer = h(
    "button",
    { class: "chip", type: "button", "aria-pressed": String(Boolean(values.dearer)), onclick: () => put("dearer", values.dearer ? "" : "1") },
    t("requests.dearer"),
  );
  const clearing = h("button", { class: "btn btn-quiet btn-small", type: "button" }, t("requests.clear"));
  clearing.addEventListener("click", () => {
    for (const name of NAMES) values[name] = "";
    search.value = "";
    for (const each of element.querySelectorAll("select, .filter-span input")) each.value = "";
    changed();
    search.focus();
  });
  const times = [["", t("requests.time.all")], ...Object.keys(SPANS).map((each) => [each, t(`requests.time.${each}`)]), ["span", t("requests.time.span")]];
  const chosenOnes = h("span", { class: "muted" });
  const more = h(
    "details",
    { class: "filters", open: matchMedia("(min-width: 640px)").matches },
    h("summary", t("requests.filters"), " ", chosenOnes),
    h(
      "div",
      { class: "toolbar" },
      select("what", fates),
      select("status", [["", t("requests.status.all")], ["ok", t("requests.status.ok")], ["failed", t("requests.status.failed")]]),
      models.length > 1 || values.model ? select("model", listed("model", models)) : null,
      routes.length > 1 || values.route ? select("route", listed("route", routes)) : null,
      select("time", times),
      span,
      h("div", { class: "filter-last" }, dearer, clearing),
    ),
  );
  const element = h("search", { class: "panel panel-body requests-filters" }, h("div", { class: "field grow" }, h("label", { class: "sr-only", for: id }, hint), search), more);
  const exporting = me.show_content
    ? h("a", { class: "btn btn-small", download: "olvido-requests.jsonl", title: t("requests.export.what") }, icon("down"), t("requests.export"))
    : h("span", { class: "muted small" }, t("requests.export.none"));

  return {
    element,
    exporting,
    refresh() {
      span.hidden = values.time !== "span";
      clearing.hidden = chosen.isAny();
      dearer.setAttribute("aria-pressed", String(Boolean(values.dearer)));
      const set = NAMES.filter((name) => !["text", "since", "until"].includes(name) && values[name]).length;
      clear(chosenOnes, set > 0 && `(${set})`);
      if (me.show_content) exporting.href = exported();
    },
  };
}
