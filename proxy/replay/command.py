"""The command `olvido replay FILE.jsonl`. The report goes to standard output, complaints to standard error. Exit status
0: there is a report; 1: no line could be used, or the file not be read."""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from proxy import config as configuration
from proxy.config import Config
from proxy.observe import logs
from proxy.replay.reading import Logged, Skipped, read
from proxy.replay.rendering import as_json, as_text, shown
from proxy.replay.report import Report
from proxy.replay.resources import open_resources
from proxy.replay.running import replay_config, replayed

STANDARD = Path("-")  # standard input
EVERY = 25  # requests between two reports of progress


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns its exit status."""
    config = configuration.load(options.config, os.environ)
    logs.setup("warning", "text")
    try:
        requests, skipped = _requests(options.file)
    except OSError as error:
        _complain(f"{options.file}: {error.strerror}")
        return 1
    for each in skipped:
        _complain(f"{options.file}, line {each.line}: {each.why}; skipped")
    if not requests:
        _complain(f"{options.file}: no line is a request")
        return 1
    with suppress(BrokenPipeError):
        _write(_rendered(asyncio.run(_report(options, config, requests)), skipped, options))
    return 0


def _requests(file: Path) -> tuple[list[Logged], list[Skipped]]:
    if file == STANDARD:
        said = list(read(sys.stdin.buffer))
    else:
        with file.open("rb") as lines:
            said = list(read(lines))
    return [each for each in said if isinstance(each, Logged)], [each for each in said if isinstance(each, Skipped)]


async def _report(options: argparse.Namespace, config: Config, requests: Sequence[Logged]) -> Report:
    config = replay_config(config)
    async with open_resources(config, embedding=not options.no_embedding) as resources:
        if resources.embedder.state == "failed":
            _complain(f"no embedding, old turns are found by their words alone: {resources.embedder.detail}")
        return await replayed(
            requests, config, resources=resources, now=time.time(), details=options.show, progress=_progress
        )


def _rendered(report: Report, skipped: Sequence[Skipped], options: argparse.Namespace) -> bytes:
    if options.json:
        return msgspec.json.encode(as_json(report, skipped)) + b"\n"
    prompts = "".join(f"{shown(each)}\n" for each in report.requests) if options.show else ""
    return (prompts + as_text(report, skipped)).encode("utf-8", "replace")


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty() and (done % EVERY == 0 or done == of):
        sys.stderr.write(f"\r{done:,} of {of:,} …" + ("\r\x1b[K" if done == of else ""))
        sys.stderr.flush()


def _write(rendered: bytes) -> None:
    """Writes UTF-8, whatever the terminal claims: messages are in the language of who said them."""
    sys.stdout.flush()
    sys.stdout.buffer.write(rendered)
    sys.stdout.buffer.flush()


def _complain(what: str) -> None:
    sys.stderr.write(f"olvido replay: {what}\n")
