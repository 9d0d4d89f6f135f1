/* Keys of this proxy: what each has spent today and this month, and its limits; for whoever runs it also making and
   revoking them. A key that has logged in sees its own. */

import dictionary from "../i18n/keys.js";
import { api } from "../lib/api.js";
import { announce, clear, h } from "../lib/dom.js";
import { dialog, field } from "../lib/form.js";
import { count, money, tokens } from "../lib/format.js";
import { register, t, tn } from "../lib/i18n.js";
import { badge, copyButton, stat, tick, when } from "../lib/parts.js";
import { saved } from "../lib/rows.js";
import { scopeLabel } from "../lib/store.js";
import { table } from "../lib/table.js";

register(dictionary);
export const title = "keys.title";

const LIMITS = ["dollars_per_day", "dollars_per_month", "requests_per_minute", "tokens_per_minute", "tokens_per_day", "tokens_per_month"];

export async function show(root, ctx) {
  const told = await api.get("keys", {}, { signal: ctx.signal });
  const own = ctx.me.key && told.keys.find((key) => key.id === ctx.me.key.id);
  const draw = own ? figures(own) : list(told, ctx);
  const make = told.creates && !ctx.me.key && h("button", { class: "btn btn-primary", type: "button", id: "new-key", onclick: () => create(root, ctx) }, t("keys.new"));
  const holding = told.keys.filter((key) => !key.revoked_at);
  clear(
    root,
    h(
      "div",
      { class: "view-head" },
      h("h1", own ? t("keys.own", { name: own.name }) : t("keys.title")),
      !own && h("span", { class: "muted small", role: "status" }, tn("keys.shown", holding.length, { n: count(holding.length) })),
      make,
    ),
    !told.checks && h("p", { class: "callout" }, t("keys.passthrough")),
    draw,
  );
  ctx.onLeave(tick(root));
}

// --- one's own -----------------------------------------------------------------------------------------------------

function figures(key) {
  const asked = tn("keys.requests", key.today.requests, { n: count(key.today.requests) });
  return [
    h(
      "dl",
      { class: "stats" },
      stat(t("keys.today"), money(key.today.dollars), of(key, "dollars_per_day") ?? asked),
      stat(t("keys.month"), money(key.month.dollars), of(key, "dollars_per_month") ?? tn("keys.requests", key.month.requests, { n: count(key.month.requests) })),
      stat(t("keys.tokens.today"), tokens(key.today.tokens), of(key, "tokens_per_day") ?? asked),
      stat(t("keys.tokens.month"), tokens(key.month.tokens), of(key, "tokens_per_month")),
      stat(t("keys.saved"), saved(key.month.saved), t("keys.saved.what")),
    ),
    h("p", { class: "hint" }, key.team && t("keys.team.of", { team: key.team }), " ", t("keys.limits.own", { limits: limits(key) || t("keys.limits.none") }), " ", t("keys.utc")),
  ];
}

const of = (key, name) => (key.limits[name] ? t("keys.of", { limit: name.startsWith("dollars") ? money(key.limits[name]) : tokens(key.limits[name]) }) : null);

function limits(key) {
  const said = LIMITS.filter((name) => key.limits[name]);
  return said.map((name) => t(`keys.limit.${name}`, { n: name.startsWith("dollars") ? money(key.limits[name]) : tokens(key.limits[name]) })).join(" · ");
}

// --- all of them ---------------------------------------------------------------------------------------------------

function list(told, ctx) {
  const rows = told.keys.filter((key) => !key.revoked_at).sort((one, other) => other.today.dollars - one.today.dollars || other.month.dollars - one.month.dollars || one.name.localeCompare(other.name));
  const revoked = told.keys.filter((key) => key.revoked_at).sort((one, other) => other.revoked_at - one.revoked_at);
  const shown = table({ columns: columns(ctx), rows, caption: t("keys.caption"), empty: t(told.checks ? "keys.empty" : "keys.empty.passthrough") });
  const before = revoked.length > 0 && table({ columns: columns(ctx), rows: revoked, caption: t("keys.caption.revoked") });
  return [
    h("section", { class: "panel" }, shown.element),
    before && h("details", h("summary", tn("keys.revoked", revoked.length, { n: count(revoked.length) })), h("section", { class: "panel" }, before.element)),
    h("p", { class: "hint" }, t("keys.utc")),
  ];
}

function columns(ctx) {
  const sums = (each) => [h("span", { class: "nowrap" }, money(each.dollars)), h("span", { class: "muted small block" }, tn("keys.requests", each.requests, { n: count(each.requests) }))];
  return [
    { label: t("keys.name"), head: true, cell: (key) => [name(key), key.team && h("span", { class: "muted small block" }, key.team)] },
    { label: t("keys.today"), num: true, cell: (key) => sums(key.today) },
    { label: t("keys.month"), num: true, cell: (key) => sums(key.month) },
    { label: t("keys.limits"), wide: true, cell: (key) => limits(key) || h("span", { class: "muted" }, t("keys.limits.none")) },
    { label: t("keys.used"), class: "nowrap", cell: (key) => (key.last_used_at ? when(key.last_used_at) : h("span", { class: "muted" }, "–")) },
    { label: "", name: t("keys.what"), cell: (key) => what(key, ctx) },
  ];
}

const name = (key) => key.name || h("span", { class: "mono" }, scopeLabel(`${key.tenant}/`));

function what(key, ctx) {
  if (key.revoked_at) return h("span", { class: "muted" }, t("keys.revoked.at"), " ", when(key.revoked_at));
  if (key.source !== "created") return badge(t(`keys.source.${key.source}`), "quiet");
  const label = t("keys.revoke.of", { name: key.name });
  return h("button", { class: "btn btn-small", type: "button", "aria-label": label, onclick: () => revoke(key, ctx) }, t("keys.revoke"));
}

async function revoke(key, ctx) {
  const done = await dialog({
    title: t("keys.revoke.title", { name: key.name }),
    body: h("p", t("keys.revoke.what")),
    action: t("keys.revoke"),
    kind: "danger",
    signal: ctx.signal,
    run: async () => {
      await api.del(`keys/${encodeURIComponent(key.id)}`);
      return true;
    },
  });
  if (done) await again(ctx, t("keys.revoked.done", { name: key.name }));
}

async function create(root, ctx) {
  const entry = (name, props) => h("input", { class: "input", name, autocomplete: "off", ...props });
  const number = (each) => field(t(`keys.form.${each}`), entry(each, { type: "number", min: "0", step: each.startsWith("dollars") ? "0.01" : "1", inputmode: "decimal" }));
  const made = await dialog({
    title: t("keys.new"),
    body: [
      field(t("keys.name"), entry("name", { required: true, maxlength: "64", pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*" }), t("keys.name.hint")),
      field(t("keys.team"), entry("team", { maxlength: "64" })),
      h("div", { class: "form-pair" }, LIMITS.slice(0, 4).map(number)),
      h("p", { class: "hint" }, t("keys.form.hint")),
    ],
    action: t("keys.create"),
    signal: ctx.signal,
    run: (form) => {
      const given = LIMITS.filter((each) => form.get(each)).map((each) => [each, Number(form.get(each))]);
      return api.post("keys", { name: form.get("name").trim(), team: form.get("team").trim(), limits: Object.fromEntries(given) });
    },
  });
  if (!made) return;
  await dialog({
    title: t("keys.made", { name: made.name }),
    body: [h("p", t("keys.made.once")), h("p", { class: "row" }, h("code", { class: "mono break", id: "made-key" }, made.key), copyButton(made.key))],
    signal: ctx.signal,
  });
  await again(ctx, t("keys.created.done", { name: made.name }), root);
}

async function again(ctx, said, root = document.querySelector(".view-keys")) {
  if (ctx.signal.aborted) return;
  await show(root, ctx);
  announce(said);
}
