/* What went through without being managed: requests to other routes.

   passed(groups)   from the groups of `summary?by=route`: {conversations, managed, share, others, routes}
                      conversations  requests that could have been managed: turns on the other routes of conversations
                      share          of these and the managed ones        others  requests for anything else
                      routes         [{name, requests, couldBe}], most first
   couldBeManaged(route)   does it carry conversations?
   sentence(passed)  "37 requests on /v1/responses went through unmanaged"
   remedy()          the link to what would make them managed
   unmanagedLine()   one small line for every view: {element, refresh()}; it hides itself while there is nothing to say */

import { api } from "./api.js";
import { clear, h } from "./dom.js";
import { count, listed, percent } from "./format.js";
import { register, t, tn } from "./i18n.js";
import { href } from "./route.js";
import { scope } from "./store.js";

register({
  en: {
    "unmanaged.on.one": "{count} request on {route}",
    "unmanaged.on.other": "{count} requests on {route}",
    "unmanaged.went.one": "{which} went through unmanaged",
    "unmanaged.went.other": "{which} went through unmanaged",
    "unmanaged.line": "{which} in 24 hours: {share} of all conversations’ requests.",
    "unmanaged.remedy": "How to have them managed",
    "unmanaged.see": "See them",
  },
  es: {
    "unmanaged.on.one": "{count} pedido a {route}",
    "unmanaged.on.other": "{count} pedidos a {route}",
    "unmanaged.went.one": "{which} pasó sin gestionar",
    "unmanaged.went.other": "{which} pasaron sin gestionar",
    "unmanaged.line": "{which} en 24 horas: {share} de los pedidos de todas las conversaciones.",
    "unmanaged.remedy": "Cómo gestionarlos",
    "unmanaged.see": "Verlos",
  },
});

const CONVERSATIONS = ["/v1/responses", "/v1/messages", "/v1/completions"];
const DAY = 86_400;
const OLD = 60_000; // ms after which a view asks anew

export const couldBeManaged = (route) => CONVERSATIONS.includes(route);

export function passed(groups) {
  const routes = groups
    .filter((each) => each.sums.unmanaged > 0)
    .map((each) => ({ name: each.name, requests: each.sums.unmanaged, couldBe: couldBeManaged(each.name) }))
    .sort((one, other) => other.couldBe - one.couldBe || other.requests - one.requests);
  const managed = groups.reduce((sum, each) => sum + each.sums.requests, 0);
  const sum = (couldBe) => routes.reduce((so, each) => so + (each.couldBe === couldBe ? each.requests : 0), 0);
  const conversations = sum(true);
  return { routes, managed, conversations, others: sum(false), share: conversations / Math.max(1, conversations + managed) };
}

export function sentence(found) {
  const told = found.routes.filter((each) => each.couldBe).map((each) => tn("unmanaged.on", each.requests, { count: count(each.requests), route: each.name }));
  return tn("unmanaged.went", found.conversations, { which: listed(told) });
}

export const remedy = () => h("a", { href: "ui/docs/clients.md#make-an-unmanaged-client-a-managed-one" }, t("unmanaged.remedy"));
export const seeing = (more = {}) => h("a", { href: href("requests", null, { what: "unmanaged", ...more }) }, t("unmanaged.see"));

export function unmanagedLine() {
  const element = h("p", { class: "unmanaged-line", hidden: true });
  let asked = { at: 0, scope: null };

  async function refresh(isWanted) {
    element.hidden = true;
    if (!isWanted) return;
    const now = Date.now();
    if (now - asked.at > OLD || asked.scope !== scope()) {
      const to = now / 1000;
      asked = { at: now, scope: scope(), found: null };
      const mine = asked;
      try {
        mine.found = passed((await api.get("summary", { from: to - DAY, to, by: "route", scope: scope() })).groups);
      } catch {
        mine.at = 0; // the shell says what is wrong
        return;
      }
      if (mine !== asked) return;
    }
    const { found } = asked;
    if (!found?.conversations) return;
    clear(element, h("span", t("unmanaged.line", { which: sentence(found), share: percent(found.share) })), " ", seeing({ time: "24h" }), " · ", remedy());
    element.hidden = false;
  }

  return { element, refresh };
}
