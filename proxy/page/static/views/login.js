/* The admin token, for a cookie. */

import dictionary from "../i18n/login.js";
import { api } from "../lib/api.js";
import { clear, h, unique } from "../lib/dom.js";
import { register, t } from "../lib/i18n.js";

register(dictionary);
export const title = "login.title";

export async function show(root, ctx) {
  if (ctx.me.is_admitted) {
    await ctx.entered(ctx.params.next);
    return;
  }
  if (!ctx.me.needs_token) {
    clear(root, h("div", { class: "panel login" }, h("div", { class: "panel-body stack" }, h("h1", t("login.title")), h("p", { class: "callout warn" }, t("login.forbidden")))));
    return;
  }
  const id = unique("token");
  const told = h("p", { class: "bad", id: `${id}-error`, role: "alert" });
  const input = h("input", { class: "input", id, name: "token", type: "password", required: true, autocomplete: "current-password", "aria-describedby": `${id}-hint ${id}-error` });
  const button = h("button", { class: "btn btn-primary", type: "submit" }, t("login.enter"));

  async function enter(event) {
    event.preventDefault();
    button.disabled = true;
    told.textContent = "";
    try {
      await api.post("login", { token: input.value }, { signal: ctx.signal });
    } catch (error) {
      if (ctx.signal.aborted) return;
      button.disabled = false;
      input.setAttribute("aria-invalid", "true");
      told.textContent = { 401: t("login.wrong"), 429: t("login.often") }[error.status] ?? (error.status === 0 ? t("shell.unreachable") : error.message);
      input.select();
      return;
    }
    await ctx.entered(ctx.params.next);
  }

  clear(
    root,
    h(
      "form",
      { class: "panel login", onsubmit: enter },
      h(
        "div",
        { class: "panel-body form" },
        h("h1", t("login.title")),
        h("p", { class: "muted" }, t("login.what")),
        h("div", { class: "field" }, h("label", { for: id }, t("login.token")), input, h("span", { class: "hint", id: `${id}-hint` }, t("login.hint"))),
        told,
        button,
      ),
    ),
  );
  input.focus();
}
