/* Elements from data, never from markup: what a model or a user wrote can only become text.

   h(tag, props?, ...children)   an HTML element        s(tag, props?, ...children)   an SVG element
     props   class: string, or list with holes ("a", x && "b") · on<event>: listener · style: {property: value} ·
             dataset: {name: value} · value, checked, selected, disabled, open, … : as properties where there is one ·
             true: attribute without value · null, undefined, false: left out
             (but aria-* and data-*: false is written "false") · ref: called with the element
     children  strings, numbers, nodes, lists of them; null, undefined, false: left out
   clear(node, ...children)      takes everything out, puts the children in; returns the node
   empty(text, ...more)          nothing to show here
   failure(error, retry?)        what went wrong, with a button if there is `retry`. If the proxy does not answer, `retry` is
                                 called by itself once it does, as long as this is still shown
   loading(text?)                something is on its way
   announce(text)                for screen readers, politely
   unique(prefix)                an id for label and input */

import { onReach } from "./api.js";
import { t } from "./i18n.js";

const SVG = "http://www.w3.org/2000/svg";

export const h = (tag, props, ...children) => build(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => build(document.createElementNS(SVG, tag), props, children);

function build(element, props, children) {
  if (isChild(props)) {
    children.unshift(props);
    props = null;
  }
  put(element, children); // before the properties: a select has its value only once it has its options
  for (const [name, value] of Object.entries(props ?? {})) set(element, name, value);
  return element;
}

const isChild = (value) => typeof value === "string" || typeof value === "number" || value instanceof Node || Array.isArray(value);

function set(element, name, value) {
  if (name === "ref") return value(element);
  if (name.startsWith("on") && typeof value === "function") return element.addEventListener(name.slice(2).toLowerCase(), value);
  if (name.startsWith("aria-") || name.startsWith("data-")) {
    if (value !== null && value !== undefined) element.setAttribute(name, String(value));
    return undefined;
  }
  if (value === null || value === undefined || value === false) return undefined;
  if (name === "class") {
    const classes = Array.isArray(value) ? value.filter(Boolean).join(" ") : value;
    if (classes) element.setAttribute("class", classes);
  } else if (name === "style") {
    for (const [property, given] of Object.entries(value)) element.style.setProperty(property, String(given));
  } else if (name === "dataset") {
    Object.assign(element.dataset, value);
  } else if (["value", "checked", "selected", "disabled", "open", "indeterminate"].includes(name) && name in element) {
    element[name] = value;
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
  return undefined;
}

function put(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false && child !== true) element.append(child);
  }
}

export function clear(node, ...children) {
  node.replaceChildren();
  put(node, children);
  return node;
}

export const empty = (text, ...more) => h("div", { class: "empty" }, h("p", text), more);

export function failure(error, retry) {
  const isGone = error?.status === 0;
  const told = isGone ? t(retry ? "shell.unreachable.again" : "shell.unreachable") : error?.message || String(error);
  const shown = h(
    "div",
    { class: "failure", role: "alert" },
    h("p", h("strong", t("shell.failed")), " ", told),
    retry && h("button", { class: "btn", type: "button", onclick: retry }, t("shell.retry")),
  );
  if (isGone && retry) {
    const end = onReach((answers) => {
      if (!answers && shown.isConnected) return;
      end();
      if (shown.isConnected) retry({ target: shown.querySelector("button") });
    });
  }
  return shown;
}

export const loading = (text) =>
  h("div", { class: "loading", role: "status" }, h("span", { class: "loading-mark", "aria-hidden": "true" }), text ?? t("shell.loading"));

export function announce(text) {
  const region = document.getElementById("announcer");
  if (region) region.textContent = text;
}

let made = 0;
export const unique = (prefix = "id") => `${prefix}-${++made}`;
