/* Light, dark, or what the system says.

   theme()          "auto" | "light" | "dark"        setTheme(wanted)
   onTheme(fn)      when colours change, by choice or by the system; returns what ends it
   color(name)      a custom property of app.css as the canvas needs it: color("--accent") -> "rgb(…)" */

const KEPT = "olvido.theme";
const watchers = new Set();
const system = matchMedia("(prefers-color-scheme: dark)");

export const theme = () => document.documentElement.dataset.theme ?? "auto";

export function setTheme(wanted) {
  if (wanted === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wanted;
  try {
    localStorage.setItem(KEPT, wanted);
  } catch {
    // then for this visit
  }
  told();
}

function told() {
  for (const fn of watchers) fn();
}

system.addEventListener("change", told);

export function onTheme(fn) {
  watchers.add(fn);
  return () => watchers.delete(fn);
}

export function color(name) {
  const probe = document.createElement("span");
  probe.hidden = true;
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
