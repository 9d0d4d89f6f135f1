/* A call of a tool: its name, and its arguments a line each, texts as texts.

   call({name, arguments}, ...more)   a node; `arguments`: as the model wrote them, JSON if all is well; null: not shown */

import { h } from "./dom.js";
import { members } from "./json.js";
import { icon } from "./parts.js";
import { passage } from "./passage.js";

export function call({ name, arguments: given }, ...more) {
  const named = given ? members(given) : [];
  return h(
    "div",
    { class: "call" },
    h("div", { class: "call-head" }, icon("tool"), h("code", { class: "call-name" }, name || "?", named?.length === 0 && given !== null && "()"), more),
    named === null && h("div", passage(given, { isCode: true })),
    named?.length > 0 && h("dl", { class: "call-arguments" }, named.map(([key, value]) => [h("dt", key), h("dd", argument(value))])),
  );
}

function argument(raw) {
  if (!raw.startsWith('"')) return passage(raw, { isCode: true });
  return passage(JSON.parse(raw), { isCode: true });
}
