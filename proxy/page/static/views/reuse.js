/* The reuse log: which question got the answer of which earlier one, which did not, and why. */

import dictionary from "../i18n/reuse.js";
import misses from "../i18n/misses.js";
import { api, isAborted } from "../lib/api.js";
import { announce, clear, empty, failure, h } from "../lib/dom.js";
import { chips } from "../lib/form.js";
import { count, decimal, money, percent, tokens } from "../lib/format.js";
import { has, register, t } from "../lib/i18n.js";
import { badge, stat, tick, when } from "../lib/parts.js";
import { href } from "../lib/route.js";
import { scope, scopeLabel, scopes } from "../lib/store.js";

register(dictionary);
register(misses);
export const title = "reuse.title";

const MOST = 1000; // lines that the proxy tells at once
const LISTED = 50;
const TRIED = 5; // scopes, if none is chosen
const DAY = 86_400;
const MOST_COMPARED = 250_000; // pairs of words

export async function show(root, ctx) {
  const found = await asked(ctx);
  const of = found?.scope;
  const head = h("div", { class: "view-head" }, h("h1", t("reuse.title")), of && !scope() && h("span", { class: "muted small" }, t("reuse.scope", { scope: scopeLabel(of) })));
  if (!of) {
    clear(root, head, h("section", { class: "panel" }, invitation()));
    return;
  }
  const summed = await summary(of, ctx);
  clear(root, head, summed && figures(summed), ctx.params.entry && only(of), h("section", { class: "panel" }, found.log.length ? lines(found, ctx) : invitation()));
  ctx.onLeave(tick(root));
}

/** The lines of an entry, or of a scope: the chosen one, else the last used one that has any. With the entries that
    were reported as wrong. */
async function asked({ params, signal }) {
  if (params.entry) {
    const { scope: of, entry, log } = await api.get(`reuse/${encodeURIComponent(params.entry)}`, {}, { signal });
    return { scope: of, log, reported: { [entry.id]: entry } };
  }
  const chosen = params.scope || scope();
  let found = null;
  for (const of of chosen ? [chosen] : scopes().slice(0, TRIED).map((each) => each.scope)) {
    const told = await api.get("reuse", { scope: of, limit: MOST }, { signal });
    if (told.log.length) return told;
    found ??= told;
  }
  return found;
}

async function summary(of, { signal }) {
  const to = Date.now() / 1000;
  try {
    return await api.get("summary", { from: to - DAY, to, by: "source", scope: of }, { signal });
  } catch {
    return null; // the log can be read without it
  }
}

const invitation = () => empty(t("reuse.none"), h("p", t("reuse.none.how")), h("p", { class: "muted" }, t("reuse.none.example")));

const only = (of) =>
  h("p", { class: "callout spread" }, h("span", t("reuse.entry")), h("a", { href: href("reuse", null, { scope: of }) }, t("reuse.entry.all")));

function figures({ totals, groups }) {
  const share = (rate) => t("reuse.of", { share: percent(rate), n: count(totals.requests) });
  const unpaid = (name) => t("reuse.saved", { tokens: tokens(groups.find((each) => each.name === name)?.sums.tokens_reused ?? 0) });
  return h(
    "section",
    { class: "stack" },
    h("h2", { class: "sr-only" }, t("reuse.day")),
    h(
      "dl",
      { class: "stats" },
      stat(t("reuse.requests"), count(totals.requests), t("reuse.day")),
      stat(t("word.source.exact"), count(totals.reused_exact), share(totals.hit_rate_exact)),
      stat(t("word.source.intent"), count(totals.reused_intent), share(totals.hit_rate_intent)),
      stat(t("reuse.exact.saved"), money(totals.saved_exact), unpaid("exact")),
      stat(t("reuse.intent.saved"), money(totals.saved_intent), unpaid("intent")),
    ),
  );
}

// --- the log -------------------------------------------------------------------------------------------------------

const isHit = (line) => line.result === "hit";
const KEEPS = { all: () => true, hits: isHit, misses: (line) => !isHit(line) };

function lines({ scope: of, log, reported, next = null }, ctx) {
  let wanted = "all";
  let most = LISTED;
  const list = h("ol", { class: "lines" });
  const foot = h("div", { class: "more" });
  const pick = (value) => {
    wanted = value;
    most = LISTED;
    draw();
  };
  const filter = chips({ label: t("reuse.filter"), chosen: wanted, pick, options: Object.keys(KEEPS).map((value) => ({ value, text: t(`reuse.${value}`) })) });
  const counted = () => filter.count(Object.fromEntries(Object.entries(KEEPS).map(([name, keeps]) => [name, log.filter(keeps).length])));

  function draw() {
    const found = log.filter(KEEPS[wanted]);
    clear(list, found.slice(0, most).map((line) => shown(line, reported[line.entry_id], report)));
    const more = async (event) => {
      most += LISTED;
      event.target.disabled = true;
      try {
        if (found.length < most && next !== null) await older();
        draw();
      } catch (error) {
        if (!ctx.signal.aborted) clear(foot, failure(error, draw));
      }
    };
    const button = (found.length > most || next !== null) && h("button", { class: "btn btn-small", type: "button", onclick: more }, t("shell.more"));
    clear(foot, !found.length && empty(t("reuse.nothing")), button);
  }

  async function older() {
    const page = await api.get("reuse", { scope: of, limit: MOST, before: next }, { signal: ctx.signal });
    log.push(...page.log);
    Object.assign(reported, page.reported);
    next = page.next;
    counted();
  }

  /** Throws what went wrong. */
  async function report(line) {
    const ended = await api.post(`reuse/${encodeURIComponent(line.entry_id)}/wrong`, {}, { signal: ctx.signal });
    reported[line.entry_id] = { ...ended, evicted_at: Infinity };
    draw();
    list.querySelector(`[data-request="${CSS.escape(line.request_id)}"] .ended`)?.focus();
    announce(t("reuse.said"));
  }

  counted();
  draw();
  return [h("div", { class: "toolbar reuse-tools" }, filter.element, h("span", { class: "muted small" }, t("reuse.order"))), list, foot];
}

function shown(line, reported, report) {
  const { question, earlier_question: earlier, result, cosine, guards, request_id: request, at } = line;
  const [now, before] = compared(question, earlier);
  const ended = isHit(line) && reported?.strikes > 0 && at <= reported.evicted_at;
  const trouble = h("div");
  return h(
    "li",
    { class: isHit(line) && "is-hit", dataset: { request } },
    h(
      "div",
      { class: "line-head" },
      badge(t(isHit(line) ? "reuse.hit" : "reuse.miss"), isHit(line) ? "accent" : null),
      h("span", isHit(line) ? t("reuse.same") : because(result)),
      guards && h("span", t("reuse.guards"), " ", h("span", { class: "tag break" }, guards)),
      h("span", { class: "muted", title: t("reuse.cosine.what") }, t("reuse.cosine", { x: decimal(cosine, 3) })),
      h("span", { class: "end" }, when(at), h("a", { href: href("request", request) }, t("reuse.request")), isHit(line) && !ended && wrong(line, report, trouble)),
    ),
    h("dl", { class: "questions" }, h("div", h("dt", t("reuse.asked")), h("dd", now)), h("div", h("dt", t("reuse.earlier")), h("dd", before))),
    ended && h("p", { class: "ended small", tabindex: "-1" }, t("reuse.ended", { x: decimal(reported.min_cosine, 3) })),
    trouble,
  );
}

const because = (reason) => (has(`miss.${reason}`) ? t(`miss.${reason}`) : reason.replaceAll("_", " "));

/** A button that does it when it is pressed twice. */
function wrong(line, report, trouble) {
  let isSure = false;
  const button = h("button", { class: "btn btn-small", type: "button" }, t("reuse.wrong"));
  const ask = (sure) => {
    isSure = sure;
    button.textContent = t(sure ? "reuse.sure" : "reuse.wrong");
    button.classList.toggle("btn-danger", sure);
  };
  async function press() {
    if (!isSure) {
      ask(true);
      announce(t("reuse.sure.what"));
      return;
    }
    button.disabled = true;
    try {
      await report(line);
    } catch (error) {
      button.disabled = false;
      if (!isAborted(error)) clear(trouble, failure(error));
    }
  }
  button.addEventListener("click", press);
  button.addEventListener("blur", () => ask(false));
  button.addEventListener("keydown", (event) => event.key === "Escape" && ask(false));
  return button;
}

// --- what differs --------------------------------------------------------------------------------------------------

/** Both texts as nodes, with the words marked that the other one lacks in this place. */
function compared(one, other) {
  const words = [one, other].map((text) => text.match(/\s*\S+\s*/g) ?? []);
  const [now, before] = words.map((list) => list.map(bare));
  if (now.length * before.length > MOST_COMPARED) return [one, other];
  const common = inCommon(now, before);
  if (!common[0].size) return [one, other];
  return words.map((list, side) => list.map((word, at) => (common[side].has(at) ? word : marked(word))));
}

const bare = (word) => word.toLocaleLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "") || word.trim();

const marked = (word) => [h("mark", word.trimEnd()), word.slice(word.trimEnd().length)];

/** The places in either list that a longest common subsequence has. */
function inCommon(one, other) {
  const longest = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      longest[i][j] = one[i] === other[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const found = [new Set(), new Set()];
  let [i, j] = [0, 0];
  while (i < one.length && j < other.length) {
    if (one[i] === other[j]) {
      found[0].add(i++);
      found[1].add(j++);
    } else if (longest[i + 1][j] >= longest[i][j + 1]) i++;
    else j++;
  }
  return found;
}
