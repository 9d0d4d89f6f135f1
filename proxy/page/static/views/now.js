/* What is saved at the moment, and by what; the last requests as they come. */

import dictionary from "../i18n/now.js";
import { api } from "../lib/api.js";
import { chart } from "../lib/chart.js";
import { announce, clear, failure, h, unique } from "../lib/dom.js";
import { count, listed, percent } from "../lib/format.js";
import { heldFigure, heldShare } from "../lib/held.js";
import { keysHint } from "../lib/keys.js";
import { register, t, tn } from "../lib/i18n.js";
import { live } from "../lib/live.js";
import { copyButton, tick } from "../lib/parts.js";
import { href } from "../lib/route.js";
import { requestsTable } from "../lib/rows.js";
import { scope } from "../lib/store.js";
import { passed, remedy, seeing, sentence } from "../lib/unmanaged.js";
import { bars, costChart, figures, headline, honest, mechanisms, tokensChart } from "./now_sums.js";

register(dictionary);
export const title = "now.title";

const HOUR = 3600;
const RANGES = { "1h": HOUR, "6h": 6 * HOUR, "24h": 24 * HOUR, "7d": 168 * HOUR, "30d": 720 * HOUR };
const KEPT = "olvido.range";
const LISTED = 25;

export async function show(root, ctx) {
  let range = chosen();
  let charts = null;
  let latest = 0; // of the calls for sums: only the newest is drawn
  let most = LISTED;
  let compares = true;
  let next = null;
  const known = new Set();
  const sums = h("div", { class: "stack now-sums" });
  const aside = h("div", { class: "stack" });
  const state = h("span", { class: "live", dataset: { state: "paused" } });
  const list = requestsTable({ empty: t("now.quiet") });
  const more = h("div", { class: "more" });

  const first = await api.get("requests", { scope: scope(), limit: LISTED }, { signal: ctx.signal });
  if (first.requests.length) whole();
  else nothing();
  await refresh();

  function whole() {
    clear(
      root,
      h("div", { class: "view-head" }, h("h1", t("now.title")), state, ranges()),
      sums,
      h(
        "div",
        { class: "split" },
        h("section", { class: "panel" }, h("div", { class: "panel-head" }, h("h2", t("now.last")), h("a", { class: "small", href: href("requests") }, t("now.all"))), list.element, more),
        aside,
      ),
      keysHint(),
    );
    for (const row of first.requests) known.add(row.request_id);
    list.set(first.requests);
    next = first.next;
    paging();
  }

  function nothing() {
    clear(root, h("div", { class: "view-head" }, h("h1", t("now.title")), state), invitation());
  }

  function ranges() {
    const name = unique("range");
    const pick = (event) => {
      range = event.target.value;
      try {
        localStorage.setItem(KEPT, range);
      } catch {
        // then for this visit
      }
      refresh();
    };
    return h(
      "fieldset",
      h("legend", { class: "sr-only" }, t("now.range")),
      h(
        "div",
        { class: "segments" },
        Object.keys(RANGES).map((each) =>
          h("label", h("input", { type: "radio", name, value: each, checked: each === range, onchange: pick }), h("span", each.replace(/(\d+)/, "$1\u202f"))),
        ),
      ),
    );
  }

  async function refresh() {
    if (!known.size) return;
    const mine = ++latest;
    const to = Date.now() / 1000;
    const asked = { from: to - RANGES[range], to, scope: scope() };
    try {
      const sums = ["source", "mechanism", "route"].map((by) => api.get("summary", { ...asked, by }, { signal: ctx.signal }));
      const [bySource, byMechanism, byRoute, held] = await Promise.all([...sums, compares ? heldShare({ scope: scope(), signal: ctx.signal }) : null]);
      compares &&= held !== null; // what compares nothing does not begin to while it serves
      if (mine === latest) drawn(bySource, byMechanism, byRoute, held);
    } catch (error) {
      if (ctx.signal.aborted || mine !== latest) return;
      if (!charts) clear(sums, failure(error, refresh)); // what is shown stays: the shell says that it is old
    }
  }

  function drawn(bySource, byMechanism, byRoute, held) {
    const folded = bars(bySource);
    if (charts) {
      charts.tokens.update(tokensChart(folded));
      charts.cost.update(costChart(folded));
    } else {
      charts = { tokens: chart(tokensChart(folded)), cost: chart(costChart(folded)) };
      ctx.onLeave(() => Object.values(charts).forEach((each) => each.destroy()));
      clear(
        sums,
        h("div", { class: "now-unmanaged" }),
        h("div", { class: "now-head" }),
        h("div", { class: "now-stats" }),
        h("div", { class: "grid grid-2" }, Object.values(charts).map((each) => h("div", { class: "panel" }, each.element))),
      );
    }
    const found = passed(byRoute.groups);
    clear(sums.children[0], banner(found, range));
    clear(sums.children[1], headline(bySource, held && heldFigure(held)));
    clear(sums.children[2], figures(bySource.totals));
    clear(aside, mechanisms(byMechanism.groups), honest(bySource.totals));
  }

  function paging() {
    const load = async (event) => {
      event.target.disabled = true;
      try {
        const found = await api.get("requests", { scope: scope(), limit: LISTED, before: next }, { signal: ctx.signal });
        for (const row of found.requests) known.add(row.request_id);
        list.add(found.requests);
        most += found.requests.length;
        next = found.next;
        paging();
      } catch (error) {
        if (!ctx.signal.aborted) clear(more, failure(error, paging));
      }
    };
    clear(more, next !== null && h("button", { class: "btn btn-small", type: "button", onclick: load }, t("shell.more")));
  }

  const stop = live({
    known: (row) => known.has(row.request_id),
    changed: refresh,
    state(name) {
      state.dataset.state = name;
      clear(state, h("i", { "aria-hidden": "true" }), t(`now.${name}`));
    },
    requests(rows) {
      const ours = rows.filter((row) => (!scope() || row.scope === scope()) && !known.has(row.request_id));
      if (!ours.length) return;
      if (!known.size) whole();
      for (const row of ours) known.add(row.request_id);
      const lines = list.add([...ours].reverse(), { first: true, most });
      for (const line of lines) line.classList.add("is-new");
      announce(tn("now.arrived", ours.length));
    },
  });
  ctx.onLeave(stop);
  ctx.onLeave(tick(root));
}

function chosen() {
  try {
    const kept = localStorage.getItem(KEPT);
    return kept in RANGES ? kept : "1h";
  } catch {
    return "1h";
  }
}

// --- what went through unmanaged ---

function banner(found, range) {
  if (!found.conversations) return null;
  const others = found.others > 0 && t("now.unmanaged.others", { n: count(found.others), routes: listed(found.routes.filter((each) => !each.couldBe).map((each) => each.name)) });
  return h(
    "section",
    { class: "callout warn", role: "note" },
    h("p", h("strong", sentence(found)), `: ${t("now.unmanaged.share", { share: percent(found.share) })} `, others && h("span", { class: "muted" }, others)),
    h("p", { class: "row" }, remedy(), seeing({ time: range === "6h" ? "24h" : range })),
  );
}

// --- nothing yet ---------------------------------------------------------------------------------------------------

function invitation() {
  const base = new URL("../../../v1", import.meta.url).href;
  const ways = {
    Python: `from openai import OpenAI\n\nclient = OpenAI(base_url="${base}")`,
    "Node.js": `import OpenAI from "openai";\n\nconst client = new OpenAI({ baseURL: "${base}" });`,
    curl: `curl ${base}/chat/completions \\\n  -H "authorization: Bearer $API_KEY" \\\n  -H "content-type: application/json" \\\n  -d '{"model": "…", "messages": [{"role": "user", "content": "Hola"}]}'`,
  };
  return h(
    "section",
    { class: "panel first" },
    h(
      "div",
      { class: "panel-body stack" },
      h("h2", t("now.first")),
      h("p", t("now.first.how")),
      h("div", { class: "row" }, h("code", { class: "tag address" }, base), copyButton(base)),
      Object.entries(ways).map(([name, text]) =>
        h("div", { class: "sample" }, h("div", { class: "spread" }, h("h3", name), copyButton(text)), h("pre", { tabindex: "0", role: "region", "aria-label": name }, h("code", text))),
      ),
      h("p", { class: "muted" }, t("now.first.then")),
    ),
  );
}
