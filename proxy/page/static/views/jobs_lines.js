/* The lines of a job: what the model proposed, the words it rests on, what came of it, and its undoing.

   details(job, ctx, {lines, changed, whose}) -> element   read once they are opened; `lines`: open, with these
     changed(job)   something was undone: the job as it is now
   reason(name)     a reason of the proxy's in words, or as it is */

import { api, isAborted } from "../lib/api.js";
import { announce, clear, failure, h, loading } from "../lib/dom.js";
import { count, moment, money } from "../lib/format.js";
import { has, t } from "../lib/i18n.js";
import { badge } from "../lib/parts.js";
import { href } from "../lib/route.js";

const RESULTS = { kept: "accent", refused: "warn", undone: null };

export const reason = (name) => (has(`jobs.reason.${name}`) ? t(`jobs.reason.${name}`) : name);

export function details(job, ctx, { lines = null, changed, whose }) {
  const box = h("div", { class: "stack" });
  let isRead = lines !== null;

  function draw(now, found) {
    clear(box, facts(now, whose), found.length ? h("ol", { class: "job-lines" }, found.map((line) => shown(line, now, undo))) : h("p", { class: "muted" }, t("jobs.nolines")));
  }

  async function read() {
    clear(box, loading());
    try {
      const found = await api.get(`jobs/${job.id}`, {}, { signal: ctx.signal });
      isRead = true;
      changed(found.job);
      draw(found.job, found.lines);
    } catch (error) {
      if (!isAborted(error)) clear(box, failure(error, read));
    }
  }

  /** Throws what went wrong. */
  async function undo(line) {
    const found = await api.post(`jobs/${job.id}/undo`, { fact: line.fact }, { signal: ctx.signal });
    changed(found.job);
    draw(found.job, found.lines);
    box.querySelector(`[data-fact="${CSS.escape(line.fact)}"]`)?.focus();
    announce(t("jobs.said.undone"));
  }

  if (isRead) draw(job, lines);
  const ontoggle = ({ target }) => target.open && !isRead && read();
  return h("details", { open: lines !== null, ontoggle }, h("summary", { class: "small" }, t("jobs.lines")), box);
}

function facts(job, whose) {
  const rows = [
    ["jobs.whose", whose],
    ["jobs.armed", moment(job.created_at)],
    ["jobs.due", job.done_at === null && moment(job.due_at)],
    ["jobs.done", job.done_at !== null && moment(job.done_at)],
    ["jobs.attempts", job.attempts > 0 && count(job.attempts)],
    ["jobs.askedof", job.model],
    ["jobs.prompt", job.prompt && h("span", { class: "mono" }, job.prompt)],
    ["jobs.cost", job.spent > 0 && money(job.spent)],
  ];
  return h("dl", { class: "facts-list" }, rows.filter(([, value]) => value).map(([name, value]) => [h("dt", t(name)), h("dd", value)]));
}

function shown(line, job, undo) {
  const op = line.op ?? "none";
  return h(
    "li",
    { class: line.result === "kept" ? null : "is-past", dataset: line.fact ? { fact: line.fact } : {}, tabindex: line.fact ? "-1" : null },
    h(
      "div",
      { class: "line-head" },
      badge(t(`jobs.result.${line.result}`), RESULTS[line.result]),
      h("strong", has(`jobs.op.${op}`) ? t(`jobs.op.${op}`) : op),
      line.domain && h("span", { class: "tag" }, line.domain),
      line.key && h("span", { class: "break" }, line.key),
      line.reason && h("span", reason(line.reason)),
      h("span", { class: "end" }, place(line, job), line.can_undo && undoing(line, undo)),
    ),
    line.value && h("p", { class: "fact-value" }, line.value),
    line.quote && h("figure", h("blockquote", { class: "quoted" }, line.quote)),
  );
}

const place = (line, job) =>
  line.turn !== null && (job.session ? h("a", { href: href("session", job.session, { scope: job.scope.split("~")[0] }) }, t("jobs.turn", { n: line.turn })) : h("span", t("jobs.turn", { n: line.turn })));

function undoing(line, undo) {
  const trouble = h("span", { class: "bad", role: "alert" });
  const act = async (event) => {
    event.target.disabled = true;
    try {
      await undo(line);
    } catch (error) {
      event.target.disabled = false;
      if (!isAborted(error)) trouble.textContent = error.message;
    }
  };
  const label = line.key ? `${t("jobs.undo")}: ${line.key}` : t("jobs.undo");
  return [trouble, h("button", { class: "btn btn-small", type: "button", "aria-label": label, onclick: act }, t("jobs.undo"))];
}
