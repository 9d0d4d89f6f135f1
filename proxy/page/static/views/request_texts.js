/* What the client sent beside what the model got, message by message. */

import { clear, h, unique } from "../lib/dom.js";
import { count, tokens } from "../lib/format.js";
import { has, t, tn } from "../lib/i18n.js";
import { badge } from "../lib/parts.js";
import { passage } from "../lib/passage.js";
import { word } from "../lib/rows.js";

const FATES = ["kept", "shortened", "marker", "folded", "recalled", "left out"];
const MANY = 60; // messages that are shown at first

export function texts(found, row) {
  return h(
    "div",
    { class: "grid grid-2" },
    before(found.messages),
    h(
      "div",
      { class: "stack after" },
      after(found, row),
      found.answer &&
        h("section", { class: "panel" }, h("div", { class: "panel-head" }, h("h2", t("request.answer"))), h("div", { class: "panel-body" }, passage(found.answer))),
    ),
  );
}

const slug = (fate) => fate.replaceAll(" ", "-");

function before(messages) {
  const counts = Object.fromEntries(FATES.map((fate) => [fate, messages.filter((each) => each.fate === fate).length]));
  const list = h("ol", { class: "messages", id: unique("messages") });
  const chips = h("div", { class: "chips", role: "group", "aria-label": t("request.filter") });
  let wanted = null;
  let most = MANY;

  function draw() {
    const chosen = wanted ? messages.filter((each) => each.fate === wanted) : messages;
    const more = chosen.length - most;
    const rest = () => {
      most = Infinity;
      draw();
    };
    clear(
      list,
      chosen.slice(0, most).map(message),
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
    { class: "panel" },
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

function message(each) {
  return h(
    "li",
    { class: ["message", `message-${slug(each.fate)}`] },
    h(
      "div",
      { class: "message-head" },
      h("span", { class: `fate fate-${slug(each.fate)}` }, t(`fate.${each.fate}`)),
      h("span", { class: "role" }, word("role", each.role)),
      h("span", { class: "muted small why" }, why(each.why)),
      h("span", { class: "muted small nowrap" }, `#${each.index} · ${count(each.tokens)}`),
    ),
    each.text ? passage(each.text) : !each.calls?.length && !each.images && h("p", { class: "muted small" }, t("request.notext")),
    each.images > 0 && badge(tn("request.images", each.images)),
    each.calls?.map((call) => h("p", { class: "call" }, passage(`${call.name}(${call.arguments})`, { isCode: true }))),
  );
}

/** Said by the proxy in English; known sentences are said in the language of the page. */
function why(said) {
  const n = /\d+/.exec(said)?.[0];
  const key = `why.${said.replace(/\d+/, "#")}`;
  return has(key) ? t(key, { n }) : said;
}

function after({ sent, volatile }, row) {
  let told;
  if (!sent.length) told = h("p", { class: "empty" }, t("request.after.none"));
  else {
    told = h(
      "ol",
      { class: "messages" },
      sent.map((each) => h("li", { class: "message" }, h("div", { class: "message-head" }, h("span", { class: "role" }, word("role", each.role))), parts(each.text, volatile))),
    );
  }
  const isSame = sent.length > 0 && !Object.keys(row.mechanisms ?? {}).length;
  return h(
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
  );
}

// As proxy/conversation/progress.py writes them. The head that stands in a prompt may be shorter than the conversation's.
const OURS =
  /<memory>\n(?:What the user has stated|Earlier parts of this conversation):\n[^]*?\n<\/memory>|<recalled>\nEarlier user messages that may matter now, by turn:\n[^]*?\n<\/recalled>/g;

/** A sent text, what we added to it set apart. */
function parts(text, volatile) {
  if (!text) return h("p", { class: "muted small" }, t("request.notext"));
  const found = [];
  let at = 0;
  const theirs = (end) => {
    const said = text.slice(at, end).trim();
    if (said) found.push(h("div", passage(said)));
  };
  for (const block of text.matchAll(OURS)) {
    theirs(block.index);
    const kind = block[0].startsWith("<recalled>") || volatile.includes(block[0]) ? "volatile" : "head";
    found.push(h("div", { class: `ours ours-${kind}` }, h("span", { class: "ours-label" }, t(`request.${kind}`)), h("span", { class: "text" }, block[0])));
    at = block.index + block[0].length;
  }
  theirs(text.length);
  return found;
}
