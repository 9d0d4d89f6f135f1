/* Did quality hold? Managed answers beside those of the same requests as they were. */

import { api, isAborted } from "../lib/api.js";
import { clear, empty, failure, h, loading } from "../lib/dom.js";
import { chips } from "../lib/form.js";
import { count, decimal, money, percent, tokens } from "../lib/format.js";
import { certainty } from "../lib/held.js";
import { t } from "../lib/i18n.js";
import { badge, copyButton, stat, tick, when } from "../lib/parts.js";
import { href } from "../lib/route.js";
import { scope } from "../lib/store.js";

export const title = "quality.title";

const LISTED = 25;
const SETTING = "quality: {share: 0.02, max_spend: 1.0}";
const MEASURES = ["length", "numbers", "names", "terms", "similarity"];

export async function show(root, ctx) {
  const told = await api.get("quality", { scope: scope() }, { signal: ctx.signal });
  const head = [h("div", { class: "view-head" }, h("h1", t("quality.title"))), h("p", { class: "muted quality-what" }, t("quality.what"))];
  if (!told.pairs) {
    const off = ctx.me.key ? empty(t("quality.off")) : invitation(); // a key cannot switch it on
    clear(root, head, h("section", { class: "panel" }, told.is_on ? empty(t("quality.none"), h("p", t("quality.none.how"))) : off));
    return;
  }
  clear(root, head, figures(told), await list(ctx));
  ctx.onLeave(tick(root));
}

const invitation = () =>
  empty(t("quality.off"), h("p", t("quality.off.how")), h("div", { class: "row" }, h("code", { class: "tag" }, SETTING), copyButton(SETTING)));

function figures(told) {
  const isCapped = told.max_spend !== undefined;
  return h(
    "dl",
    { class: "stats" },
    stat(t("quality.share"), percent(told.share), t("quality.share.note", certainty(told))),
    stat(t("quality.pairs"), count(told.pairs), t("quality.pairs.note")),
    stat(t("quality.cost"), money(told.cost), t("quality.cost.note")),
    isCapped && stat(t("quality.today"), money(told.spent_today), t("quality.today.note", { most: money(told.max_spend) })),
    isCapped && stat(t("quality.decides"), told.judge ?? t("quality.decides.rules"), t(told.judge ? "quality.decides.judge.note" : "quality.decides.rules.note")),
  );
}

async function list(ctx) {
  let only = "";
  let latest = 0;
  const lines = h("ol", { class: "lines" });
  const foot = h("div", { class: "more" });
  const asked = (before) => api.get("quality/pairs", { scope: scope(), only, before, limit: LISTED }, { signal: ctx.signal });

  async function draw() {
    const mine = ++latest;
    try {
      const found = await asked();
      if (mine !== latest) return;
      clear(lines, found.pairs.map((pair) => shown(pair, ctx)));
      paging(found.next);
      if (!found.pairs.length) clear(foot, empty(t("quality.nothing")));
    } catch (error) {
      if (!isAborted(error)) clear(foot, failure(error, draw));
    }
  }

  function paging(next) {
    const load = async (event) => {
      event.target.disabled = true;
      try {
        const found = await asked(next);
        lines.append(...found.pairs.map((pair) => shown(pair, ctx)));
        paging(found.next);
      } catch (error) {
        if (!isAborted(error)) clear(foot, failure(error, () => paging(next)));
      }
    };
    clear(foot, next !== null && h("button", { class: "btn btn-small", type: "button", onclick: load }, t("shell.more")));
  }

  const pick = (value) => {
    only = value === "lost" ? "lost" : "";
    draw();
  };
  const filter = chips({ label: t("quality.filter"), chosen: "all", pick, options: ["all", "lost"].map((value) => ({ value, text: t(`quality.${value}`) })) });
  await draw();
  return h("section", { class: "panel" }, h("div", { class: "toolbar reuse-tools" }, filter.element), lines, foot);
}

function shown(pair, ctx) {
  const measured = MEASURES.filter((name) => pair.measures[name] !== null && pair.measures[name] !== undefined);
  const value = (name) => (name === "similarity" ? decimal(pair.measures[name], 2) : percent(pair.measures[name]));
  return h(
    "li",
    { class: pair.held && "is-hit", dataset: { request: pair.request_id } },
    h(
      "div",
      { class: "line-head" },
      badge(t(pair.held ? "quality.held" : "quality.worse"), pair.held ? "accent" : "warn"),
      h("span", t(`quality.why.${pair.reason}`)),
      h("span", { class: "muted" }, t(`quality.way.${pair.way}`)),
      h("span", { class: "muted" }, t("quality.tokens", { sent: tokens(pair.tokens_sent), original: tokens(pair.tokens_original) })),
      h("span", { class: "end" }, when(pair.at), h("a", { href: href("request", pair.request_id) }, t("quality.request"))),
    ),
    measured.length > 0 &&
      h("p", { class: "row small muted", title: t("quality.measure.what") }, measured.map((name) => h("span", `${t(`quality.${name}`)} ${value(name)}`))),
    both(pair, ctx),
  );
}

/** Both answers, read when they are opened for the first time. */
function both(pair, ctx) {
  const body = h("div");
  let isRead = false;
  async function read() {
    if (isRead) return;
    isRead = true;
    clear(body, loading());
    try {
      clear(body, answers(await api.get(`quality/pairs/${encodeURIComponent(pair.request_id)}`, { scope: pair.scope }, { signal: ctx.signal })));
    } catch (error) {
      isRead = false;
      if (!isAborted(error)) clear(body, failure(error, read));
    }
  }
  return h("details", { class: "quality-both", ontoggle: (event) => event.target.open && read() }, h("summary", t("quality.both")), body);
}

function answers(told) {
  if (!told.has_texts) return h("p", { class: "muted small" }, t("quality.texts.none"));
  const part = (name, text) => h("div", h("dt", t(`quality.${name}`)), h("dd", { tabindex: "0" }, text));
  return [
    h("dl", { class: "questions quality-question" }, part("question", told.question)),
    h("dl", { class: "questions" }, part("managed", told.managed), part("original", told.original)),
    told.verdict && h("p", { class: "small" }, `“${told.verdict}”`),
  ];
}
