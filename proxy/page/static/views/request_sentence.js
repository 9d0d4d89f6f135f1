/* What a request came to, in one sentence. No DOM.

   sentence(verdict)   "0.01 ¢ dearer than pass-through now, because 2,561 tokens were recalled; the conversation so far is
                       50% cheaper." `verdict`: of GET requests/{id}, as proxy/admin/verdict.py gives it
   tone(verdict)       "accent" | "warn" | "danger" | null: how it is set apart */

import { amount, count, percent } from "../lib/format.js";
import { has, t, tn } from "../lib/i18n.js";

const LEAST = 0.005; // a share below this is no difference
const ADDED = ["recalled", "rewritten", "remembered", "desk"];

export function sentence(verdict) {
  const told = [itself(verdict), soFar(verdict)].filter(Boolean).join("; ");
  return `${told.charAt(0).toLocaleUpperCase()}${told.slice(1)}.`;
}

function itself({ kind, cause, dollars, share, tokens }) {
  const vars = { money: amount(Math.abs(dollars)), share: percent(Math.abs(share ?? 0)), n: count(Math.max(0, tokens)) };
  const key = `sentence.${kind}`;
  const because = has(`sentence.because.${cause}.one`) && tokens > 0 ? tn(`sentence.because.${cause}`, tokens, vars) : "";
  if (kind === "cheaper" || kind === "dearer") {
    const known = t(share === null ? key : `${key}.share`, vars);
    return because ? t("sentence.because", { told: known, because }) : known;
  }
  if (kind === "unpriced") {
    const what = cause === "left-out" ? "less" : ADDED.includes(cause) ? "more" : "as";
    return tn(`${key}.${what}`, tokens, vars);
  }
  if (kind === "reused" && Math.abs(dollars) < 1e-9) return t(`${key}.${cause}.unpriced`, vars);
  if (cause === "metered") return tokens > 0 ? tn(`${key}.metered`, tokens, vars) : t(`${key}.metered.none`);
  return t(has(`${key}.${cause}`) ? `${key}.${cause}` : key, vars);
}

function soFar({ so_far: so }) {
  if (!so) return "";
  const isPriced = so.passthrough > 0;
  const saved = isPriced ? 1 - so.cost / so.passthrough : so.original ? 1 - so.sent / so.original : 0;
  const what = Math.abs(saved) < LEAST ? "same" : saved > 0 ? "less" : "more";
  return t(`sentence.sofar.${isPriced ? "money" : "tokens"}.${what}`, { share: percent(Math.abs(saved)) });
}

export function tone({ kind, so_far: so }) {
  if (kind === "failed") return "danger";
  if (kind === "cheaper" || kind === "reused") return "accent";
  if (kind !== "dearer") return null;
  return so && so.passthrough > 0 && so.cost <= so.passthrough ? null : "warn";
}
