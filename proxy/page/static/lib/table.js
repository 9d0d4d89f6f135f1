/* A table that becomes a list of cards where it is narrow (below 640 px).

   table({columns, rows, caption, empty, rowClass, key, cards}) -> {element, set(rows), add(rows, {first})}
     columns   [{label, cell(row) -> node | string | list, num, head, wide, class}]
                 num: right-aligned figures · head: the row's header (one column) · wide: in a card, a line of its own
                 label may be "", if `name` says for screen readers what it is
     caption   what it shows, for screen readers; {visible: true} to show it
     empty     a node or text if there are no rows
     rowClass  (row) -> class or null
     cards     false: stays a table, for few narrow columns; "compact": cards without labels, by the view's own css
     key       (row) -> string: rows that are added again take the place of what was there
   set(rows)   shows these                 add(rows, {first: true, most: 50})   puts them in front, keeps `most` */

import { clear, empty as nothing, h } from "./dom.js";

export function table({ columns, rows = [], caption, visible = false, empty, rowClass, key, cards = true }) {
  const body = h("tbody", { role: "rowgroup" });
  const element = h("div", { class: "table-wrap" });
  const known = new Map();

  const cell = (column, row) => {
    const tag = column.head ? "th" : "td";
    const props = {
      role: column.head ? "rowheader" : "cell",
      scope: column.head ? "row" : null,
      class: [column.num && "num", column.wide && "wide", column.class],
      "data-label": column.label || column.name || "",
    };
    return h(tag, props, column.cell(row));
  };

  const made = (row) => {
    const line = h("tr", { role: "row", class: rowClass?.(row) }, columns.map((column) => cell(column, row)));
    if (key) {
      known.get(key(row))?.remove();
      known.set(key(row), line);
    }
    return line;
  };

  const head = h(
    "thead",
    { role: "rowgroup" },
    h(
      "tr",
      { role: "row" },
      columns.map((column) =>
        h(
          "th",
          { role: "columnheader", scope: "col", class: [column.num && "num", column.class] },
          column.label || h("span", { class: "sr-only" }, column.name ?? ""),
        ),
      ),
    ),
  );
  const whole = h(
    "table",
    { role: "table", class: ["table", cards && "table-cards", cards === "compact" && "table-compact"] },
    caption && h("caption", { class: visible ? null : "sr-only" }, caption),
    head,
    body,
  );

  function set(given) {
    known.clear();
    clear(body, given.map(made));
    shown();
  }

  function add(given, { first = false, most = Infinity } = {}) {
    const lines = given.map(made);
    if (first) body.prepend(...lines);
    else body.append(...lines);
    while (body.children.length > most) {
      const last = body.lastElementChild;
      for (const [name, line] of known) if (line === last) known.delete(name);
      last.remove();
    }
    shown();
    return lines;
  }

  function shown() {
    const none = !body.children.length && empty;
    clear(element, none ? (typeof empty === "string" ? nothing(empty) : empty) : whole);
  }

  // Where it has to scroll, keys must be able to scroll it.
  const scrolls = new ResizeObserver(() => {
    if (element.scrollWidth <= element.clientWidth) element.removeAttribute("tabindex");
    else element.tabIndex = 0;
  });
  scrolls.observe(element);
  set(rows);
  return { element, set, add };
}
