/* What is filled in and chosen from.

   field(label, control, hint?)   label, control (an input, select or textarea) and what to know, tied together
   chips({label, options: [{value, text}], chosen, pick}) -> {element, count(numbers)}
                                  one of several; count({value: n}) writes how many there are of each
   dialog({title, body, action, kind, run, signal})   a question over the page; Escape and Cancel close it
     action   the word on the button that does it; without one the dialog only shows something
     kind     of that button: primary | danger
     run      (FormData) -> promise: what it does. What it throws is shown, and can be tried again
     signal   the view's: what is open ends with it
     returns  a promise of what `run` returned; undefined if it was not done */

import { isAborted } from "./api.js";
import { clear, failure, h, unique } from "./dom.js";
import { t } from "./i18n.js";

export function field(label, control, hint) {
  control.id ||= unique("field");
  const told = hint && h("span", { class: "hint", id: `${control.id}-hint` }, hint);
  if (told) control.setAttribute("aria-describedby", told.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, told);
}

export function chips({ label, options, chosen, pick }) {
  const made = options.map(({ value, text }) => {
    const n = h("span", { class: "muted" });
    const choose = () => {
      for (const each of made) each.button.setAttribute("aria-pressed", String(each.value === value));
      pick(value);
    };
    return { value, n, button: h("button", { class: "chip", type: "button", "aria-pressed": value === chosen, onclick: choose }, text, n) };
  });
  return {
    element: h("div", { class: "chips", role: "group", "aria-label": label }, made.map((each) => each.button)),
    count(numbers) {
      for (const each of made) each.n.textContent = numbers[each.value] ?? 0;
    },
  };
}

export function dialog({ title, body, action, kind = "primary", run, signal }) {
  const heading = h("h2", { id: unique("dialog") }, title);
  const trouble = h("div");
  const submit = action && h("button", { class: ["btn", `btn-${kind}`], type: "submit" }, action);
  let answer;

  async function go(event) {
    event.preventDefault();
    if (!run) return element.close();
    submit.disabled = true;
    clear(trouble);
    try {
      answer = await run(new FormData(event.target));
      element.close();
    } catch (error) {
      if (isAborted(error)) return undefined;
      submit.disabled = false;
      clear(trouble, failure(error));
    }
    return undefined;
  }

  const leave = h("button", { class: "btn", type: "button", onclick: () => element.close() }, t(action ? "shell.cancel" : "shell.close"));
  const element = h(
    "dialog",
    { class: "dialog", "aria-labelledby": heading.id },
    h("form", { class: "form", onsubmit: go }, heading, body, trouble, h("div", { class: "dialog-foot" }, leave, submit)),
  );
  document.body.append(element);
  element.showModal();
  return new Promise((resolve) => {
    const left = () => element.close();
    signal.addEventListener("abort", left);
    element.addEventListener("close", () => {
      signal.removeEventListener("abort", left);
      element.remove();
      resolve(answer);
    });
  });
}
