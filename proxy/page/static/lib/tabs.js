/* Parts of a view that stand beside each other where there is room, and behind tabs where there is none.

   tabs({label, parts: [{name, text, panels: [element]}], chosen, pick, query}) -> {element, destroy}
     element   the list of tabs: to be put above the panels; hidden where there is room
     chosen    name of the part that is shown first         pick(name)   when another one is chosen
     query     the media query that says that there is none: by default below 960 px */

import { h, unique } from "./dom.js";

const NARROW = "(max-width: 959.98px)";
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

export function tabs({ label, parts, chosen = parts[0].name, pick = () => {}, query = NARROW }) {
  const narrow = matchMedia(query);
  let at = Math.max(0, parts.findIndex((part) => part.name === chosen));
  const buttons = parts.map((part, index) => {
    for (const panel of part.panels) panel.id ||= unique("panel");
    return h("button", { class: "tab", type: "button", role: "tab", id: unique("tab"), "aria-controls": part.panels.map((panel) => panel.id).join(" "), onclick: () => choose(index) }, part.text);
  });
  const element = h("div", { class: "tabs", role: "tablist", "aria-label": label, onkeydown: keyed }, buttons);

  function choose(index) {
    at = index;
    shown();
    pick(parts[at].name);
  }

  function keyed(event) {
    const goes = { Home: 0, End: parts.length - 1 };
    const to = event.key in STEPS ? (at + STEPS[event.key] + parts.length) % parts.length : goes[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
    buttons[at].focus();
  }

  function shown() {
    element.hidden = !narrow.matches;
    for (const [index, part] of parts.entries()) {
      buttons[index].setAttribute("aria-selected", String(index === at));
      buttons[index].tabIndex = index === at ? 0 : -1;
      for (const panel of part.panels) {
        panel.hidden = narrow.matches && index !== at;
        if (narrow.matches) {
          panel.setAttribute("role", "tabpanel");
          panel.setAttribute("aria-labelledby", buttons[index].id);
        } else {
          panel.removeAttribute("role");
          panel.removeAttribute("aria-labelledby");
        }
      }
    }
  }

  narrow.addEventListener("change", shown);
  shown();
  return { element, destroy: () => narrow.removeEventListener("change", shown) };
}
