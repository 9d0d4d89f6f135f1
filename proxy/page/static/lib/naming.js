/* A dialog that gives the chosen scope a name.

   nameDialog(scope, {label, alias, save(alias)})   opens it; `label`: what the scope is called without an alias */

import { clear, failure, h, unique } from "./dom.js";
import { register, t } from "./i18n.js";

register({
  en: {
    "naming.title": "Name this scope",
    "naming.what": "A name for people, on this page alone. Memory and accounts stay as they are.",
    "naming.name": "Name",
    "naming.save": "Save",
  },
  es: {
    "naming.title": "Nombrar este ámbito",
    "naming.what": "Un nombre para personas, sólo en esta página. La memoria y las cuentas quedan como están.",
    "naming.name": "Nombre",
    "naming.save": "Guardar",
  },
});

export function nameDialog(scope, { alias, save }) {
  const id = unique("alias");
  const heading = unique("naming");
  const wrong = h("div");
  const input = h("input", { class: "input", id, maxlength: "80", value: alias ?? "", autocomplete: "off" });
  const submit = async (event) => {
    event.preventDefault();
    try {
      await save(input.value.trim());
      dialog.close();
    } catch (error) {
      clear(wrong, failure(error));
    }
  };
  const dialog = h(
    "dialog",
    { class: "dialog", "aria-labelledby": heading },
    h(
      "form",
      { class: "form", onsubmit: submit },
      h("h2", { id: heading }, t("naming.title")),
      h("p", { class: "muted small" }, t("naming.what")),
      h("div", { class: "field" }, h("label", { for: id }, t("naming.name")), input, h("span", { class: "hint mono break" }, scope)),
      wrong,
      h("div", { class: "row" }, h("button", { class: "btn btn-primary", type: "submit" }, t("naming.save")), h("button", { class: "btn", type: "button", onclick: () => dialog.close() }, t("shell.cancel"))),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  input.select();
}
