/* All requests: filtered, searched, exported. What is filtered by stands in the address, so that it can be kept and sent
   on; the back button brings it again. */

import dictionary from "../i18n/requests.js";
import { api, isAborted } from "../lib/api.js";
import { announce, clear, empty, failure, h } from "../lib/dom.js";
import { count, moment } from "../lib/format.js";
import { register, t, tn } from "../lib/i18n.js";
import { keysHint } from "../lib/keys.js";
import { tick } from "../lib/parts.js";
import { href } from "../lib/route.js";
import { requestsTable } from "../lib/rows.js";
import { scope } from "../lib/store.js";
import { choices, filters, wanted } from "./requests_filters.js";

register(dictionary);
export const title = "requests.title";

const PAGE = 25;

export async function show(root, ctx) {
  const chosen = wanted(ctx.params);
  const list = requestsTable({ withQuestion: true, empty: h("div") });
  const told = h("span", { class: "muted small", role: "status" });
  const foot = h("div", { class: "more" });
  const nothing = h("div");
  let found = 0;
  let next = null;
  let asking = null; // the newest search: an older one is dropped

  const offered = await choices(ctx.signal);
  const form = filters(chosen, offered, { me: ctx.me, changed, exported });
  clear(
    root,
    h("div", { class: "view-head" }, h("h1", t("requests.title")), told, form.exporting),
    form.element,
    h("section", { class: "panel" }, list.element, nothing, foot),
    keysHint(),
  );
  ctx.onLeave(tick(root));
  ctx.onLeave(() => asking?.abort());
  await search();

  function changed() {
    history.replaceState(null, "", href("requests", null, chosen.query()));
    search();
  }

  function exported() {
    return api.url("requests/export", { scope: scope(), ...chosen.asked() });
  }

  /** Begins anew. */
  async function search() {
    asking?.abort();
    asking = new AbortController();
    found = 0;
    next = null;
    clear(nothing);
    form.refresh();
    await load(asking, PAGE, (rows) => list.set(rows));
  }

  /** Asks until so many more were found, or nothing is left. */
  async function load(mine, more, put = (rows) => list.add(rows)) {
    let left = more;
    let place = put;
    list.element.setAttribute("aria-busy", "true");
    try {
      do {
        const params = { scope: scope(), ...chosen.asked(), before: next, limit: left, questions: ctx.me.show_content || null };
        const page = await api.get("requests", params, { signal: mine.signal });
        place(page.requests);
        place = (rows) => list.add(rows);
        found += page.requests.length;
        left -= page.requests.length;
        next = page.next;
        if (next !== null && left > 0 && page.looked_back_to) told.textContent = t("requests.looking", { at: moment(page.looked_back_to) });
      } while (left > 0 && next !== null);
      end();
    } catch (error) {
      if (isAborted(error) || ctx.signal.aborted) return;
      clear(foot, failure(error, () => load(mine, left)));
    } finally {
      list.element.removeAttribute("aria-busy");
    }
  }

  function end() {
    const many = next === null ? tn("requests.shown", found, { n: count(found) }) : t("requests.shown.more", { n: count(found) });
    told.textContent = many;
    announce(many);
    clear(nothing, !found && empty(t(chosen.isAny() && !scope() ? "requests.empty" : "requests.none")));
    const further = async (event) => {
      event.target.disabled = true;
      await load(asking, PAGE);
    };
    clear(foot, next !== null && h("button", { class: "btn btn-small", type: "button", onclick: further }, t("shell.more")));
  }
}
