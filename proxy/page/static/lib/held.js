/* The figure "held" beside "saved": the share of compared answers that are as good as those of the requests as they were.

   heldShare({scope, signal}) -> what GET quality tells; null where that cannot be had, or nothing was ever compared
   heldFigure(told)           -> {name, value, note, href} in words */

import dictionary from "../i18n/quality.js";
import { api } from "./api.js";
import { count, percent } from "./format.js";
import { register, t, tn } from "./i18n.js";
import { href } from "./route.js";

register(dictionary);

export async function heldShare({ scope, signal }) {
  try {
    const told = await api.get("quality", { scope }, { signal });
    return told.is_on || told.pairs ? told : null;
  } catch {
    return null; // the sums can be read without it
  }
}

export const certainty = ({ low, high }) => ({ low: percent(low), high: percent(high) });

export const heldFigure = (told) => ({
  name: t("quality.figure"),
  value: told.pairs ? percent(told.share) : "—",
  note: told.pairs ? tn("quality.figure.note", told.pairs, { n: count(told.pairs), ...certainty(told) }) : t("quality.figure.none"),
  href: href("quality"),
});
