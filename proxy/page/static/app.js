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

import { api, isAborted, onReach } from "./lib/api.js";
import { announce, clear, failure, h, loading } from "./lib/dom.js";
import { lang, onLang, register, t } from "./lib/i18n.js";
import { icon } from "./lib/parts.js";
import { parse } from "./lib/route.js";
import { brand, languageSwitch, navigation, themeSwitch } from "./lib/shell.js";
import { loadScopes, onScope, scope, scopeLabel, scopes, setScope } from "./lib/store.js";
import shell from "./i18n/shell.js";

register(shell);

const FILES = { now: "now", request: "request", sessions: "sessions", session: "session", desk: "desk", facts: "facts", jobs: "jobs", reuse: "reuse", "what-if": "what_if", login: "login" };
const BELONGS = { request: "now", session: "sessions", desk: "sessions" }; // under which entry of the navigation

const top = document.getElementById("top");
const main = document.getElementById("main");
const foot = document.getElementById("foot");
const notice = document.getElementById("notice");

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
      isIn && navigation(BELONGS[view] ?? view),
      h("div", { class: "tools" }, isIn && picker(), languageSwitch(), themeSwitch(), isIn && me.needs_token && exit()),
    ),
  );
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
    "label",
    { class: "picker" },
    h("span", { class: "sr-only" }, t("shell.scope")),
    h("select", { class: "select select-small", id: "scope", value: scope(), onchange: (event) => setScope(event.target.value) }, options),
  );
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
    const module = await import(`./views/${FILES[view]}.js`);
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

/** For the login view: who was let in goes on to where they wanted to. */
async function entered(next) {
  me = null;
  history.replaceState(null, "", /^#\/(?!login)/.test(next ?? "") ? next : "#/now");
  await enter();
}

async function enter() {
  leave();
  if (!me) clear(main, loading());
  try {
    me = await api.get("me");
    if (me.is_admitted) await loadScopes();
  } catch (error) {
    if (error.status === 401) return undefined; // on the way to the login already
    frame("");
    clear(main, failure(error, enter));
    return undefined;
  }
  return go();
}

let retrying = null;
onReach((answers) => {
  notice.hidden = answers;
  notice.textContent = answers ? "" : t("shell.offline");
  clearInterval(retrying);
  if (!answers) retrying = setInterval(() => api.get("me").then((found) => (me ??= found), () => {}), 3000);
});

addEventListener("hashchange", go);
onLang(go);
onScope(go);
enter();
