/* The page in Spanish and in English.

   register({en: {key: text}, es: {key: text}})   a view registers its own dictionary when it is loaded
   t(key, vars?)          the text, `{name}` replaced by vars.name; the key itself if there is no text (a test finds it)
   tn(key, n, vars?)      `key.one` or `key.other` by the language's rule; {n} is n as it stands in vars, or n
   missing                keys that were asked for and have no text: there must be none
   has(key)               is there a text? For what the proxy names, and may name anew: `has(k) ? t(k) : raw`
   lang()                 "es" | "en": chosen, else the browser's
   setLang(code)          keeps the choice; the shell then shows everything anew
   onLang(fn)             returns what ends it */

const KEPT = "olvido.lang";
const texts = { en: {}, es: {} };
const watchers = new Set();

function kept() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null; // storage may be forbidden
  }
}

function preferred() {
  const wanted = navigator.languages?.length ? navigator.languages : [navigator.language ?? "en"];
  const known = wanted.map((each) => each.slice(0, 2).toLowerCase()).find((each) => each in texts);
  return known ?? "en";
}

let current = kept() in texts ? kept() : preferred();

export const lang = () => current;

export function setLang(code) {
  current = code;
  try {
    localStorage.setItem(KEPT, code);
  } catch {
    // then for this visit
  }
  for (const fn of watchers) fn(code);
}

export function onLang(fn) {
  watchers.add(fn);
  return () => watchers.delete(fn);
}

export function register(dictionary) {
  for (const code of Object.keys(texts)) Object.assign(texts[code], dictionary[code]);
}

export const has = (key) => key in texts[current];

export const missing = new Set();

export function t(key, vars = {}) {
  if (!has(key)) missing.add(key);
  const text = texts[current][key] ?? texts.en[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in vars ? String(vars[name]) : whole));
}

const rules = { en: new Intl.PluralRules("en"), es: new Intl.PluralRules("es") };

export function tn(key, n, vars = {}) {
  const form = rules[current].select(n) === "one" ? "one" : "other";
  return t(`${key}.${form}`, { n, ...vars });
}
