/* What the client sent, message by message, and what the model got.

   before(messages)       a panel: every message with its fate; runs of one fate put away
   after(found, row)      panels: what was sent, what we added set apart, and the answer */

import { call } from "../lib/calls.js";
import { clear, h, unique } from "../lib/dom.js";
import { count, tokens } from "../lib/format.js";
import { has, t, tn } from "../lib/i18n.js";
import { badge } from "../lib/parts.js";
import { passage } from "../lib/passage.js";
import { word } from "../lib/rows.js";
import { runs } from "./request_runs.js";

const FATES = ["kept", "shortened", "marker", "folded", "recalled", "left out"];
const MANY = 60; // lines that are shown at first

const slug = (fate) => fate.replaceAll(" ", "-");

export function before(messages) {
  const counts = Object.fromEntries(FATES.map((fate) => [fate, messages.filter((each) => each.fate === fate).length]));
  const list = h("ol", { class: "messages", id: unique("messages") });
  const chips = h("div", { class: "chips", role: "group", "aria-label": t("request.filter") });
  let wanted = null;
  let most = MANY;

  function draw() {
    const chosen = wanted ? messages.filter((each) => each.fate === wanted).map((each) => ({ message: each })) : runs(messages);
    const more = chosen.length - most;
    const rest = () => {
      most = Infinity;
      draw();
    };
    clear(
      list,
      chosen.slice(0, most).map((each) => (each.run ? putAway(each.run) : message(each.message))),
      more > 0 && h("li", { class: "rest" }, h("button", { class: "btn btn-small", type: "button", onclick: rest }, t("request.rest", { n: more }))),
    );
    clear(chips, chip(null, messages.length), FATES.filter((fate) => counts[fate]).map((fate) => chip(fate, counts[fate])));
  }

  function chip(fate, n) {
    const pick = () => {
      wanted = fate;
      draw();
      chips.querySelector('[aria-pressed="true"]').focus();
    };
    return h(
      "button",
      { class: "chip", type: "button", "aria-pressed": fate === wanted, "aria-controls": list.id, onclick: pick },
      fate && h("i", { class: `dot fate-${slug(fate)}`, "aria-hidden": "true" }),
      fate ? t(`fate.${fate}`) : t("request.all"),
      h("b", count(n)),
    );
  }

  draw();
  return h(
    "section",
    { class: "panel before" },
    h(
      "div",
      { class: "panel-head" },
      h("h2", t("request.before")),
      h("span", { class: "muted small" }, tn("request.before.count", messages.length), " · ", tokens(messages.reduce((sum, each) => sum + each.tokens, 0)), " ", t("shell.tokens")),
    ),
    h(
      "div",
      { class: "map", "aria-hidden": "true" },
      messages.map((each) => h("i", { class: `fate-${slug(each.fate)}`, style: { "flex-grow": Math.max(1, each.tokens) }, title: `${each.index} · ${t(`fate.${each.fate}`)}` })),
    ),
    h("div", { class: "panel-chips" }, chips),
    list,
  );
}

/** Many messages of one fate: a line, and they themselves once somebody opens it. */
function putAway(run) {
  const { fate } = run[0];
  const size = run.reduce((sum, each) => sum + each.tokens, 0);
  const list = h("ol", { class: "messages" });
  const line = h(
    "details",
    { class: "run-of" },
    h(
      "summary",
      h("span", { class: `fate fate-${slug(fate)}` }, tn(`run.${fate}`, run.length, { n: count(run.length) })),
      h("span", { class: "muted small nowrap" }, `#${run[0].index}–#${run.at(-1).index} · ${t("request.run.tokens", { n: tokens(size) })}`),
    ),
    list,
  );
  line.addEventListener("toggle", () => line.open && !list.firstChild && clear(list, run.map(message)));
  return h("li", { class: `message-${slug(fate)}` }, line);
}

function message(each) {
  return h(
    "li",
    { class: ["message", `message-${slug(each.fate)}`] },
    h(
      "div",
      { class: "message-head" },
      h("span", { class: `fate fate-${slug(each.fate)}` }, t(`fate.${each.fate}`)),
      speaker(each),
      h("span", { class: "muted small why" }, why(each.why)),
      h("span", { class: "muted small nowrap" }, `#${each.index} · ${count(each.tokens)}`),
    ),
    said(each),
  );
}

const speaker = ({ role, tool }) => h("span", { class: "role" }, word("role", role), tool && [" ", h("code", { class: "tag" }, tool)]);

/** Text, images and calls of a message; `text`: nodes that stand in place of its text. */
function said(each, text = each.text && passage(each.text)) {
  const isEmpty = !text && !each.calls?.length && !each.images;
  return [
    isEmpty ? h("p", { class: "muted small" }, t("request.notext")) : text,
    each.images > 0 && badge(tn("request.images", each.images)),
    each.calls?.map((made) => call(made)),
  ];
}

/** Said by the proxy in English; known sentences are said in the language of the page. */
function why(told) {
  const n = /\d+/.exec(told)?.[0];
  const key = `why.${told.replace(/\d+/, "#")}`;
  return has(key) ? t(key, { n }) : told;
}

export function after(found, row) {
  const { sent, answer, answer_calls: calls } = found;
  const kinds = kindsOf(found);
  const isSame = sent.length > 0 && !Object.keys(row.mechanisms ?? {}).length;
  const told = sent.length
    ? h("ol", { class: "messages" }, sent.map((each) => h("li", { class: "message" }, h("div", { class: "message-head" }, speaker(each)), said(each, each.text && parts(each.text, kinds)))))
    : h("p", { class: "empty" }, t("request.after.none"));
  return h(
    "div",
    { class: "stack after", tabindex: "0", role: "group", "aria-label": t("request.after") },
    h(
      "section",
      { class: "panel" },
      h(
        "div",
        { class: "panel-head" },
        h("h2", t("request.after")),
        h("span", { class: "muted small" }, sent.length > 0 && [tn("request.before.count", sent.length), " · ", tokens(row.tokens_sent), " ", t("shell.tokens")]),
      ),
      isSame && h("p", { class: "panel-body muted small" }, t("request.after.same")),
      told,
    ),
    (answer || calls.length > 0) &&
      h("section", { class: "panel" }, h("div", { class: "panel-head" }, h("h2", t("request.answer"))), h("div", { class: "panel-body stack" }, said({ calls }, answer && h("div", passage(answer))))),
  );
}

// As proxy/conversation/progress.py writes them. The head that stands in a prompt may be shorter than the conversation's.
const OURS =
  /<memory>\n(?:What the user has stated|Earlier parts of this conversation):\n[^]*?\n<\/memory>|<recalled>\nEarlier user messages that may matter now, by turn:\n[^]*?\n<\/recalled>/g;

/** Tells the kind of one block after the other: the head comes first, then facts that stay with earlier questions, then what
    comes back for the newest. */
function kindsOf({ head, volatile }) {
  let headIsDue = Boolean(head);
  return (block) => {
    if (block.startsWith("<recalled>") || volatile.includes(block)) return "volatile";
    if (!headIsDue) return "stayed";
    headIsDue = false;
    return "head";
  };
}

/** A sent text, what we added to it set apart. */
function parts(text, kinds) {
  const found = [];
  let at = 0;
  const theirs = (end) => {
    const said = text.slice(at, end).trim();
    if (said) found.push(h("div", passage(said)));
  };
  for (const block of text.matchAll(OURS)) {
    theirs(block.index);
    const kind = kinds(block[0]);
    found.push(h("div", { class: `ours ours-${kind}` }, h("span", { class: "ours-label" }, t(`request.${kind}`)), h("span", { class: "text" }, block[0])));
    at = block.index + block[0].length;
  }
  theirs(text.length);
  return found;
}
