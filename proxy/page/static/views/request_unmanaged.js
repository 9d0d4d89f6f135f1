/* A request that was passed through, mostly to another route: there is no prompt to explain, only what it was and what it has
   used, as far as its answer told.

   unmanaged(row, heading)   its view */

import { h } from "../lib/dom.js";
import { count, money, seconds } from "../lib/format.js";
import { register, t } from "../lib/i18n.js";
import { stat } from "../lib/parts.js";
import { couldBeManaged, remedy } from "../lib/unmanaged.js";

register({
  en: {
    "through.went": "This request went through unmanaged, on {route}.",
    "through.state": "Its conversation’s state is at the provider ({why}).",
    "through.could": "Nothing was saved on it, and nothing remembered.",
    "through.other": "There is nothing to manage in it.",
    "through.untold": "Its answer did not tell what it has used, or not where it could be read in passing.",
    "through.route": "Route",
  },
  es: {
    "through.went": "Este pedido pasó sin gestionar, por {route}.",
    "through.state": "El estado de su conversación está en el proveedor ({why}).",
    "through.could": "En él no se ahorró ni se recordó nada.",
    "through.other": "No tiene nada que gestionar.",
    "through.untold": "Su respuesta no dijo cuánto usó, o no donde pudiera leerse al pasar.",
    "through.route": "Ruta",
  },
});

export function unmanaged(row, heading) {
  const could = couldBeManaged(row.route);
  const [, state] = /^hands_off=(.+)$/.exec(row.plan_reason) ?? [];
  return [
    heading,
    h(
      "section",
      { class: ["callout", could && "warn"] },
      h("p", h("strong", t("through.went", { route: row.route })), " ", state && [t("through.state", { why: state }), " "], t(could ? "through.could" : "through.other")),
      could && h("p", remedy()),
    ),
    h(
      "dl",
      { class: "stats" },
      stat(t("through.route"), row.route),
      row.measured && [
        stat(t("request.billed"), count(row.tokens_billed), row.tokens_cached > 0 && `${t("request.cached")}: ${count(row.tokens_cached)}`),
        stat(t("request.completion"), count(row.tokens_completion)),
        row.cost > 0 && stat(t("request.cost"), money(row.cost)),
      ],
      stat(t("request.took"), seconds(row.total_seconds)),
    ),
    could && !row.measured && h("p", { class: "muted" }, t("through.untold")),
  ];
}
