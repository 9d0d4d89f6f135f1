"""The desk of a conversation as JSON, for the page: its offer, pressure, documents, marks, pins, edits, tape and hidden
rounds. Off the event loop: texts are counted, messages parsed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict

from proxy.config.memory import MemoryTools
from proxy.desk import sections
from proxy.desk.looking import HiddenRound, SeenDesk, SeenEdit, SeenMark
from proxy.desk.tools import section_of
from proxy.protocol.message import message_of
from proxy.types import Json, LedgerRow
from proxy.types.desk import Document, TapeLine

LONGEST_TEXT = 20_000  # characters of a text that is not there to be edited
COUNTED_BYTES = 16_384  # of a document whose tokens are counted; those of a larger one are estimated
BYTES_PER_TOKEN = 4  # of such an estimate

Cut = Callable[[str], Json]


def cutting(*, shows: bool) -> Cut:
    """Returns what shows a text: without its end where it is long, null where contents are not shown."""
    if not shows:
        return lambda _: None
    return lambda text: text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def offer(found: SeenDesk) -> Json:
    """Encodes whether the tools are offered."""
    offered = found.offered
    if offered is None:
        return {"names": [], "language": "", "reason": "", "at": None, "ended": found.ended}
    return {
        "names": offered.names,
        "language": offered.language,
        "reason": offered.reason,
        "at": found.offered_at,
        "ended": found.ended,
    }


def pressures(rows: Sequence[LedgerRow]) -> list[Json]:
    """Encodes the pressure of requests, oldest first. `rows`: newest first."""
    return [
        {"request_id": row.request_id, "at": row.at, **asdict(row.trail.desk)}
        for row in reversed(rows)
        if row.trail is not None and row.trail.desk is not None
    ]


def schemas(rows: Iterable[LedgerRow]) -> Json:
    """Adds up the schemas of all rounds, and beside them what all prompts came to."""
    asked = tokens = of_tokens = 0
    cost = of_cost = 0.0
    for row in rows:
        of_tokens += row.tokens_billed
        of_cost += row.cost
        if row.trail is not None and (desk := row.trail.desk) is not None and desk.schemas:
            asked += 1
            tokens += desk.schemas * desk.rounds
            cost += desk.cost
    return {"requests": asked, "tokens": tokens, "of_tokens": of_tokens, "cost": cost, "of_cost": of_cost}


def folder(
    documents: Sequence[Document], settings: MemoryTools, count: Callable[[str], int], cut: Cut
) -> dict[str, Json]:
    """Tells the sections, those of the configured project whether or not they have a text, and other documents.
    `count`: tokens of a text."""
    by_name = {each.name: each for each in documents}
    names = list(sections.files(sections.project_of(settings.project)).values())
    names += sorted(name for name in by_name if section_of(name) is not None and name not in names)

    def tokens(text: str) -> int:
        size = len(text.encode("utf-8", "replace"))
        return count(text) if size <= COUNTED_BYTES else size // BYTES_PER_TOKEN

    def told(name: str) -> dict[str, Json]:
        document = by_name.get(name)
        shown = version(document, with_text=False)
        return {"name": name, **shown, "tokens": 0 if document is None else tokens(document.text)}

    def section(name: str) -> Json:
        kind = section_of(name)
        assert kind is not None, "the name of a section"
        text = cut(by_name[name].text) if name in by_name else cut("")
        return {**told(name), "section": kind, "text": text, "limit": getattr(settings.sections, kind)}

    others = [told(name) for name in by_name if section_of(name) is None]
    return {"sections": [section(name) for name in names], "documents": others}


def version(document: Document | None, *, with_text: bool) -> dict[str, Json]:
    """Encodes a version of a document; None: there is none."""
    if document is None:
        return {"version": 0, "at": None, "by": None, "is_removed": True, "text": "" if with_text else None}
    return {
        "version": document.version,
        "at": document.at,
        "by": document.by,
        "is_removed": document.is_removed,
        "text": document.text if with_text else None,
    }


def mark(found: SeenMark, cut: Cut) -> Json:
    """Encodes a mark, and what became of it."""
    made = found.mark
    return {
        "number": found.number,
        "at": found.at,
        "request_id": found.request_id,
        "kind": made.kind,
        "first": made.first,
        "last": made.last,
        "messages": len(made.links),
        "tokens": made.tokens,
        "text": cut(made.text) if made.text else None,
        "state": found.state,
        "reason": found.reason,
        "applied_at": found.applied_at or None,
        "applied_by": found.applied_by,
    }


def edit(found: SeenEdit, cut: Cut) -> Json:
    """Encodes an edit, and what became of it."""
    made = found.edit
    return {
        "number": found.number,
        "at": found.at,
        "request_id": found.request_id,
        "tool": made.tool,
        "by": made.by,
        "name": made.name,
        "before": cut(made.before),
        "after": cut(made.after),
        "state": found.state,
        "decided_at": found.decided_at or None,
    }


def pin(found: TapeLine, at: float, cut: Cut) -> Json:
    """Encodes a pinned message. `at`: when it was pinned."""
    return {
        "message": found.id,
        "at": at,
        "role": found.role,
        "tokens": found.tokens,
        "text": _said(found, cut)["text"],
    }


def line(found: TapeLine, cut: Cut) -> Json:
    """Encodes a line of the tape."""
    return {
        "message": found.id,
        "at": found.at,
        "role": found.role,
        "tokens": found.tokens,
        "is_hidden": found.is_hidden,
        "is_forgotten": found.content is None,
        **_said(found, cut),
    }


def _said(line: TapeLine, cut: Cut) -> dict[str, Json]:
    said = message_of(line.content) if line.content is not None else None
    if said is None:
        return {"text": None, "calls": []}
    return {
        "text": cut(said.text) if said.text else None,
        "calls": [{"name": call.name, "arguments": cut(call.arguments or "")} for call in said.tool_calls],
    }


def round_(told: HiddenRound, cut: Cut) -> Json:
    """Encodes a hidden round."""
    return {
        "text": cut(told.text) if told.text else None,
        "tokens": told.tokens,
        "calls": [
            {
                "name": each.name,
                "arguments": cut(each.arguments),
                "result": None if each.result is None else cut(each.result),
                "outcome": each.outcome,
            }
            for each in told.calls
        ],
    }
