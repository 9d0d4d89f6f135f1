"""How often reuse by intent gives the answer to another question, and how often it finds the one to the same.

    python -m tests.bench.reuse [--quick] [--json FILE] [--plot FILE.svg]
    python -m tests.bench.reuse --unseen        # the pairs of reuse_unseen.jsonl alone

Every pair goes through the stage as the product runs it, gates, comparison and real embedding model: its first question
is asked, answered and remembered, in a scope of its own; its second one is asked next. A sample goes through the whole
proxy over HTTP, which must decide the same. Ends with 1 if a row misses what it must reach.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from tests.bench import reuse_data, reuse_http, reuse_plot, reuse_table
from tests.bench import reuse_walls as walls
from tests.bench.bypass import wilson
from tests.bench.reuse_data import Pair
from tests.bench.reuse_stage import Decision, comparison_times, open_stage
from tests.bench.reuse_table import Group, Line

QUICK = 8  # one pair in so many
SAMPLE = 300  # pairs that go over HTTP
MOST_REASONS = 5  # shown of each phenomenon


class Report(msgspec.Struct, frozen=True):
    conditions: dict[str, str]
    sections: dict[str, list[Line]]
    groups: list[Group]
    mislabelled: list[Pair]  # labelled 0, and identical
    differences: list[str]  # between the stage and the whole proxy
    false_hits: list[Decision]
    missed: list[Decision]  # authored duplicates

    @property
    def failures(self) -> list[Line]:
        return [line for lines in self.sections.values() for line in lines if line.failed]


async def measured(*, quick: bool) -> tuple[list[Decision], dict[str, list[Line]], dict[str, str]]:
    """What became of every pair, the rows that follow from it and from all else in this process, and the conditions."""
    pairs = reuse_data.pairs()
    chosen = reuse_data.pairs(QUICK) if quick else pairs
    english, spanish = ([p for p in pairs if (p.source, p.lang) == ("xquad", lang)] for lang in ("en", "es"))
    async with open_stage() as stage:
        settings = stage.intent.config
        cold, again = comparison_times([pair for pair in chosen if pair.source == "qqp"], settings)
        _tell(f"{len(chosen)} pairs through the stage")
        decisions = await stage.decide(chosen)
        _tell("bypass, contexts and walls")
        singles = await stage.decide(reuse_data.singles())
        asked_again = {name: await walls.contexts(stage, name, rows) for name, rows in reuse_data.followups().items()}
        changed = await walls.walls(stage, english, spanish)
        version = stage.intent.embedder.version
    sections = {
        "False hits": [*reuse_table.false_hits(decisions, "en"), *reuse_table.false_hits(decisions, "es")],
        "Recall": reuse_table.recalls(decisions),
        "Bypass": reuse_table.bypasses(singles),
        "Follow-ups served": [line for served in asked_again.values() for line in reuse_table.served("", served)],
        "Identical questions served": reuse_table.served("", changed, control=True),
        "CPU beyond the embedding": [
            *reuse_table.times("comparison, both questions read for the first time", cold, reuse_table.COMPARISON_MS),
            *reuse_table.times("comparison, both questions known", again, reuse_table.COMPARISON_MS),
            # QQP's have been read already.
            *reuse_table.times("the whole look-up", [d.cpu for d in decisions if d.pair.source != "qqp"]),
        ],
    }
    conditions = {
        "pairs": f"{len(chosen):,}; STS-B is left out: it has no questions",
        "model": version,
        "cosine": f"{settings.min_cosine:g}",
    }
    return decisions, sections, conditions


async def unseen() -> list[Decision]:
    async with open_stage() as stage:
        return await stage.decide(reuse_data.unseen())


def told(decisions: Sequence[Decision]) -> Iterator[str]:
    """How many of each language and label were reused, and every one that was decided wrongly."""
    for lang in ("en", "es"):
        for label, name in ((0, "wrong"), (1, "found")):
            of = [decision for decision in decisions if (decision.pair.lang, decision.pair.label) == (lang, label)]
            hits = sum(decision.hit for decision in of)
            low, high = wilson(hits, len(of))
            yield f"{lang} {name}: {hits} of {len(of)} ({hits / len(of):.1%}, 95 %: {low:.1%} to {high:.1%})"
    for decision in decisions:
        if decision.hit != bool(decision.pair.label):
            yield f"  {decision.pair.phenomenon}, {decision.result}: {decision.pair.a} / {decision.pair.b}"


def main() -> int:
    options = _options()
    if options.unseen:
        decisions = asyncio.run(unseen())
        print("\n".join(told(decisions)))
        return any(decision.hit and not decision.pair.label for decision in decisions)
    if not reuse_data.PAIRS.exists():
        print(f"skipped: no evaluation data at {reuse_data.FOLDER} (set OLVIDO_EVAL_DATA)")
        return 0
    started = time.perf_counter()
    decisions, sections, conditions = asyncio.run(measured(quick=options.quick))
    _tell("a sample over HTTP")
    sample = reuse_http.spread(decisions, SAMPLE)
    differences = reuse_http.differences(sample)
    sections["Over HTTP"] = [reuse_table.differing(len(differences), sample)]
    report = Report(
        conditions={**conditions, "seconds": f"{time.perf_counter() - started:.0f}"},
        sections=sections,
        groups=reuse_table.grouped(decisions),
        mislabelled=[decision.pair for decision in decisions if decision.pair.is_mislabelled],
        differences=differences,
        false_hits=[decision for decision in decisions if decision.hit and not decision.pair.label],
        missed=[d for d in decisions if d.pair.source == "authored" and d.pair.label and not d.hit],
    )
    print("\n".join(markdown(report)))
    if options.json:
        options.json.write_bytes(msgspec.json.encode(report))
    if options.plot:
        reuse_plot.draw(decisions, options.plot)
    return bool(report.failures)


# --- as Markdown --------------------------------------------------------------------------------------------------


def markdown(report: Report) -> Iterator[str]:
    yield from (f"{name}: {value}  " for name, value in report.conditions.items())
    yield "no gate: the same share of those pairs that neither the bypass nor the language gate has stopped  "
    for title, lines in report.sections.items():
        yield ""
        yield from _table((title, "n", "", "95 %", "no gate", "must", "aim", "", ""), [_cells(line) for line in lines])
    yield ""
    yield from _table(
        ("Phenomenon", "", "", "label", "n", "hits", "95 %", "no gate", "why not"),
        [_group_cells(group) for group in report.groups],
    )
    if report.mislabelled:
        yield "\nIdentical, but labelled as two questions:\n"
        yield from (f"- {pair.source} {pair.lang}: {pair.a} / {pair.b}" for pair in report.mislabelled)
    if report.differences:
        yield "\nDecided otherwise over HTTP:\n"
        yield from (f"- {difference}" for difference in report.differences)
    if report.failures:
        yield "\nMissed:\n"
        yield from (f"- {line.name}: {_value(line, line.value)} of {line.n}" for line in report.failures)


def _cells(line: Line) -> tuple[str, ...]:
    target = line.target
    verdict = "" if target is None else "**no**" if line.failed else "aim" if target.is_aimed(line.value) else "must"
    sign = "" if target is None else "≥ " if target.at_least else "≤ "
    return (
        line.name,
        f"{line.n:,}",
        _value(line, line.value),
        "" if line.bound is None else f"{'≥' if line.low_hurts else '≤'} {_value(line, line.bound)}",
        "" if line.open is None else _value(line, line.open),
        "" if target is None else sign + _value(line, target.must),
        "" if target is None else sign + _value(line, target.aim),
        verdict,
        line.note,
    )


def _group_cells(group: Group) -> tuple[str, ...]:
    low, high = wilson(group.hits, group.n)
    reasons = [f"{reason} {n}" for reason, n in list(group.reasons.items())[:MOST_REASONS]]
    return (
        group.source,
        group.lang,
        group.phenomenon,
        str(group.label),
        str(group.n),
        f"{group.rate:.1%}",
        f"{low:.1%}-{high:.1%}",
        f"{group.hits / group.open_n:.1%}" if group.open_n else "",
        ", ".join(reasons),
    )


def _value(line: Line, value: float) -> str:
    if line.milliseconds:
        return f"{value:.3g} ms"
    if value in (0, 1):
        return f"{value:.0%}"
    return f"{value:.1%}" if value >= 0.1 else f"{value:.2%}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.reuse", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help=f"one public pair in {QUICK}")
    parser.add_argument(
        "--unseen", action="store_true", help=f"only {reuse_data.UNSEEN.name}, which is in the repository"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="everything, with every wrong reuse")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="precision by hit ratio; needs the extra `bench`")
    return parser.parse_args()


def _tell(what: str) -> None:
    print(f"… {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
