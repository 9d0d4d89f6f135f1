"""The command `olvido replay FILE…`. The report goes to standard output, complaints and progress to standard error.
Exit status 0: there is a report; 1: no entry could be used, or a file not be read.

The report is rendered as sentences (`headline`), with tables on demand (`as_text`, `shown`), or as JSON (`as_json`).
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from proxy import bounded
from proxy import config as configuration
from proxy.config import Config
from proxy.memory.showing import plain
from proxy.observe import logs
from proxy.protocol.request import parse
from proxy.replay import headline
from proxy.replay.files import log_of
from proxy.replay.progress import Progress
from proxy.replay.providers import upstreams_for
from proxy.replay.reading import Logged, Skipped
from proxy.replay.report import Costs, Replayed, Report, Total
from proxy.replay.running import RATIOS, open_resources, replay_config, replayed

ALL = "all"
NOTES = (
    "Tokens are counted by the o200k ranks; your provider's own count may differ by some per cent.",
    "Prompt tokens only: what is generated costs the same either way.",
    "Answers that would have been reused (identical requests, the same question in other words) are not simulated.",
    "Every side has the provider's prefix cache: what it was sent within its time to live costs what cached tokens do.",
    "Where a cached token is priced anew, an upstream without a prefix cache is taken to have OpenAI's.",
    "Requests without a key, a user or a session are taken to be one customer's.",
    "Worst: of the conversation in which it is highest, what was paid by then against pass-through, at any point.",
)
HINT = "--details tells tokens and costs by model and mechanism, and what is assumed; --show every prompt."
_LEFT_OUT = ("window", "capped", "tools", "elided", "pruned")
_ADDED = ("summaries", "facts", "recall", "desk")
_COSTS = ("", "pass-through", "sliding 6", "olvido", "olvido/pass-through", "worst")


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns its exit status. Raises ConfigError."""
    config = configuration.load(options.config, os.environ)
    logs.setup("warning", "text")
    progress = Progress(sys.stderr)
    progress.say("reading")
    try:
        requests, skipped = log_of(_read(options.files, options.most_mb * 2**20))
    except (OSError, ValueError) as error:
        progress(1, 1)
        _complain(f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error))
        return 1
    names = ", ".join(map(str, options.files))
    if not requests:
        progress(1, 1)
        _complain(f"{names}: no entry is a chat completion")
        if told := headline.skipped_line(skipped, 0):
            _complain(told)
        return 1
    if options.config is None:
        config = config.model_copy(update={"upstreams": upstreams_for(_models(requests))})
    report = asyncio.run(_report(options, config, requests, progress))
    with suppress(BrokenPipeError):
        _write(_rendered(report, skipped, options))
    return 0


def _read(files: Iterable[Path], most: int) -> list[bytes]:
    """Returns the files, of `most` bytes together. Raises OSError, with a file's name, and ValueError."""
    read = list[bytes]()
    for file in files:
        try:
            read.append(bounded.contents(file, most - sum(map(len, read))))
        except bounded.TooLong:
            raise ValueError(f"{file}: the log is longer than {most // 2**20:,} MiB: --most-mb lets it be") from None
    return read


def _models(requests: Iterable[Logged]) -> set[str]:
    return {parse(each.body).model for each in requests}


async def _report(
    options: argparse.Namespace, config: Config, requests: Sequence[Logged], progress: Progress
) -> Report:
    config = replay_config(config)
    progress.say("getting ready")
    async with open_resources(config, embedding=not options.no_embedding) as resources:
        if resources.embedder.state == "failed":
            _complain(f"no embedding, old turns are found by their words alone: {resources.embedder.detail}")
        return await replayed(
            requests,
            config,
            resources=resources,
            ratios=RATIOS if options.details or options.json else (),
            now=time.time(),
            details=options.show,
            progress=progress,
        )


def _rendered(report: Report, skipped: Sequence[Skipped], options: argparse.Namespace) -> bytes:
    if options.json:
        return msgspec.json.encode(as_json(report, skipped)) + b"\n"
    prompts = "".join(f"{shown(each)}\n" for each in report.requests) if options.show else ""
    said = headline.sentences(report)
    if told := headline.skipped_line(skipped, len(report.requests)):
        said.append(f"{told}.")
    end = f"\n{as_text(report)}" if options.details else f"{HINT}\n"
    return (prompts + "\n".join(said) + "\n" + end).encode("utf-8", "replace")


def _write(rendered: bytes) -> None:
    """Writes UTF-8, whatever the terminal claims: messages are in the language of who said them."""
    sys.stdout.flush()
    sys.stdout.buffer.write(rendered)
    sys.stdout.buffer.flush()


def _complain(what: str) -> None:
    sys.stderr.write(f"olvido replay: {what}\n")


def as_json(report: Report, skipped: Sequence[Skipped]) -> dict[str, Any]:
    """Renders the report as one JSON object."""
    return {
        "total": _total(report.total),
        "models": {model: _total(each) for model, each in report.by_model.items()},
        "at_ratios": [{"cached": ratio, **_total(each)} for ratio, each in report.at_ratios.items()],
        "embedding": report.embedding,
        "skipped": [asdict(each) for each in skipped],
        "notes": list(NOTES),
        "requests": [_request(each) for each in report.requests],
    }


def as_text(report: Report) -> str:
    """Renders the report as tables."""
    totals = {**report.by_model, ALL: report.total}
    if len(totals) == 2:
        totals.pop(ALL)
    blocks = [
        _found(report),
        _table(
            ("", "requests", "conversations", "sent by you", "would be sent", "less", "over budget", "fail open"),
            map(_tokens, totals.items()),
        ),
        "Tokens left out (-) and added (+), by what does it\n"
        + _table(("", *_LEFT_OUT, *_ADDED), map(_mechanisms, totals.items())),
        "What the prompts cost\n" + _table(_COSTS, map(_money, totals.items())),
    ]
    if report.at_ratios:
        blocks.append(
            "Were a cached token priced at so much of an uncached one, planned for that price (in input tokens)\n"
            + _table(_COSTS, map(_at_ratio, report.at_ratios.items()))
        )
    blocks.append("\n".join(NOTES))
    return "\n\n".join(blocks) + "\n"


def shown(request: Replayed) -> str:
    """Renders a request message by message, with the fate of each; "" if it was not asked for."""
    if request.inside is None:
        return ""
    moment = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(request.at))
    head = f"line {request.line}  {moment}  {plain(request.model)}  {plain(request.conversation)}"
    done = f"{request.kind} {request.reason}".strip()
    lines = [f"{head}\n  {done}: {request.tokens_full:,} tokens → {request.tokens_sent:,}"]
    lines += [
        f"  {said.index:>4}  {plain(said.role):<9}  {said.tokens:>6,}  {said.fate:<9}  {said.why}: {plain(said.begins)}"
        for said in request.inside.messages
    ]
    for title, block in (("memory head", request.inside.head), ("volatile block", request.inside.volatile)):
        if block:
            lines.append(f"  {title}:")
            lines += [f"    | {plain(line)}" for line in block.splitlines()]
    return "\n".join(lines) + "\n"


def _found(report: Report) -> str:
    found = f"by words and meaning ({report.embedding})" if report.embedding else "by their words alone"
    return f"Old turns were found {found}."


def _tokens(named: tuple[str, Total]) -> tuple[str, ...]:
    name, total = named
    less = 1 - total.tokens_sent / total.tokens_full if total.tokens_full else 0.0
    return (
        plain(name),
        f"{total.requests:,}",
        f"{total.conversations:,}",
        f"{total.tokens_full:,}",
        f"{total.tokens_sent:,}",
        f"{less:.1%}",
        f"{total.over_budget:,}",
        f"{total.fail_open:,}",
    )


def _mechanisms(named: tuple[str, Total]) -> tuple[str, ...]:
    given = asdict(named[1].mechanisms)
    out = [f"-{given[name]:,}" if given[name] else "0" for name in _LEFT_OUT]
    return (plain(named[0]), *out, *(f"+{given[name]:,}" if given[name] else "0" for name in _ADDED))


def _money(named: tuple[str, Total]) -> tuple[str, ...]:
    name, total = named
    if total.dollars is None:
        return _priced(f"{plain(name)} (price unknown: in input tokens)", total.costs, total, "{:,.0f}")
    return _priced(plain(name), total.dollars, total, "${:,.4f}")


def _at_ratio(named: tuple[float, Total]) -> tuple[str, ...]:
    return _priced(f"{named[0]:g}", named[1].costs, named[1], "{:,.0f}")


def _priced(name: str, costs: Costs, total: Total, form: str) -> tuple[str, ...]:
    figures = (form.format(each) for each in (costs.full, costs.sliding, costs.ours))
    return (name, *figures, f"{total.ratio:.3f}", f"{total.worst:.3f}")


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column to the left, figures to the right."""
    lines = [tuple(titles), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines
    )


def _total(total: Total) -> dict[str, Any]:
    return {**asdict(total), "ratio": total.ratio}


def _request(request: Replayed) -> dict[str, Any]:
    return {name: value for name, value in asdict(request).items() if name != "inside" or value is not None}
