/* Which scope is looked at. A scope is a tenant's 32 hex digits, a slash, and the end user's name or nothing.

   scope()          the chosen one, "" for all of them        setScope(scope)
   scopes()         [{scope, last_at}] as last loaded, newest first
   anyScope()       the chosen one, else the last used: for what needs one; "" if there is none
   onScope(fn)      returns what ends it. The shell shows the view anew when the scope changes: views need not listen
   loadScopes()     asks the proxy
   scopeLabel(s)    for people: its alias; else the name of its key, or the beginning of its tenant, and the end user:
                    "shop", "marketing · ana", "3fa9c1… · ana"
   nameScope(s, alias)   gives it an alias, "" takes it away; then as if the scope had changed */

import { api } from "./api.js";

const KEPT = "olvido.scope";
const MOST = 5000; // scopes to choose from: a list of more is none
const watchers = new Set();
let known = [];
let chosen = kept();

function kept() {
  try {
    return sessionStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}

export const scope = () => chosen;
export const scopes = () => known;
export const anyScope = () => chosen || known[0]?.scope || "";

export function setScope(wanted) {
  if (wanted === chosen) return;
  chosen = wanted;
  try {
    sessionStorage.setItem(KEPT, wanted);
  } catch {
    // then for this visit
  }
  for (const fn of watchers) fn(wanted);
}

export function onScope(fn) {
  watchers.add(fn);
  return () => watchers.delete(fn);
}

export async function loadScopes() {
  const found = [];
  let next = null;
  do {
    const page = await api.get("scopes", { before: next, limit: 1000 });
    found.push(...page.scopes);
    next = page.next;
  } while (next !== null && found.length < MOST);
  known = found.sort((one, other) => other.last_at - one.last_at);
  if (chosen && !known.some((each) => each.scope === chosen)) setScope("");
  return known;
}

export async function nameScope(given, alias) {
  await api.post("scopes", { scope: given, alias: alias || null });
  await loadScopes();
  for (const fn of watchers) fn(chosen);
}

export function scopeLabel(given) {
  const named = known.find((each) => each.scope === given);
  if (named?.alias) return named.alias;
  const [tenant, ...person] = given.split("/");
  const short = named?.key || (tenant.length > 8 ? `${tenant.slice(0, 6)}…` : tenant);
  const name = person.join("/");
  return name ? `${short} · ${name}` : short;
}
