/* The numbers of a profile as they can be changed, and the changes as the configuration file has them.

   drawn(profile, given, change)   the sections of a profile; `given`: changed numbers by dotted name, to begin with;
                                   change(path, value): a number is another one now; undefined: it is as it was
   configuration(profile, changes, isOther)   YAML; "" without a change. isOther: the profile is not in use */

import { h, unique } from "../lib/dom.js";
import { has, t } from "../lib/i18n.js";

// What may stand in place of a number, or is one of a few words.
const WORDS = { budget: ["economic"], "recall.tokens": ["rest"] };
const CHOICES = { fold: ["economic", "strict"] };

export const drawn = (profile, given, change) => sections(profile).map(([name, fields]) => section(name, fields, given, change));

/** [[section, [[dotted name, value]]]]: what belongs to no section first. */
function sections(profile) {
  const given = Object.entries(profile).filter(([name]) => name !== "base");
  const isSection = ([, value]) => typeof value === "object";
  return [
    ["prompt", given.filter((each) => !isSection(each))],
    ...given.filter(isSection).map(([name, values]) => [name, Object.entries(values).map(([key, value]) => [`${name}.${key}`, value])]),
  ];
}

const section = (name, fields, given, change) =>
  h("fieldset", h("legend", word(`what_if.section.${name}`, name)), fields.map(([path, value]) => number(path, value, given, change)));

const word = (key, raw) => (has(key) ? t(key) : raw.replaceAll("_", " "));

function number(path, value, given, change) {
  const id = unique("number");
  const words = path in WORDS && h("datalist", { id: `${id}-words` }, WORDS[path].map((each) => h("option", { value: each })));
  const options = CHOICES[path] ?? (typeof value === "boolean" ? [true, false] : null);
  const control = options
    ? h("select", { class: "select", id, name: path, value: String(given[path] ?? value) }, options.map((each) => h("option", { value: String(each) }, word(`what_if.choice.${each}`, String(each)))))
    : h("input", { class: "input", id, name: path, inputmode: words ? null : "decimal", placeholder: String(value), value: given[path] === undefined ? "" : String(given[path]), autocomplete: "off", list: words ? words.id : null });
  const line = h("div", { class: ["number", path in given && "is-changed"] }, h("label", { for: id }, word(`what_if.number.${path}`, path), h("code", path)), control, words);
  control.addEventListener("input", () => {
    const wanted = read(control.value.trim());
    const isChanged = wanted !== "" && wanted !== value;
    line.classList.toggle("is-changed", isChanged);
    for (const each of document.querySelectorAll(".number [aria-invalid]")) each.removeAttribute("aria-invalid");
    change(path, isChanged ? wanted : undefined);
  });
  return line;
}

/** A number, true, false, or the word that it is. */
function read(text) {
  if (text === "true" || text === "false") return text === "true";
  return text && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** The changes as the configuration file has them. */
export function configuration(profile, changes, isOther) {
  const lines = isOther ? ["context:", `  profile: ${profile}`] : [];
  const paths = Object.keys(changes).sort();
  if (paths.length) lines.push("profiles:", `  ${profile}:`);
  let above = null;
  for (const path of paths) {
    const [name, key] = path.split(".");
    if (key && name !== above) lines.push(`    ${name}:`);
    lines.push(key ? `      ${key}: ${changes[path]}` : `    ${name}: ${changes[path]}`);
    above = name;
  }
  return lines.length ? `${lines.join("\n")}\n` : "";
}
