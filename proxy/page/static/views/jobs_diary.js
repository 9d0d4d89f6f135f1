/* Digests and events of a scope, by day, the newest first.

   diary(ctx) -> promise of an element, null if nobody has asked anything yet */

import { api } from "../lib/api.js";
import { clear, empty, failure, h, unique } from "../lib/dom.js";
import { lang, t } from "../lib/i18n.js";
import { badge } from "../lib/parts.js";
import { href } from "../lib/route.js";
import { anyScope, scope, scopeLabel } from "../lib/store.js";

const SPANS = ["hour", "day", "week"];

export async function diary(ctx) {
  const of = anyScope();
  if (!of) return null;
  let span = "day";
  let latest = 0;
  const list = h("div");
  const name = unique("span");
  const pick = (event) => {
    span = event.target.value;
    read();
  };

  async function read() {
    const mine = ++latest;
    try {
      const found = await api.get("digests", { scope: of, span }, { signal: ctx.signal });
      if (mine === latest) clear(list, shown(found));
    } catch (error) {
      if (mine === latest && !ctx.signal.aborted) clear(list, failure(error, read));
    }
  }

  await read();
  return h(
    "section",
    { class: "panel" },
    h(
      "div",
      { class: "panel-head" },
      h("h2", t("diary.title"), !scope() && h("span", { class: "muted" }, ` · ${scopeLabel(of)}`)),
      h(
        "fieldset",
        h("legend", { class: "sr-only" }, t("diary.span")),
        h("div", { class: "segments" }, SPANS.map((each) => h("label", h("input", { type: "radio", name, value: each, checked: each === span, onchange: pick }), h("span", t(`diary.${each}`))))),
      ),
    ),
    h("div", { class: "panel-body" }, list),
  );
}

function shown({ scope: of, span, digests, events, more_events: isMore }) {
  if (!digests.length && !events.length) return empty(t("diary.none"), h("p", { class: "muted" }, t("diary.none.how")));
  const days = new Map();
  const day = (at) => {
    const begin = Math.floor(at / 86_400) * 86_400; // of UTC, as digests have it
    if (!days.has(begin)) days.set(begin, { digests: [], events: [] });
    return days.get(begin);
  };
  for (const each of digests) day(each.at).digests.push(each);
  for (const each of events) day(each.at).events.push(each);
  const sorted = [...days].sort(([one], [other]) => other - one);
  return [
    isMore && h("p", { class: "hint" }, t("diary.more")),
    h("ol", { class: "diary" }, sorted.map(([at, found]) => h("li", h("h3", h("time", { datetime: new Date(at * 1000).toISOString().slice(0, 10) }, date(at))), found.digests.map((each) => digest(each, span)), told(found.events, of)))),
  ];
}

const digest = ({ at, text, by_model: isByModel }, span) =>
  h(
    "p",
    { class: "digest" },
    h("span", { class: "row small muted" }, badge(`${t(`diary.${span}`)}${span === "hour" ? ` ${clock(at)}` : ""}`), h("span", t(isByModel ? "diary.by_model" : "diary.joined"))),
    text ?? t("diary.hidden"),
  );

const told = (events, of) =>
  events.length > 0 &&
  h(
    "ul",
    { class: "events" },
    events.map((each) =>
      h("li", h("span", { class: "muted mono" }, clock(each.at)), h("span", { class: "break" }, each.text ?? t("diary.hidden"), " ", h("a", { href: href("session", each.session, { scope: of.split("~")[0] }) }, t("jobs.turn", { n: each.turn })))),
    ),
  );

const date = (at) => new Intl.DateTimeFormat(lang(), { dateStyle: "full", timeZone: "UTC" }).format(at * 1000);
const clock = (at) => new Date(at * 1000).toISOString().slice(11, 16);
