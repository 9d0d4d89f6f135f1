"""The daily log of a person, `YYYY-MM-DD.md`: a line for everything that was decided, stated, asked to be remembered,
or forgotten, in the person's own words; and what memory's model has noted, and its digests. Lines are only ever added,
but that forgetting takes the words out of them (`scrubbing.py`), and a digest takes the place of an earlier one.

    # 2026-11-23

    - 14:02 decided: We go with PostgreSQL <!-- o:abcdefghijklm m:… -->
    - 14:05 forgotten <!-- o:nopqrstuvwxyz -->
    - 14:20 noted: Ana has moved to Lima <!-- e:e-0123456789abcdef m:… -->
    - 23:59 digest: A database was chosen, and Ana moved. <!-- d:day-2026-11-23 -->

Dates and times are UTC, as all that Olvido shows. A line's labels are in the language of its words.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from proxy.files.lines import comment, decoded, encoded, is_plain, link_code, link_of, one_line, parted
from proxy.files.names import long_code
from proxy.files.rewriting import Texts, always, replaced
from proxy.language.detect import language
from proxy.language.values import FORGOTTEN
from proxy.types import Fact
from proxy.types.curation import Digest, MemoryEvent
from proxy.types.memory import SELF_CORRECTION

Kind = Literal["decided", "stated", "asked", "forgotten", "noted", "digest", "week"]

NAME = re.compile(r"(\d{4}-\d{2}-\d{2})\.md")

FRESH = 3_600.0  # seconds after it was said that a fact may be learnt
LONGEST = 2_000  # characters of an event's words
DIGESTS: tuple[Kind, ...] = ("digest", "week")  # of a day, of a week
_DAY = 86_400.0
_LAST = 60.0  # seconds before its end, at which a day's digest stands
# By kind, in English and in Spanish.
LABELS: Mapping[Kind, tuple[str, str]] = {
    "decided": ("decided", "decidido"),
    "stated": ("stated", "dicho"),
    "asked": ("asked to remember", "a recordar"),
    "forgotten": FORGOTTEN,
    "noted": ("noted", "anotado"),
    "digest": ("digest", "resumen"),
    "week": ("digest of the week", "resumen de la semana"),
}
_KINDS: Mapping[str, Kind] = {label: kind for kind, labels in LABELS.items() for label in labels}
_LINE = re.compile(
    rf"- ([01]\d|2[0-3]):([0-5]\d) ({'|'.join(map(re.escape, sorted(_KINDS, key=len, reverse=True)))})(?:: (.*))?"
)
_EVENT = "e-"  # begins the code of an event that a model has noted
_DIGEST = re.compile(r"(day|week)-(\d{4}-\d{2}-\d{2})")  # the code of a digest: its span, and the day it begins with


@dataclass(frozen=True, slots=True)
class Learnt:
    """The facts that something has changed."""

    facts: tuple[Fact, ...]  # as they are now: new and changed ones
    before: Mapping[str, Fact]  # by id, as they were
    at: float


@dataclass(frozen=True, slots=True)
class Event:
    """A line of a log."""

    kind: Kind
    at: float  # seconds since the epoch; read from a line, of its minute
    words: str  # of something forgotten they only tell the language
    code: str = ""  # of the fact, the long one: it must mean the same in years; of what a model has noted, its own
    link: bytes | None = None  # of the message that said it


def events(learnt: Learnt) -> tuple[Event, ...]:
    """Returns the events to log: facts that are new, or hold again. A confirmation is none, nor is the end of a fact:
    what ended it has a line."""
    return tuple(
        Event(
            kind_of(fact),
            fact.last_confirmed_at,
            fact.value,
            long_code(fact.id),
            fact.links[-1] if fact.links else None,
        )
        for fact in learnt.facts
        if fact.superseded_by is None and fact.domain != SELF_CORRECTION and _is_news(fact, learnt)
    )


def _is_news(fact: Fact, learnt: Learnt) -> bool:
    """Tells whether a fact is said just now: not the part of an older one that is left, or brought from elsewhere."""
    before = learnt.before.get(fact.id)
    holds_anew = before is None or before.superseded_by is not None
    return holds_anew and learnt.at - fact.last_confirmed_at <= FRESH


def kind_of(fact: Fact) -> Kind:
    """Classifies a fact by what the person did in saying it; they did not say what a model understood."""
    if fact.source == "auto":
        return "noted"
    if fact.domain == "decisions":
        return "decided"
    return "asked" if fact.pinned else "stated"


def forgotten(fact_ids: Iterable[str], at: float, words: str = "") -> tuple[Event, ...]:
    """Returns the events of facts that were forgotten. `words`: theirs, whose language their lines are in: no line has
    them."""
    return tuple(Event("forgotten", at, words, long_code(fact_id)) for fact_id in fact_ids)


def noted(happened: Sequence[MemoryEvent]) -> tuple[Event, ...]:
    """Returns what a model has found to have happened, as events to log."""
    return tuple(Event("noted", each.at, each.text, each.code, each.link) for each in happened)


def of_digest(digest: Digest) -> Event | None:
    """Returns a digest as an event of the last minute of its span; None if it is an hour's: a log has none."""
    if digest.span == "hour":
        return None
    kind: Kind = "week" if digest.span == "week" else "digest"
    end = digest.at + (7 if kind == "week" else 1) * _DAY
    return Event(kind, end - _LAST, digest.text, f"{digest.span}-{_date(digest.at)}")


def days_of(code: str) -> tuple[str, ...]:
    """Returns the days, as they are written, of which the digest with this code tells; () if it is no digest's."""
    if (found := _DIGEST.fullmatch(code)) is None:
        return ()
    try:
        start = begun(f"{found[2]}.md")
    except ValueError:  # somebody's own, such as the 31st of June
        return ()
    return tuple(_date(start + day * _DAY) for day in range(7 if found[1] == "week" else 1))


def file_of(at: float) -> str:
    """Returns the name of the log of a time."""
    return f"{_date(at)}.md"


def _date(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def begun(name: str) -> float:
    """Returns the time at which the day of a log begins. Raises ValueError if it is no log's name."""
    if (found := NAME.fullmatch(name)) is None:
        raise ValueError("not the name of a log")
    return datetime.strptime(found[1], "%Y-%m-%d").replace(tzinfo=UTC).timestamp()


def rendered(event: Event) -> str:
    """Returns the line of an event, without its end."""
    words = one_line(event.words[:LONGEST])
    label = LABELS[event.kind][language(words) == "es"]
    link = link_code(event.link) if event.link else ""
    name = "d" if event.kind in DIGESTS else "e" if event.code.startswith(_EVENT) else "o"
    said = f": {words}" if words and event.kind != "forgotten" else ""
    return f"- {datetime.fromtimestamp(event.at, UTC):%H:%M} {label}{said}{comment(**{name: event.code}, m=link)}"


def parsed(line: str, day: float) -> Event | None:
    """Returns the event of a line of the log of a day, which begins at `day`; None if the line is somebody else's."""
    said, _, names = parted(line.rstrip("\r"))
    if (found := _LINE.fullmatch(said)) is None:
        return None
    at, kind = day + 3_600 * int(found[1]) + 60 * int(found[2]), _KINDS[found[3]]
    code = next((names[name] for name in "oed" if name in names), "")
    if (kind in DIGESTS and not days_of(code)) or (kind == "noted" and not code):
        return None  # a person's own note
    return Event(kind, at, found[4] or "", code, link_of(names.get("m", "")))


def missing(text: str, told: Sequence[Event], day: float) -> tuple[Event, ...]:
    """Returns those events that the log of a day does not tell yet: of a fact it tells once that it was said, and once
    that it was forgotten; of what a model has noted, once."""
    lines = (parsed(line, day) for line in text.split("\n"))
    known = {_key(event) for event in lines if event is not None and event.code}
    new = {_key(event): event for event in told}
    return tuple(event for key, event in new.items() if key not in known)


def _key(event: Event) -> tuple[str, bool]:
    is_noted = event.code.startswith(_EVENT) or bool(days_of(event.code))
    return event.code, event.kind == "forgotten" and not is_noted


def renewed(text: str, digest: Event, day: float) -> str:
    """Returns the log of a day with this digest in place of an earlier one of its span, forgotten or not; the same
    text, if it has none."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if (found := parsed(line, day)) is not None and found.code == digest.code:
            lines[at] = rendered(digest) + line[len(line.rstrip("\r")) :]
    return "\n".join(lines)


def extended(text: str, told: Sequence[Event], day: float) -> str:
    """Returns the log of a day with lines for these events at its end; what it has stays as it is."""
    if not told:
        return text
    head = text or f"# {datetime.fromtimestamp(day, UTC):%Y-%m-%d}\n\n"
    end = "" if head.endswith("\n") else "\n"
    return "".join((head, end, *(rendered(event) + "\n" for event in told)))


def untold(files: Texts, told: Sequence[Event]) -> tuple[Event, ...]:
    """Returns those of the events that the logs of their days do not tell yet."""
    found: list[Event] = []
    for name in dict.fromkeys(file_of(event.at) for event in told):
        of_day = [event for event in told if file_of(event.at) == name]
        found += missing(decoded(files.read(name) or b""), of_day, begun(name))
    return tuple(found)


def retell(files: Texts, digest: Event) -> None:
    """Writes a digest into its log, in place of an earlier one of its span. The folder is locked meanwhile. A log with
    other words of it is kept."""
    name = file_of(digest.at)
    replaced(files, name, lambda text: renewed(text, digest, begun(name)), keeps=always)
    write(files, [digest])


def write(files: Texts, told: Sequence[Event], *, again: bool = False) -> None:
    """Adds the events to the logs of their days, unless they are there, or also if they are told `again`. The folder is
    locked meanwhile."""
    for name in dict.fromkeys(file_of(event.at) for event in told):
        day = begun(name)
        data = files.read(name) or b""
        text = decoded(data)
        of_day = tuple(event for event in told if file_of(event.at) == name)
        lines = of_day if again else missing(text, of_day, day)
        if not lines:
            continue
        whole = encoded(extended(text, lines, day), data)
        if whole.startswith(data) and is_plain(data):
            files.append(name, whole[len(data) :].lstrip(b"\n"))
        else:  # in an encoding of which a line end, or these words, are no part

            def with_them(text: str, lines: Sequence[Event] = lines, day: float = day) -> str:
                return extended(text, lines if again else missing(text, lines, day), day)

            replaced(files, name, with_them, keeps=always)
