"""Does the prompt hold what the question needs, and what does it cost? The whole proxy, over HTTP.

    python -m tests.bench.context [--quick] [--only PART] [--json FILE] [--plot FILE.svg]

Evidence and answers are looked for in the prompt that the upstream receives; the same prompt is priced. Ends with 1 if
a row misses what it must reach.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from proxy.config.upstreams import UNPRICED
from tests.bench import context_cost, context_data, context_recall, context_speed, context_validity
from tests.bench.bypass import wilson
from tests.bench.context_cost import Course
from tests.bench.context_data import Conversation
from tests.bench.context_recall import ADVERSARIAL, Answer
from tests.bench.context_replay import Provider, provider
from tests.bench.reuse_data import FOLDER

RATIOS = (0.1, 0.17, 0.25, 0.5, 1.0)
USUAL = 0.17
SHORT = {"lean": {"budget": 1_500, "window": {"tokens": 600}}}  # for conversations of 35 turns
SOURCES = ("locomo", "beam", "authored", "agents", "tau", "swe")
UPSTREAMS = (
    Provider("kimi", "kimi", USUAL, "hits", USUAL),
    Provider("generic, a cached price and no report", "generic", USUAL, "nothing", USUAL),
    Provider("generic, a cached price and reports of none", "generic", USUAL, "misses", 1.0),
    Provider("generic, no price and no report", "generic", None, "nothing", UNPRICED),
    # With the profile of its example: at its prices no hard budget of 4,000 tokens pays.
    Provider(
        "OpenAI since GPT-5.6 (dearer writes, breakpoints), balanced",
        "openai",
        0.1,
        "nothing",
        0.1,
        write=1.25,
        minimum=1_024,
        breakpoints=True,
        model="gpt-6-sol",
        profile="balanced",
    ),
)
BUDGETS = (1_000, 2_000, 4_000)
QUICK = 3  # one conversation in so many, of those that are many
PLOTTED = "100K/5"
LEVELS = ("lean", "conversation", "conversation-short", "conversation-long", "conversation-few-workers")
PARTS = ("speed", "recall", "cost", "upstreams", "validity", "profiles")


class Row(msgspec.Struct, frozen=True):
    """`must` and `aim` are lower limits of a share that is good, upper ones of all else."""

    name: str
    value: float
    n: int
    must: float | None = None
    aim: float | None = None
    is_good: bool = False
    bound: float | None = None  # 95 %, Wilson, on the side that hurts
    note: str = ""

    @property
    def has_failed(self) -> bool:
        return self.must is not None and (self.value < self.must if self.is_good else self.value > self.must)


class Section(msgspec.Struct, frozen=True):
    title: str
    rows: list[Row]


def recall_rows(*, quick: bool) -> list[Section]:
    talks, chats, told = context_data.locomo(), context_data.beam(), context_data.authored()
    rows = []
    musts = {1_000: (0.80, 0.90), 2_000: (0.87, 0.95), 4_000: (0.92, 0.97)}
    for budget in BUDGETS:
        _tell(f"LoCoMo at {budget}")
        answers = context_recall.asked(talks[: 1 if quick else None], told=False, profiles={"lean": {"budget": budget}})
        rows.append(_share(f"LoCoMo evidence at {budget:,} tokens", answers, *musts[budget]))
        if budget == BUDGETS[-1]:
            rows.append(_share("— multi-hop", [a for a in answers if a.question.kind == "1"], 0.75, 0.90))
            rows.append(
                _share("— without the adversarial ones", [a for a in answers if a.question.kind != ADVERSARIAL])
            )
        rows += [_recalled(answers), *_baseline(talks, budget)]
    _tell("BEAM")
    answers = context_recall.asked(chats[: 2 if quick else None], told=False)
    rows.append(_share("BEAM-100K evidence at 4,000 tokens", answers, 0.80, 0.92))
    rows += [_recalled(answers), *_baseline(chats, BUDGETS[-1])]
    _tell("authored conversations")
    answers = context_recall.asked(told, told=True, profiles=SHORT)
    newest = [a for a in answers if a.question.kind == "updated_fact"]
    rows += [
        _share("authored, answers at 1,500 tokens", answers, 0.92, 0.98),
        _share("— Spanish", [a for a in answers if a.lang == "es"]),
        _share("— newest value", newest, 0.95, 0.99),
        _recalled(answers),
        Row("— outdated value alone", _of(a.outdated for a in newest), len(newest), 0.02, 0.0),
    ]
    _tell("conversations that nobody tuned on")
    answers = context_recall.asked(context_data.unseen(), told=True, profiles=SHORT)
    rows += [
        _share("unseen, answers at 1,500 tokens", answers, 0.94, 0.98),
        _share("— Spanish", [a for a in answers if a.lang == "es"]),
        _share("— newest value", [a for a in answers if a.question.kind == "updated_fact"], 0.96, 0.99),
        _recalled(answers),
    ]
    return [Section("Evidence in the prompt", rows)]


def _baseline(conversations: Sequence[Conversation], budget: int) -> list[Row]:
    """The newest messages that fit into the same budget, and nothing else."""
    found = [
        context_recall.in_window(conversation, question, budget)
        for conversation in conversations
        for question in conversation.questions
    ]
    return [Row(f"— a sliding window of {budget:,} tokens", sum(found) / len(found), len(found))]


def cost_rows(*, quick: bool) -> tuple[list[Section], list[Course]]:
    conversations = _some(context_data.everything(), quick=quick)
    sections, plotted = [], []
    for ratio in RATIOS:
        _tell(f"{len(conversations)} conversations at r = {ratio:g}")
        courses = context_cost.courses(conversations, provider(ratio))
        plotted += [course for course in courses if course.conversation == PLOTTED and ratio == USUAL]
        rows = [
            row
            for source in SOURCES
            if (of := [course for course in courses if course.source == source])
            for row in _costs(source, of, ratio)
        ]
        sections.append(Section(f"Cost against pass-through, r = {ratio:g}", rows))
        if ratio == USUAL:
            sections.append(Section("Size and gate", [*_sizes(courses), _gate(courses)]))
    return sections, plotted


def upstream_rows(*, quick: bool) -> list[Section]:
    """Whatever the upstream is, and whatever is known of it."""
    conversations = _some(context_data.everything(), quick=quick)
    sections = []
    for each in UPSTREAMS:
        _tell(f"{len(conversations)} conversations, {each.name}")
        courses = context_cost.courses(conversations, each)
        rows = [
            row
            for source in SOURCES
            if (of := [course for course in courses if course.source == source])
            for row in _bounded(source, of)
        ]
        sections.append(Section(f"Cost against pass-through, {each.name}", rows))
    return sections


def profile_rows(*, quick: bool) -> list[Section]:
    """Each profile with a budget: evidence of LoCoMo in the prompt, and the cost of long conversations."""
    talks, sections = context_data.locomo(), []
    for profile in LEVELS:
        _tell(f"profile {profile}")
        answers = context_recall.asked(talks[: 1 if quick else None], told=False, context={"profile": profile})
        rows = [
            _share("LoCoMo evidence", answers),
            _recalled(answers),
            Row("— largest prompt, tokens", max(answer.tokens for answer in answers), len(answers)),
        ]
        like = provider(USUAL)
        managed = replace(like, profile=profile)
        long = [*talks[: 1 if quick else 3], *context_data.beam()[: 1 if quick else 2]]
        courses = context_cost.courses([*long, *_some(context_data.authored(), quick=quick)], managed)
        for source in ("locomo", "beam", "authored"):
            if of := [course for course in courses if course.source == source]:
                rows += _bounded(source, of)
        sections.append(Section(f"Profile `{profile}`, r = {USUAL:g}", rows))
    return sections


def _costs(source: str, courses: Sequence[Course], ratio: float) -> list[Row]:
    rows = _bounded(source, courses)
    for tokens, must, aim in ((15_000, 0.5, 0.35), (50_000, 0.25, 0.12)):
        beyond = [share for course in courses if (share := course.beyond(tokens)) is not None]
        if beyond:
            limits = (must, aim) if ratio == USUAL else (None, None)
            rows.append(Row(f"{source}: history beyond {tokens:,}", max(beyond), len(beyond), *limits))
    return rows


def _bounded(source: str, courses: Sequence[Course]) -> list[Row]:
    whole, worst = max(courses, key=lambda c: c.whole), max(courses, key=lambda c: c.worst)
    mean = sum(course.whole for course in courses) / len(courses)
    slid = sum(course.sliding for course in courses) / len(courses)
    n = len(courses)
    return [
        Row(f"{source}: whole, dearest conversation", whole.whole, n, 1.02, 1.0, note=whole.conversation),
        Row(f"{source}: whole, mean", mean, n, note=f"sliding window {slid:.2f}"),
        Row(f"{source}: worst point on the way", worst.worst, n, 1.10, 1.05, note=worst.conversation),
    ]


def _sizes(courses: Sequence[Course]) -> list[Row]:
    long = [course for course in courses if course.source in ("locomo", "beam")]
    lean = [step for course in long for step in course.steps if not step.plan.startswith("over-budget")]
    slopes = [course.slope for course in long]
    return [
        Row("tokens that a prompt grows by a request after the 20th, mean", sum(slopes) / len(slopes), len(slopes)),
        Row("largest prompt, tokens", max(step.ours for step in lean), len(lean), 4_000),
        Row(
            "requests whose newest turn alone is over the budget",
            float(sum(step.plan.startswith("over-budget") for course in long for step in course.steps)),
            sum(len(course.steps) for course in long),
        ),
        Row(
            "requests that failed open",
            float(sum(step.plan.startswith("fail-open") for course in courses for step in course.steps)),
            sum(len(course.steps) for course in courses),
            0,
        ),
    ]


def _gate(courses: Sequence[Course]) -> Row:
    steps = [step for course in courses if course.source in ("locomo", "beam") for step in course.steps if step.folded]
    return Row("ordinary turns with recall", _of(step.recalled for step in steps), len(steps), 0.08, 0.03)


def speed_rows(*, quick: bool) -> Section:
    _tell("speed")
    short, long, asked, briefly, early, late = context_speed.measured(40 if quick else context_speed.SAMPLES)
    return Section(
        "Planning, milliseconds",
        [
            Row("20 turns, median", short.median, len(short.milliseconds), 8),
            Row("— another question after the same turns, median", briefly.median, len(briefly.milliseconds), 8),
            Row("600 messages, median", long.median, len(long.milliseconds)),
            Row("600 messages, p99", long.p99, len(long.milliseconds), 25),
            Row("— another question after the same messages, p99", asked.p99, len(asked.milliseconds), 25),
            Row("turn 2,000 against turn 100, median", late.median / early.median, len(late.milliseconds), 1.5),
            Row("— CPU of the whole request, history and all", late.cpu / early.cpu, len(late.milliseconds)),
        ],
    )


def _measured(only: str | None, *, quick: bool) -> tuple[list[Section], list[Course]]:
    sections: list[Section] = []
    plotted: list[Course] = []
    if only in (None, "speed"):
        sections.append(speed_rows(quick=quick))
    if only in (None, "recall"):
        sections += recall_rows(quick=quick)
    if only in (None, "cost"):
        costs, plotted = cost_rows(quick=quick)
        sections += costs
    if only in (None, "upstreams"):
        sections += upstream_rows(quick=quick)
    if only == "profiles":
        sections += profile_rows(quick=quick)
    if only in (None, "validity"):
        sections.append(validity_rows())
    return sections, plotted


def validity_rows() -> Section:
    _tell("validity")
    rows = [
        Row(name, violations, n, None if name == context_validity.UNCHANGED else 0)
        for name, n, violations in context_validity.rows()
    ]
    return Section("Requests that an upstream would refuse, and words of other scopes", rows)


def _some(conversations: Iterable[Conversation], *, quick: bool) -> list[Conversation]:
    found = list(conversations)
    return found[::QUICK] if quick else found


def _share(name: str, answers: Sequence[Answer], must: float | None = None, aim: float | None = None) -> Row:
    value, n = context_recall.mean(answers), len(answers)
    return Row(name, value, n, must, aim, is_good=True, bound=wilson(round(value * n), n)[0])


def _recalled(answers: Sequence[Answer]) -> Row:
    return Row("— recalled tokens, mean", sum(answer.recalled for answer in answers) / len(answers), len(answers))


def _of(flags: Iterable[bool]) -> float:
    every = list(flags)
    return sum(every) / len(every) if every else 0.0


def _tell(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr)


def table(sections: Sequence[Section]) -> str:
    lines = []
    for section in sections:
        lines += [f"\n**{section.title}**\n", "| | measured | n | must | aim |", "|---|---|---|---|---|"]
        for row in section.rows:
            value = f"{row.value:.1%}" if row.is_good else f"{row.value:.3g}"
            value += f" (≥ {row.bound:.1%})" if row.bound is not None else ""
            value += f" ({row.note})" if row.note else ""
            limits = [_limit(row, limit) for limit in (row.must, row.aim)]
            mark = " **missed**" if row.has_failed else ""
            lines.append(f"| {row.name} | {value}{mark} | {row.n:,} | {limits[0]} | {limits[1]} |")
    return "\n".join(lines)


def _limit(row: Row, limit: float | None) -> str:
    if limit is None:
        return ""
    return f"≥ {limit:.0%}" if row.is_good else f"≤ {limit:g}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a part of the conversations")
    parser.add_argument("--only", choices=PARTS, help="one part of it")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    if not FOLDER.is_dir():
        print("no evaluation data: set OLVIDO_EVAL_DATA", file=sys.stderr)
        return 0
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sections, plotted = _measured(options.only, quick=options.quick)
    print(table(sections))
    if options.json:
        options.json.write_bytes(msgspec.json.encode(sections))
    if options.plot and plotted:
        from tests.bench import context_plot

        context_plot.draw(plotted[0], options.plot)
    return int(any(row.has_failed for section in sections for row in section.rows))


if __name__ == "__main__":
    sys.exit(main())
