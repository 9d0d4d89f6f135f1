/* The shell: header, footer, and the view that the address names.

   A view is views/<name>.js:
     export const title     the key of its title, registered by itself (i18n/<name>.js through lib/i18n.js)
     export async function show(root, ctx)
       root   an empty section of its own; what it becomes after leaving is nobody's business
       ctx    {params, me, signal, onLeave(fn)}
                params   of the address: lib/route.js       me        GET me: version, show_content, profiles, …
                signal   aborted when the view is left: give it to api.get
                onLeave  timers, streams, observers end there
     What `show` throws is shown with a button to try again.
   The view is shown anew when language or scope change. */

import { api, isAborted, onReach, unreachable } from "./lib/api.js";
import { announce, clear, failure, h, loading } from "./lib/dom.js";
import { lang, onLang, register, t } from "./lib/i18n.js";
import { watchKeys } from "./lib/keys.js";
import { nameDialog } from "./lib/naming.js";
import { icon } from "./lib/parts.js";
import { href, parse } from "./lib/route.js";
import { brand, languageSwitch, navigation, themeSwitch } from "./lib/shell.js";
import { loadScopes, nameScope, onScope, scope, scopeLabel, scopes, setScope } from "./lib/store.js";
import { unmanagedLine } from "./lib/unmanaged.js";
import shell from "./i18n/shell.js";

register(shell);

const FILES = { now: "now", requests: "requests", request: "request", sessions: "sessions", session: "session", desk: "desk", facts: "facts", jobs: "jobs", reuse: "reuse", quality: "quality", keys: "keys", "what-if": "what_if", login: "login" };
const OF_KEYS = ["keys", "now", "requests", "sessions", "docs"]; // what a key of this proxy sees of its own
const BELONGS = { request: "requests", session: "sessions", desk: "sessions", quality: "now" }; // under which entry of the navigation

const top = document.getElementById("top");
const main = document.getElementById("main");
const foot = document.getElementById("foot");
const notice = document.getElementById("notice");
const unmanaged = unmanagedLine();
notice.after(unmanaged.element);

let me = null;
let leave = () => {};
let isFirst = true;

// --- header and footer ---------------------------------------------------------------------------------------------

function frame(view) {
  document.documentElement.lang = lang();
  document.getElementById("skip").textContent = t("shell.skip");
  const isIn = Boolean(me?.is_admitted);
  clear(
    top,
    h(
      "div",
      { class: "top-in" },
      brand(),
      isIn && navigation(BELONGS[view] ?? view, "", me.key ? OF_KEYS : undefined),
      h("div", { class: "tools" }, isIn && picker(), languageSwitch(), themeSwitch(), isIn && me.needs_token && exit()),
    ),
  );
  // Where it is narrow the navigation scrolls: the entry of this view must be in sight.
  top.querySelector(".nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  clear(
    foot,
    h(
      "p",
      me?.version && h("span", `Olvido ${me.version}`),
      isIn && h("span", t("shell.profiles", { plain: me.profile, tools: me.profile_with_tools })),
      isIn && h("span", t(me.show_content ? "shell.contents.yes" : "shell.contents.no")),
    ),
  );
}

function picker() {
  if (scopes().length < 2) return null;
  const options = [h("option", { value: "" }, t("shell.scope.all")), scopes().map((each) => h("option", { value: each.scope }, scopeLabel(each.scope)))];
  return h(
    "div",
    { class: "picker" },
    h("label", { class: "sr-only", for: "scope" }, t("shell.scope")),
    h("select", { class: "select select-small", id: "scope", value: scope(), onchange: (event) => setScope(event.target.value) }, options),
    scope() && !me.key && naming(),
  );
}

function naming() {
  const label = t("shell.scope.name");
  const named = scope();
  const open = () => nameDialog(named, { alias: scopes().find((each) => each.scope === named)?.alias, save: (alias) => nameScope(named, alias) });
  return h("button", { class: "btn btn-quiet btn-small", type: "button", id: "name-scope", title: label, "aria-label": label, onclick: open }, icon("edit"));
}

function exit() {
  const label = t("shell.logout");
  const out = async () => {
    await api.post("logout");
    await enter();
  };
  return h("button", { class: "btn btn-quiet btn-small", type: "button", id: "logout", title: label, "aria-label": label, onclick: out }, icon("out"));
}

// --- views ---------------------------------------------------------------------------------------------------------

async function go() {
  leave();
  const { view, params } = parse(location.hash);
  if (!me) return enter();
  if (!me.is_admitted && view !== "login") {
    location.replace(`#/login?next=${encodeURIComponent(location.hash || "#/now")}`);
    return undefined;
  }
  frame(view);
  unmanaged.refresh(me.is_admitted && view !== "now"); // which says it itself, of its range

  const root = h("section", { class: `view view-${view}` }, loading());
  const ended = new AbortController();
  const ends = [];
  leave = () => {
    ended.abort();
    for (const end of ends.splice(0)) end();
    leave = () => {};
  };
  const onLeave = (fn) => (ended.signal.aborted ? fn() : ends.push(fn));
  clear(main, root);
  if (!isFirst) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
  isFirst = false;

  try {
    if (!FILES[view]) throw new Error(t("shell.unknown"));
    const module = await loaded(FILES[view]);
    if (ended.signal.aborted) return undefined;
    document.title = `${t(module.title)} · Olvido`;
    announce(t(module.title));
    root.replaceChildren();
    await module.show(root, { params, me, signal: ended.signal, onLeave, entered });
  } catch (error) {
    if (!ended.signal.aborted && !isAborted(error)) clear(root, failure(error, FILES[view] && go));
  }
  return undefined;
}

const failures = new Map(); // of files, how often they could not be had

/** The module of a view. A browser may remember that a file could not be had, but not by another name. */
async function loaded(file) {
  const again = failures.get(file) ?? 0;
  try {
    return await import(`./views/${file}.js${again ? `?${again}` : ""}`);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    failures.set(file, again + 1);
    throw unreachable(error);
  }
}

/** For the login view: who was let in goes on to where they wanted to. */
async function entered(next) {
  me = null;
  const wanted = /^#\/(?!login)/.test(next ?? "") ? next : "";
  history.replaceState(null, "", wanted || "#/now");
  await enter();
}

async function enter() {
  leave();
  if (!me) clear(main, loading());
  try {
    me = await api.get("me");
    if (me.is_admitted) await loadScopes();
    // What a key has spent today is the first thing that it sees.
    if (me.key && ["", "#/now"].includes(location.hash)) history.replaceState(null, "", "#/keys");
  } catch (error) {
    if (error.status === 401) return undefined; // on the way to the login already
    frame("");
    clear(main, failure(error, enter));
    return undefined;
  }
  return go();
}

// --- while the proxy does not answer -------------------------------------------------------------------------------

const AGAIN = 3000; // milliseconds from one try to the next
const TOLD = 6000; // milliseconds for which it is said that it answers again
let retrying = null;
let saying = null;

/** What is on the page stays, so nothing that was written is lost; what could not be shown is shown once it answers. */
onReach((answers) => {
  clearInterval(retrying);
  clearTimeout(saying);
  notice.hidden = false;
  notice.className = answers ? "notice notice-good" : "notice";
  notice.textContent = answers ? t("shell.online") : t("shell.offline", { address: location.host });
  if (answers) saying = setTimeout(() => (notice.hidden = true), TOLD);
  else retrying = setInterval(() => api.get("me").then((found) => (me ??= found), () => {}), AGAIN);
});

watchKeys({
  back() {
    const { view } = parse(location.hash);
    const list = BELONGS[view];
    if (!list) return;
    if (came === list || came === "now") history.back();
    else location.hash = href(list);
  },
});
let came = null; // the view before this one
let present = parse(location.hash).view;
addEventListener("hashchange", () => {
  came = present;
  present = parse(location.hash).view;
});
addEventListener("hashchange", go);
onLang(go);
onScope(go);
enter();
