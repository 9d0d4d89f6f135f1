/* The memory as files, beside the facts: is each person's MEMORY.md in step, what waits for a person, the last syncs.

   files({signal, changed, failed}) -> {element, load()}
     changed(said)   a person has acted: the facts may be others now
     failed(error)   that did not work
   Without files there are no folders, and nothing to see. */

import { api, isAborted } from "../lib/api.js";
import { clear, failure, h, loading } from "../lib/dom.js";
import { count, moment, time } from "../lib/format.js";
import { t, tn } from "../lib/i18n.js";
import { scope, scopeLabel, scopes } from "../lib/store.js";

const MOST_FOLDERS = 5; // of people who were not chosen: those that want to be looked at

export function files({ signal, changed, failed }) {
  const element = h("div", { class: "stack" });

  async function load() {
    clear(element, shown((await api.get("files", {}, { signal })).folders).map(line));
  }

  function line(folder) {
    const { kind, text } = told(folder);
    const acts = folder.waiting ? ["confirm", "restore"] : ["sync"];
    return h(
      "section",
      { class: ["callout", "memory-file", kind], "aria-label": `MEMORY.md ${scopeLabel(folder.scope)}` },
      h(
        "div",
        { class: "spread" },
        h("p", h("strong", "MEMORY.md"), text, !scope() && scopes().length > 1 && h("span", { class: "muted" }, ` · ${scopeLabel(folder.scope)}`)),
        h("span", { class: "row" }, acts.map((action) => button(folder, action))),
      ),
      folder.waiting && h("p", { class: "small" }, t("files.waits.what")),
      h("p", { class: "small muted mono break" }, folder.folder),
      syncs(folder),
    );
  }

  function button(folder, action) {
    const act = async (event) => {
      event.target.disabled = true;
      try {
        await api.post("files", { scope: folder.scope, action }, { signal });
      } catch (error) {
        event.target.disabled = false;
        failed(error);
        return;
      }
      await changed(t(`files.said.${action}`));
    };
    return h("button", { class: "btn btn-small", type: "button", dataset: { action }, onclick: act }, t(`files.${action}`));
  }

  /** Read once they are opened. */
  function syncs({ scope: of }) {
    const list = h("div");
    const read = async () => {
      clear(list, loading());
      try {
        const found = await api.get("files/syncs", { scope: of }, { signal });
        clear(list, found.syncs.length ? h("ol", { class: "syncs" }, found.syncs.map(sync)) : h("p", { class: "muted" }, t("files.syncs.none")));
      } catch (error) {
        if (!isAborted(error)) clear(list, failure(error, read));
      }
    };
    const ontoggle = ({ target }) => target.open && read();
    return h("details", { ontoggle }, h("summary", { class: "small" }, t("files.syncs")), list);
  }

  return { element, load };
}

/** Of whom is chosen, or of the only one; else those that want something. */
function shown(folders) {
  if (scope()) return folders.filter((each) => each.scope === scope());
  if (folders.length <= 1) return folders;
  return folders.filter((each) => each.waiting || each.problem).slice(0, MOST_FOLDERS);
}

function told({ waiting, problem, synced_at: at }) {
  if (problem) return { kind: "danger", text: `: ${problem}` };
  if (waiting) return { kind: "warn", text: ` ${tn("files.waits", waiting.deletions, { n: count(waiting.deletions), of: count(waiting.of) })}` };
  return { kind: null, text: at === null ? `: ${t("files.never")}` : [": ", t("files.instep"), ", ", h("time", { title: moment(at) }, time(at))] };
}

/** A sync as a diff. */
function sync({ at, added, changed, removed, problem }) {
  const lines = [
    ...added.map((each) => diff("+", t("files.added"), h("ins", each))),
    ...changed.map(([old, now]) => diff("~", t("files.changed"), h("del", old), " ", h("ins", now))),
    ...removed.map((each) => diff("\u2212", t("files.removed"), h("del", each))),
  ];
  return h(
    "li",
    h("span", { class: "small muted" }, moment(at)),
    problem && h("p", { class: "bad" }, problem),
    lines.length ? h("ul", { class: "diff" }, lines) : !problem && h("p", { class: "muted small" }, t("files.nothing")),
  );
}

const diff = (sign, word, ...words) => h("li", h("span", { class: "sign", "aria-hidden": "true" }, sign), h("span", h("span", { class: "sr-only" }, `${word}: `), words));
