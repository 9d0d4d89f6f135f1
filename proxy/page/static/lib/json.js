/* JSON for people to read, with every character of its values as it was: a number may have more digits than JavaScript's
   hold. No markup, no DOM.

   pretty(text)     the same JSON, a line for each value; short ones on one line; null if it is none
   members(text)    [[name, raw JSON]] of an object; null if it is none */

const SHORT = 64; // characters of a value that stays on one line
const OPEN = { "{": "}", "[": "]" };

/** The marks and values of JSON that is known to be valid, in their order. */
const marks = (text) => text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g) ?? [];

function isJson(text) {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

export function pretty(text) {
  if (!isJson(text)) return null;
  return written(marks(text));
}

function written(all) {
  let told = "";
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  for (let at = 0; at < all.length; at += 1) {
    const mark = all[at];
    if (mark in OPEN) {
      const end = closing(all, at);
      const short = oneLine(all.slice(at, end + 1));
      if (short.length <= SHORT && all.slice(at + 1, end).every((each) => !(each in OPEN))) {
        told += short;
        at = end;
      } else {
        depth += 1;
        told += mark + line();
      }
    } else if (mark === "}" || mark === "]") {
      depth -= 1;
      told += line() + mark;
    } else told += mark === "," ? mark + line() : mark === ":" ? ": " : mark;
  }
  return told;
}

const oneLine = (all) => all.map((mark) => (mark === "," || mark === ":" ? `${mark} ` : mark)).join("");

/** Where what begins at `at` ends. */
function closing(all, at) {
  let depth = 0;
  for (let end = at; end < all.length; end += 1) {
    if (all[end] in OPEN) depth += 1;
    else if (all[end] === "}" || all[end] === "]") depth -= 1;
    if (!depth) return end;
  }
  return all.length - 1;
}

export function members(text) {
  if (!isJson(text)) return null;
  const all = marks(text);
  if (all[0] !== "{") return null;
  const found = [];
  for (let at = 1; at < all.length - 1; ) {
    const from = at + 2; // behind the name and its colon
    const end = closing(all, from);
    found.push([JSON.parse(all[at]), written(all.slice(from, end + 1))]);
    at = end + 2;
  }
  return found;
}
