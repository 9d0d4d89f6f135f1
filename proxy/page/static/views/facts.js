/* What is remembered of people: the facts that prompts get, how they age, and what can be done about them. */

import dictionary from "../i18n/facts.js";
import { api } from "../lib/api.js";
import { announce, clear, empty, failure, h, loading, unique } from "../lib/dom.js";
import { chips, dialog, field } from "../lib/form.js";
import { count, moment } from "../lib/format.js";
import { lang, register, t, tn } from "../lib/i18n.js";
import { badge, meter, tick, when } from "../lib/parts.js";
import { href } from "../lib/route.js";
import { scope, scopeLabel, scopes } from "../lib/store.js";
import { table } from "../lib/table.js";
import { files } from "./facts_files.js";
import { STATUSES, added, filledIn, inputs, tally } from "./facts_form.js";

register(dictionary);
export const title = "facts.title";

const MOST = 1000; // that the proxy tells at once
const LISTED = 100;
const KINDS = { active: "accent", stale: "warn", superseded: "quiet", deleted: "quiet" };

export async function show(root, ctx) {
  let facts = [];
  let wiped = []; // what can be brought back, a scope each
  let nextWiped = null;
  let next = null;
  let most = LISTED;
  const wanted = { status: "", domain: "", text: "" };
  const list = table({ columns: columns(actions), caption: t("facts.caption"), empty: h("div"), key: (fact) => fact.id, rowClass: (fact) => isPast(fact) && "is-past" });
  const shown = h("span", { class: "muted small", role: "status", tabindex: "-1" });
  const hint = h("p", { class: "hint" });
  const foot = h("div", { class: "more" });
  const trouble = h("div");
  const offers = h("div", { class: "stack" });
  const folders = files({ signal: ctx.signal, changed: (said) => done("files", "", said), failed });
  const panel = h("section", { class: "panel" });
  const status = chips({
    label: t("facts.filter"),
    chosen: "",
    options: ["", ...STATUSES].map((value) => ({ value, text: t(`facts.status.${value || "all"}`) })),
    pick: (value) => filter({ status: value }),
  });
  const domain = h("select", { class: "select", onchange: () => filter({ domain: domain.value }) });
  const search = h("input", { class: "input", type: "search", autocomplete: "off", oninput: () => filter({ text: search.value }) });

  await load();
  clear(
    root,
    h("div", { class: "view-head" }, h("h1", t("facts.title")), shown, h("button", { class: "btn btn-primary", type: "button", onclick: add }, t("facts.add"))),
    trouble,
    offers,
    folders.element,
    panel,
  );
  draw();
  ctx.onLeave(tick(root));
  await folders.load().catch(failed);

  // --- the list ----------------------------------------------------------------------------------------------------

  async function load() {
    facts = [];
    next = null;
    await older();
    wiped = [];
    nextWiped = null;
    await moreWiped();
  }

  async function moreWiped() {
    const found = await api.get("facts/wiped", { scope: scope(), limit: LISTED, before: nextWiped }, { signal: ctx.signal });
    wiped = [...wiped, ...found.wiped];
    nextWiped = found.next;
  }

  async function older() {
    const found = await api.get("facts", { scope: scope(), limit: MOST, before: next }, { signal: ctx.signal });
    facts = [...facts, ...found.facts].sort(byStanding);
    next = found.next;
  }

  function filter(changed) {
    Object.assign(wanted, changed);
    most = LISTED;
    draw();
  }

  function draw() {
    clear(offers, wiped.map(offer), nextWiped !== null && h("div", { class: "more" }, h("button", { class: "btn btn-small", type: "button", onclick: showWiped }, t("shell.more"))));
    if (!facts.length) {
      clear(panel, empty(t("facts.none"), h("ul", { class: "stack muted" }, ["one", "two", "three"].map((each) => h("li", t(`facts.none.${each}`)))), h("p", t("facts.none.then"))));
      shown.textContent = "";
      return;
    }
    if (!panel.contains(list.element)) {
      clear(panel, h("div", { class: "toolbar facts-tools" }, status.element, field(t("facts.domain"), domain), field(t("facts.search"), search), hint), list.element, foot);
    }
    domains();
    const rows = facts.filter((fact) => isWanted(fact, wanted));
    list.set(rows.slice(0, most));
    shown.textContent = tn("facts.shown", rows.length, { n: count(rows.length), of: count(facts.length) });
    hint.textContent = `${t(`facts.hint.${wanted.status || "all"}`)}${next !== null ? ` ${t("facts.more", { n: count(facts.length) })}` : ""}`;
    status.count({ "": facts.length, ...tally(facts.map((fact) => fact.status)) });
    const rest = () => {
      most = Infinity;
      draw();
    };
    const more = async (event) => {
      most = Infinity;
      event.target.disabled = true;
      try {
        await older();
        draw();
      } catch (error) {
        if (!ctx.signal.aborted) clear(foot, failure(error, draw));
      }
    };
    const button = (act, text) => h("button", { class: "btn btn-small", type: "button", onclick: act }, text);
    clear(
      foot,
      !rows.length && empty(t("facts.nothing")),
      rows.length > most ? button(rest, tn("facts.rest", rows.length - most)) : next !== null && button(more, t("shell.more")),
    );
  }

  function domains() {
    const many = tally(facts.map((fact) => fact.domain));
    if (!(wanted.domain in many)) wanted.domain = "";
    const options = Object.keys(many).sort().map((name) => h("option", { value: name }, `${name} (${many[name]})`));
    clear(domain, h("option", { value: "" }, t("facts.domain.all")), options);
    domain.value = wanted.domain;
  }

  // --- what can be done --------------------------------------------------------------------------------------------

  function actions(fact) {
    const button = (name, act) =>
      h("button", { class: "btn btn-quiet btn-small", type: "button", dataset: { action: name }, "aria-label": `${t(`facts.${name}`)}: ${fact.key}`, onclick: () => act(fact) }, t(`facts.${name}`));
    return h(
      "span",
      { class: "acts", dataset: { fact: fact.id } },
      isOver(fact) ? button("undo", undo) : [button("confirm", confirm), button("edit", edit)],
      button("history", history),
      button("forget", forget),
    );
  }

  async function confirm(fact) {
    try {
      await api.patch(`facts/${fact.id}`, { confirm: true }, { signal: ctx.signal });
      await done("confirm", fact.id, t("facts.said.confirmed", { value: fact.value }));
    } catch (error) {
      failed(error);
    }
  }

  /** It holds again, in place of what holds now. */
  async function undo(fact) {
    try {
      await api.patch(`facts/${fact.id}`, { restore: true }, { signal: ctx.signal });
      await done("confirm", fact.id, t("facts.said.undone", { value: fact.value }));
    } catch (error) {
      failed(error);
    }
  }

  async function edit(fact) {
    const run = (form) => api.patch(`facts/${fact.id}`, filledIn(form), { signal: ctx.signal });
    const answer = await dialog({ title: t("facts.edit.title"), body: inputs(fact, facts), action: t("facts.save"), run, signal: ctx.signal });
    if (answer) await done("edit", answer.fact.id, t("facts.said.edited", { value: answer.fact.value }));
  }

  async function add() {
    const owners = scope() ? [scope()] : [...new Set([...scopes(), ...facts].map((each) => each.scope))];
    if (!owners.length) {
      await dialog({ title: t("facts.add.title"), body: h("p", t("facts.add.noscope")), signal: ctx.signal });
      return;
    }
    const { body, filled } = added(owners, facts, ctx.signal);
    const run = (form) => api.post("facts", { scope: form.get("scope"), confidence: form.get("confidence"), ...filled() }, { signal: ctx.signal });
    const answer = await dialog({ title: t("facts.add.title"), body, action: t("facts.add"), run, signal: ctx.signal });
    if (answer) await done("edit", answer.fact.id, t("facts.said.added", { value: answer.fact.value }));
  }

  async function forget(fact) {
    const next = neighbour(fact);
    const body = [
      h("p", { class: "quoted" }, fact.value),
      h("p", t("facts.forget.what")),
      h("ul", { class: "forgets" }, ["fact", "messages", "made"].map((each) => h("li", t(`facts.forget.${each}`)))),
      h("p", { class: "muted small" }, t("facts.forget.not")),
    ];
    const run = () => api.del(`facts/${fact.id}`, {}, { signal: ctx.signal });
    const answer = await dialog({ title: t("facts.forget.title"), body, action: t("facts.forget"), kind: "danger", run, signal: ctx.signal });
    if (answer) await done("forget", next, t("facts.said.forgotten", { value: fact.value }));
  }

  /** What was wiped, and a button that brings it back. */
  function offer(each) {
    const what = t("facts.wiped", { facts: tn("facts.wiped.facts", each.facts), turns: tn("facts.wiped.turns", each.turns), until: moment(each.until) });
    return h(
      "p",
      { class: "callout warn spread" },
      h("span", what, !scope() && scopes().length > 1 && [" ", scopeLabel(each.scope)]),
      h("button", { class: "btn btn-small", type: "button", onclick: () => restore(each) }, t("facts.restore")),
    );
  }

  async function showWiped(event) {
    event.target.disabled = true;
    try {
      await moreWiped();
      draw();
    } catch (error) {
      failed(error);
    }
  }

  async function restore({ scope: of, until }) {
    try {
      await api.post("facts/restore", { scope: of, until }, { signal: ctx.signal });
      await done("restore", "", t("facts.said.restored"));
    } catch (error) {
      failed(error);
    }
  }

  async function history(fact) {
    const body = h("div", loading());
    const closed = dialog({ title: t("facts.history.title"), body, signal: ctx.signal });
    try {
      const { fact: now, history: past, said, quotations } = await api.get(`facts/${fact.id}`, {}, { signal: ctx.signal });
      clear(body, chain([...past.before, now, ...past.after], now), quoted(quotations, fact), told(said, fact));
    } catch (error) {
      if (!ctx.signal.aborted) clear(body, failure(error));
    }
    await closed;
  }

  /** The list as it is now, and the keyboard where it was. */
  async function done(action, id, said) {
    try {
      await Promise.all([load(), folders.load()]);
    } catch (error) {
      failed(error);
      return;
    }
    clear(trouble);
    draw();
    const acts = root.querySelector(`[data-fact="${id}"]`);
    acts?.closest("tr").classList.toggle("is-new", action !== "forget");
    (acts?.querySelector(`[data-action="${action}"]`) ?? shown).focus();
    announce(said);
  }

  function failed(error) {
    if (!ctx.signal.aborted) clear(trouble, failure(error));
  }

  /** Whose row the keyboard goes to when this one is gone. */
  function neighbour(fact) {
    const rows = facts.filter((each) => isWanted(each, wanted));
    const at = rows.findIndex((each) => each.id === fact.id);
    return (rows[at + 1] ?? rows[at - 1])?.id;
  }
}

/** Those that hold first, of each status the newest first. */
const byStanding = (one, other) => STATUSES.indexOf(one.status) - STATUSES.indexOf(other.status) || other.created_at - one.created_at;

const isOver = ({ status }) => status === "superseded" || status === "deleted";
const isPast = (fact) => isOver(fact) || fact.status === "stale";

function isWanted(fact, { status, domain, text }) {
  if ((status && fact.status !== status) || (domain && fact.domain !== domain)) return false;
  const said = `${fact.key} ${fact.value}`.toLocaleLowerCase();
  return text.toLocaleLowerCase().split(/\s+/).every((word) => said.includes(word));
}

// --- a fact --------------------------------------------------------------------------------------------------------

function columns(actions) {
  return [
    { label: t("facts.fact"), head: true, cell: (fact) => [h("span", { class: "fact-value" }, fact.value), named(fact)] },
    { label: t("facts.status"), class: "cell-status", cell: (fact) => [h("span", { class: "row" }, standing(fact), t(`facts.confident.${fact.confidence}`)), countdown(fact)] },
    { label: t("facts.confirmed"), class: "cell-known", cell: (fact) => [when(fact.last_confirmed_at), h("span", { class: "small" }, origin(fact))] },
    { label: "", name: t("facts.actions"), wide: true, class: "cell-acts", cell: actions },
  ];
}

const standing = (fact) => [
  badge(t(`facts.status.${fact.status}`), KINDS[fact.status]),
  fact.doubted_by !== null && !isOver(fact) && h("span", { title: t("facts.doubted.hint") }, badge(t("facts.doubted"), "warn")),
];

const named = (fact) =>
  h(
    "span",
    { class: "row fact-name" },
    h("span", { class: "tag" }, fact.domain),
    h("span", { class: "break" }, fact.key),
    fact.pinned && h("span", { title: t("facts.pinned.what") }, badge(t("facts.pinned"), "accent")),
    !scope() && scopes().length > 1 && h("span", scopeLabel(fact.scope)),
  );

/** The way by which it came, and the turn that said it first. */
function origin(fact) {
  const isOld = fact.source === "explicit" && !fact.turn; // of before the source told more
  const name = isOld ? "facts.byhand" : `facts.source.${fact.source}`;
  const label = h("span", { class: "source", title: isOld ? null : t(`${name}.hint`) }, badge(t(name)));
  return [label, fact.turn > 0 && [" ", h("a", { href: href("session", fact.session, { scope: fact.scope }) }, t("facts.turn", { n: fact.turn }))]];
}

function countdown({ becomes, last_confirmed_at: since }) {
  if (!becomes) return null;
  const now = Date.now() / 1000;
  const parts = [
    { value: becomes.at - now, class: "context" },
    { value: now - since, class: "gone" },
  ];
  return [h("span", { class: "small", title: moment(becomes.at) }, t(`facts.becomes.${becomes.status}`, { when: within(becomes.at - now) })), meter(parts)];
}

function within(seconds) {
  const [unit, size] = seconds < 3600 ? ["minute", 60] : seconds < 2 * 86_400 ? ["hour", 3600] : ["day", 86_400];
  return new Intl.RelativeTimeFormat(lang()).format(Math.max(1, Math.round(seconds / size)), unit);
}

function chain(facts, now) {
  if (facts.length === 1) return h("p", { class: "muted" }, t("facts.history.none"));
  return h(
    "ol",
    { class: "past" },
    facts.map((fact) =>
      h(
        "li",
        { "aria-current": fact.id === now.id ? "true" : null },
        h("span", { class: "fact-value" }, fact.value),
        h("span", { class: "row fact-name" }, moment(fact.created_at), standing(fact)),
      ),
    ),
  );
}

/** The user's words that a model derived it from, and the jobs that read them. */
function quoted(quotations, fact) {
  if (!quotations.length) return null;
  const where = (each) => each.session && h("a", { href: href("session", each.session, { scope: fact.scope }) }, t("facts.turn", { n: each.turn }));
  const job = (each) => h("a", { href: href("jobs", each.job) }, t("facts.quoted.job", { id: each.job }));
  return h(
    "section",
    { class: "stack told" },
    h("h3", t("facts.quoted")),
    quotations.map((each) =>
      h(
        "figure",
        each.quote === null ? h("p", { class: "muted" }, t("facts.quoted.hidden")) : h("blockquote", { class: "quoted" }, each.quote),
        h("figcaption", { class: "row fact-name" }, where(each), job(each), each.is_undone && badge(t("facts.quoted.undone"))),
      ),
    ),
  );
}

/** The messages that said it, or why there are none to show. */
function told({ state, messages }, fact) {
  const where = (each) => h("a", { href: href("session", each.session, { scope: fact.scope }) }, t("facts.turn", { n: each.turn }));
  return h(
    "section",
    { class: "stack told" },
    h("h3", t("facts.told")),
    messages.length
      ? messages.map((each) => h("figure", h("blockquote", { class: "quoted" }, each.text), h("figcaption", { class: "row fact-name" }, moment(each.at), where(each))))
      : h("p", { class: "muted" }, t(`facts.told.${state}`)),
  );
}
