/* What a fact is written in: for a new one, domain and key follow from its words, as the proxy derives them, until somebody
   writes others.

   inputs(fact, facts)             the fields of a fact that is there       `facts`: whose domains are known
   filledIn(form)                  what the proxy is sent of them
   added(owners, facts, signal) -> {body, filled()}
                                   those of a new one, with whose it is; what the proxy is sent: it derives what nobody wrote
   tally(names)                    how many there are of each
   STATUSES, CONFIDENCES           in their order */

import { api, isAborted } from "../lib/api.js";
import { clear, h, unique } from "../lib/dom.js";
import { field } from "../lib/form.js";
import { t } from "../lib/i18n.js";
import { scopeLabel } from "../lib/store.js";

export const STATUSES = ["active", "retrieval-only", "stale", "superseded", "deleted"];
export const CONFIDENCES = ["high", "medium", "low"];
const PAUSE = 300; // milliseconds without a key after which the words are read

export function tally(names) {
  const found = Object.create(null); // a domain may have any name
  for (const name of names) found[name] = (found[name] ?? 0) + 1;
  return found;
}

const choice = (name, options, text, value = options[0]) => h("select", { class: "select", name, value }, options.map((each) => h("option", { value: each }, text(each))));

/** Each control by its name. */
function controls(fact) {
  const named = (name) => h("input", { class: "input", name, required: true, maxlength: 128, autocomplete: "off", value: fact?.[name] ?? "" });
  return {
    value: h("textarea", { class: "textarea", name: "value", required: true, maxlength: 2000, autofocus: true, value: fact?.value ?? "" }),
    domain: named("domain"),
    key: named("key"),
    pinned: h("input", { type: "checkbox", name: "pinned", checked: fact?.pinned ?? false }),
  };
}

function laidOut({ value, domain, key, pinned }, fact, facts, note) {
  const list = h("datalist", { id: unique("domains") }, Object.keys(tally(facts.map((each) => each.domain))).sort().map((name) => h("option", { value: name })));
  domain.setAttribute("list", list.id);
  return [
    field(t("facts.value"), value, t(fact ? "facts.value.edit" : "facts.value.add")),
    h("div", { class: "pair" }, field(t("facts.domain"), domain), field(t("facts.key"), key, t("facts.key.hint"))),
    list,
    note,
    field(t("facts.confidence"), choice("confidence", CONFIDENCES, (each) => t(`facts.confidence.${each}`), fact?.confidence), t("facts.confidence.hint")),
    h("label", { class: "check" }, pinned, h("span", t("facts.pinned"), " ", h("span", { class: "muted" }, `(${t("facts.pinned.what")})`))),
  ];
}

export const inputs = (fact, facts) => laidOut(controls(fact), fact, facts);

export function added(owners, facts, signal) {
  const all = controls(null);
  const owner = choice("scope", owners, scopeLabel);
  const note = h("p", { class: "hint", role: "status" }, t("facts.derived"));
  const own = new Set(); // what somebody has written or ticked
  let waiting = null;
  let asked = 0;

  for (const name of ["domain", "key"]) {
    all[name].required = false; // the proxy derives what is left empty
    all[name].addEventListener("input", () => (all[name].value.trim() ? own.add(name) : own.delete(name)));
  }
  all.pinned.addEventListener("change", () => own.add("pinned"));
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(derive, PAUSE);
  };
  all.value.addEventListener("input", soon);
  owner.addEventListener("change", soon);

  async function derive() {
    const value = all.value.value.trim();
    const turn = (asked += 1);
    if (!value || signal.aborted) return;
    let found;
    try {
      found = await api.post("facts/derive", { scope: owner.value, value }, { signal });
    } catch (error) {
      if (!isAborted(error) && turn === asked) clear(note, t("facts.derived"));
      return; // it is derived when the fact is added
    }
    if (turn !== asked) return;
    for (const name of ["domain", "key"]) if (!own.has(name)) all[name].value = found[name];
    if (!own.has("pinned")) all.pinned.checked = found.pinned;
    clear(note, t("facts.derived"), found.replaces && !own.has("domain") && !own.has("key") && [" ", h("strong", t("facts.replaces", { value: found.replaces.value }))]);
  }

  /** What was derived is not sent: the proxy derives it from the words as they are at last. */
  function filled() {
    const named = ["domain", "key"].filter((name) => own.has(name)).map((name) => [name, all[name].value]);
    return { ...Object.fromEntries(named), ...(own.has("pinned") && { pinned: all.pinned.checked }), value: all.value.value };
  }

  return { body: [field(t("shell.scope"), owner), laidOut(all, null, facts, note)], filled };
}

export const filledIn = (form) => ({
  ...Object.fromEntries(["domain", "key", "value", "confidence"].map((name) => [name, form.get(name)])),
  pinned: form.has("pinned"),
});
