/* Memory with a model's help: what the model did, what was kept or refused and why, what it cost and what was saved
   meanwhile, and what happened day by day. */

import dictionary from "../i18n/jobs.js";
import { api } from "../lib/api.js";
import { announce, clear, empty, failure, h } from "../lib/dom.js";
import { chips, dialog, field } from "../lib/form.js";
import { count, moment, money, percent, time } from "../lib/format.js";
import { register, t, tn } from "../lib/i18n.js";
import { badge, stat, tick, when } from "../lib/parts.js";
import { href } from "../lib/route.js";
import { scope, scopeLabel, scopes } from "../lib/store.js";
import { diary } from "./jobs_diary.js";
import { details, reason } from "./jobs_lines.js";

register(dictionary);
export const title = "jobs.title";

const PAGE = 50;
const MOST_SESSIONS = 100; // to choose from
const STATES = ["waiting", "running", "answered", "done", "given-up"];
const KINDS = { waiting: null, running: "accent", answered: "accent", done: "quiet", "given-up": "danger" };

export async function show(root, ctx) {
  const { id } = ctx.params;
  const only = id ? await api.get(`jobs/${encodeURIComponent(id)}`, {}, { signal: ctx.signal }) : null;
  const spending = await api.get("jobs/spend", { scope: scope() }, { signal: ctx.signal });
  const trouble = h("div");
  const shown = h("span", { class: "muted small", role: "status", tabindex: "-1" });
  const jobs = only ? oneJob(only, ctx) : list(ctx, trouble, shown);
  const read = spending.model && !only && h("button", { class: "btn btn-primary", type: "button", onclick: () => ask(ctx, jobs.read) }, t("jobs.run"));
  if (!only) await jobs.read();
  clear(
    root,
    h("div", { class: "view-head" }, h("h1", t("jobs.title")), shown, read),
    !spending.model && h("p", { class: "callout" }, t("jobs.nomodel")),
    trouble,
    only ? null : figures(spending),
    only && h("p", { class: "callout spread" }, h("span", t("jobs.only", { id })), h("a", { href: href("jobs") }, t("jobs.all"))),
    h("section", { class: "panel" }, jobs.element),
    !only && (await diary(ctx)),
  );
  ctx.onLeave(tick(root));
}

function figures({ model, scope: of, today, scope_today: theirs, scope_30_days: lately, saved_30_days: saved, net_30_days: net }) {
  const limit = model && t("jobs.spend.limit", { limit: money(model.per_day) });
  const share = model && t("jobs.spend.share", { share: percent(model.max_share), allowance: money(model.allowance) });
  return h(
    "section",
    { class: "stack" },
    h("h2", { class: "sr-only" }, t("jobs.spend")),
    h(
      "dl",
      { class: "stats" },
      stat(t("jobs.spend.today"), money(today), limit),
      of && stat(t("jobs.spend.theirs"), money(theirs), scopeLabel(of)),
      stat(t("jobs.spend.lately"), money(lately), share),
      stat(t("jobs.saved"), money(saved), t("jobs.saved.what"), { kind: saved > 0 ? "good" : null }),
      stat(t("jobs.net"), money(net), t("jobs.net.what"), { kind: net > 0 ? "good" : net < 0 ? "danger" : null }),
    ),
    model && h("p", { class: "hint" }, t("jobs.model", { model: model.model, upstream: model.upstream })),
  );
}

// --- the list ------------------------------------------------------------------------------------------------------

function list(ctx, trouble, shown) {
  let jobs = [];
  let next = null;
  let state = "";
  const lines = h("ol", { class: "lines" });
  const foot = h("div", { class: "more" });
  const pick = (value) => {
    state = value;
    read().catch((error) => ctx.signal.aborted || clear(trouble, failure(error)));
  };
  const filter = chips({
    label: t("jobs.filter"),
    chosen: "",
    pick,
    options: ["", ...STATES].map((value) => ({ value, text: t(`jobs.state.${value || "all"}`) })),
  });

  async function older(before) {
    const wanted = state;
    const found = await api.get("jobs", { scope: scope(), state, before, limit: PAGE }, { signal: ctx.signal });
    if (wanted !== state) return; // another filter was chosen meanwhile
    jobs = before === null ? found.jobs : [...jobs, ...found.jobs];
    next = found.next;
    draw();
  }

  function read() {
    clear(trouble);
    return older(null);
  }

  function draw() {
    shown.textContent = tn("jobs.shown", jobs.length, { n: count(jobs.length) });
    clear(lines, jobs.map((job) => line(job, ctx)));
    const more = async (event) => {
      event.target.disabled = true;
      try {
        await older(next);
      } catch (error) {
        if (!ctx.signal.aborted) clear(foot, failure(error, draw));
      }
    };
    clear(
      foot,
      !jobs.length && (state ? empty(t("jobs.nothing")) : empty(t("jobs.none"), h("p", { class: "muted" }, t("jobs.none.how")))),
      next !== null && h("button", { class: "btn btn-small", type: "button", onclick: more }, t("shell.more")),
    );
  }

  return { element: [h("div", { class: "toolbar jobs-tools" }, filter.element), lines, foot], read };
}

function oneJob({ job, lines }, ctx) {
  return { element: h("ol", { class: "lines" }, line(job, ctx, lines)) };
}

/** A job; `lines`: its lines, where they are shown at once. */
function line(job, ctx, lines = null) {
  const head = h("div", { class: "line-head" });
  const results = h("span", { class: "row" });
  const told = (now) => clear(results, counts(now));
  told(job);
  clear(
    head,
    badge(t(`jobs.is.${job.state}`), KINDS[job.state]),
    h("strong", t(`jobs.kind.${job.kind}`)),
    subject(job),
    job.reason && h("span", reason(job.reason)),
    h("span", { class: "end" }, results, job.spent > 0 && h("span", money(job.spent)), moved(job), h("a", { href: href("jobs", job.id) }, t("jobs.job", { id: job.id }))),
  );
  return h("li", { dataset: { job: job.id } }, head, details(job, ctx, { lines, changed: told, whose: whose(job) }));
}

function subject(job) {
  if (job.session) return h("a", { class: "quiet break", href: href("session", job.session, { scope: job.scope.split("~")[0] }) }, job.session);
  return job.subject ? h("span", { class: "tag" }, job.subject) : null;
}

const whose = (job) => !scope() && scopes().length > 1 && scopeLabel(job.scope);

const counts = (job) => [
  job.kept > 0 && badge(tn("jobs.kept", job.kept), "accent"),
  job.refused > 0 && badge(tn("jobs.refused", job.refused), "warn"),
  job.undone > 0 && badge(tn("jobs.undone", job.undone)),
];

/** When it was done, or is due. */
function moved(job) {
  if (job.done_at !== null) return when(job.done_at);
  return job.due_at * 1000 > Date.now() ? h("span", t("jobs.due"), " ", h("time", { title: moment(job.due_at) }, time(job.due_at))) : when(job.created_at);
}

// --- a conversation is read now ------------------------------------------------------------------------------------

async function ask(ctx, read) {
  const { sessions } = await api.get("sessions", { scope: scope(), limit: MOST_SESSIONS }, { signal: ctx.signal }).catch(() => ({ sessions: [] }));
  if (!sessions.length) {
    await dialog({ title: t("jobs.run.title"), body: h("p", t("jobs.run.none")), signal: ctx.signal });
    return;
  }
  const named = (card) => (!scope() && scopes().length > 1 ? `${card.session} (${scopeLabel(card.scope)})` : card.session);
  const options = sessions.map((card, at) => h("option", { value: at }, named(card)));
  const run = (form) => {
    const { scope: of, session } = sessions[Number(form.get("session"))];
    return api.post("jobs", { scope: of, kind: "extract", subject: session }, { signal: ctx.signal });
  };
  const body = field(t("jobs.run.session"), h("select", { class: "select", name: "session" }, options), t("jobs.run.hint"));
  const answer = await dialog({ title: t("jobs.run.title"), body, action: t("jobs.run"), run, signal: ctx.signal });
  if (answer) {
    await read().catch(() => {});
    announce(t("jobs.run.said"));
  }
}
