/* Sections and documents of a desk, for a person to read and to edit.

   sections(desk, at)    documents(desk, at)     each a panel
     desk   as the proxy tells it
     at     {whose, signal, done(said, focus)}: session and scope; what shows the desk anew */

import { api, isAborted } from "../lib/api.js";
import { announce, clear, failure, h, loading } from "../lib/dom.js";
import { dialog, field } from "../lib/form.js";
import { count } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { badge, when } from "../lib/parts.js";
import { passage } from "../lib/passage.js";
import { acts, named, panel } from "./desk_parts.js";

export const sections = (desk, at) =>
  panel("sections", null, h("ul", { class: "desk-list" }, desk.sections.map((each) => section(each, desk, at))));

function section(each, desk, at) {
  const size = t("desk.section.size", { tokens: count(each.tokens), limit: count(each.limit) });
  return h(
    "li",
    { class: "desk-item" },
    h(
      "div",
      { class: "spread" },
      h("h3", named(`desk.section.${each.section}`, each.section), " ", h("code", { class: "tag" }, each.name)),
      h("span", { class: "muted small" }, size, written(each)),
    ),
    each.text ? h("div", passage(each.text)) : each.version === 0 || each.is_removed || each.tokens === 0 ? h("p", { class: "muted small" }, t("desk.section.empty")) : null,
    desk.show_content && desk.is_kept && acts([editing(each, at, "sections")]),
  );
}

export const documents = (desk, at) =>
  panel(
    "documents",
    null,
    desk.documents.length
      ? h("ul", { class: "desk-list" }, desk.documents.map((each) => entry(each, desk, at)))
      : h("p", { class: "panel-body muted" }, t("desk.documents.none")),
  );

function entry(each, desk, at) {
  const text = h("div", { class: "stack" });
  const read = async () => {
    clear(text, loading());
    try {
      const found = await api.get("desk/document", { ...at.whose, name: each.name }, { signal: at.signal });
      clear(text, found.text ? h("div", passage(found.text)) : null, found.older.length > 0 && older(found.older));
    } catch (error) {
      if (!isAborted(error)) clear(text, failure(error, read));
    }
  };
  return h(
    "li",
    { class: "desk-item" },
    h(
      "details",
      { ontoggle: ({ target }) => target.open && !text.hasChildNodes() && read() },
      h(
        "summary",
        h("code", { class: "break" }, each.name),
        " ",
        h("span", { class: "muted small" }, each.is_removed ? t("desk.removed") : t("desk.size", { tokens: count(each.tokens) }), written(each)),
      ),
      text,
    ),
    desk.show_content && acts([editing(each, at, "documents")]),
  );
}

const older = (versions) => [
  h("h3", t("desk.document.older")),
  h("ul", { class: "small" }, versions.map((each) => h("li", t("desk.document.version", { n: count(each.version) }), written(each), each.is_removed && [" ", badge(t("desk.removed"), "quiet")]))),
];

const written = ({ at, by }) => by && [" · ", t("desk.by", { by: named(`desk.by.${by}`, by) }), ", ", when(at)];

const editing = (each, at, where) => ({
  text: t("desk.edit"),
  name: t("desk.edit.name", { name: each.name }),
  data: { edit: each.name },
  run: () => edit(each, at, where),
});

/** Asked anew, whole: what is shown may be cut, or older than what is kept. */
async function edit({ name, limit }, at, where) {
  const found = await api.get("desk/document", { ...at.whose, name }, { signal: at.signal });
  const area = h("textarea", { class: "textarea mono desk-text", rows: 14, value: found.text });
  const hint = limit ? t("desk.edit.hint", { limit: count(limit) }) : t("desk.edit.hint.document");
  const wrote = await dialog({
    title: t("desk.edit.name", { name }),
    body: field(t("desk.edit.text"), area, hint),
    action: t("desk.edit.save"),
    run: () => api.post("desk/document", { ...at.whose, name, version: found.version, text: area.value }, { signal: at.signal }),
    signal: at.signal,
  });
  if (!wrote) return announce("");
  const became = wrote.is_removed ? "removed" : wrote.is_merged ? "merged" : "saved";
  return at.done(t(`desk.edit.${became}`, { name }), `#desk-${where}`);
}
