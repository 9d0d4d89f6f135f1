/* Numbers and times as people read them, in the language of the page. Everything returns a string.

   tokens(n)    1,234 · 123 k · 1.23 M        count(n)     every digit: 1,234,567
   money(x)     $12.34 · $0.0123 · −$0.50     amount(x)    the same in words: $1.20, but 0.01 ¢ where it is little
   percent(x)   of a share: .624 -> 62 %, .0312 -> 3.1 %
   seconds(s)   2 µs · 0.8 ms · 340 ms · 1.24 s · 2 min 5 s
   ago(ts)      3 min. ago                    time(ts)     14:03:12 today, else 12 mar 14:03
   moment(ts)   date and time in full         decimal(x, digits)
   listed(items)  one, two and three
   Timestamps are unix seconds. What is no number becomes "–". */

import { lang } from "./i18n.js";

const NOTHING = "–";
const made = new Map();

function formatter(Kind, options) {
  const key = `${Kind.name}${lang()}${JSON.stringify(options)}`;
  if (!made.has(key)) made.set(key, new Kind(lang() === "es" ? "es" : "en", options));
  return made.get(key);
}

const number = (n, options = {}) => formatter(Intl.NumberFormat, { useGrouping: "always", ...options }).format(n).replace("-", "−");
const isNumber = (n) => typeof n === "number" && Number.isFinite(n);

export const count = (n) => (isNumber(n) ? number(Math.round(n)) : NOTHING);
export const decimal = (x, digits = 2) => (isNumber(x) ? number(x, { minimumFractionDigits: digits, maximumFractionDigits: digits }) : NOTHING);

export function tokens(n) {
  if (!isNumber(n)) return NOTHING;
  const size = Math.abs(n);
  if (size < 99_950) return number(Math.round(n));
  if (size < 999_500) return `${number(n / 1e3, { maximumFractionDigits: 0 })}\u202fk`;
  return `${number(n / 1e6, { maximumSignificantDigits: size < 1e7 ? 3 : 4 })}\u202fM`;
}

export function money(x) {
  if (!isNumber(x)) return NOTHING;
  const size = Math.abs(x);
  let digits = 2;
  if (size > 0 && size < 1) digits = size >= 0.01 ? 4 : Math.min(8, 1 - Math.floor(Math.log10(size)));
  if (size < 1e-8) return "$0.00".replace(".", lang() === "es" ? "," : ".");
  return `${x < 0 ? "−" : ""}$${number(size, { minimumFractionDigits: Math.min(digits, 4), maximumFractionDigits: digits })}`;
}

export function amount(x) {
  if (!isNumber(x) || Math.abs(x) >= 0.995) return money(x);
  const cents = x * 100;
  const size = Math.abs(cents);
  const digits = size >= 10 ? { maximumFractionDigits: 0 } : size >= 0.995 ? { maximumFractionDigits: 1 } : { maximumSignificantDigits: size >= 0.01 ? 2 : 1 };
  return `${number(cents, digits)}\u00a0¢`;
}

export function percent(share) {
  if (!isNumber(share)) return NOTHING;
  const size = Math.abs(share);
  const isRound = size === 0 || size >= 0.0995;
  return number(share, { style: "percent", maximumFractionDigits: isRound ? 0 : 1 });
}

export function seconds(s) {
  if (!isNumber(s)) return NOTHING;
  if (s > 0 && s < 0.0000995) return `${number(s * 1e6, { maximumSignificantDigits: 2 })}\u202fµs`;
  if (s < 0.00995) return `${number(s * 1e3, { maximumSignificantDigits: 2 })}\u202fms`;
  if (s < 0.9995) return `${number(s * 1e3, { maximumFractionDigits: 0 })}\u202fms`;
  if (s < 60) return `${number(s, { maximumSignificantDigits: 3 })}\u202fs`;
  return `${number(Math.floor(s / 60))}\u202fmin ${number(Math.floor(s % 60))}\u202fs`;
}

const STEPS = [
  ["second", 1, 60],
  ["minute", 60, 60],
  ["hour", 3600, 24],
  ["day", 86_400, 60],
];

export function ago(ts, now = Date.now() / 1000) {
  if (!isNumber(ts)) return NOTHING;
  const past = Math.max(0, now - ts);
  const [unit, size] = STEPS.find(([, each, most]) => past / each < most) ?? STEPS[3];
  return formatter(Intl.RelativeTimeFormat, { numeric: "always", style: "short" }).format(-Math.floor(past / size), unit);
}

export function time(ts, now = Date.now() / 1000) {
  if (!isNumber(ts)) return NOTHING;
  const date = new Date(ts * 1000);
  const isToday = date.toDateString() === new Date(now * 1000).toDateString();
  const clock = { hour: "2-digit", minute: "2-digit", hour12: false };
  const options = isToday ? { ...clock, second: "2-digit" } : { day: "numeric", month: "short", ...clock };
  return formatter(Intl.DateTimeFormat, options).format(date);
}

export const listed = (items) => formatter(Intl.ListFormat, { type: "conjunction" }).format(items);

export const moment = (ts) =>
  isNumber(ts)
    ? formatter(Intl.DateTimeFormat, { dateStyle: "medium", timeStyle: "medium", hour12: false }).format(new Date(ts * 1000))
    : NOTHING;
