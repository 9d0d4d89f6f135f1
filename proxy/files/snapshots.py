"""Snapshots of conversations, `snapshots/<slug>.md`: the last messages of one that has ended, word for word, for a
person to read. A copy: what it says is never taken for a fact.

    # PostgreSQL, migration

    - session: s-3f <!-- s:… -->
    - when: 2026-11-23 14:02 to 15:10 UTC
    - ended: idle

    **user** <!-- m:… t:3 at:2026-11-23T14:02:11Z -->

    > the message, each line of it behind a mark: so none can look like the head of another message

A message that was forgotten has its head, and "forgotten" in place of its words. The slug is made of the words that
tell most of what the user said, without a model, until a model gives it another one: `n:…` beside the session then says
so.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import zip_longest
from typing import Literal, Protocol, get_args

from proxy.files.layout import SNAPSHOTS
from proxy.files.lines import comment, decoded, link_code, link_of, many_lines, one_line, parted
from proxy.files.rewriting import Texts, replaced
from proxy.language.values import FORGOTTEN
from proxy.language.words import STOP, fold, terms
from proxy.types import ArchivedTurn

FOLDER = f"{SNAPSHOTS}/"
_HEAD_BYTES = 2_000  # of a file, in which the name of its session is

MOST = 15  # messages
LONGEST = 20_000  # characters of a message; what is behind them is left out
SLUG = 60  # characters of a slug, at most
WORDS = 4  # of a slug
_MOST_SAID = 1_000  # characters of a name that a model gives; what is behind them is left out
_WIDEST = 24  # characters of one
_LEFT_OUT = " […]"
_ROOM = 4  # characters of a slug for the number of one that is taken

Role = Literal["user", "assistant"]
_STAMP = "%Y-%m-%dT%H:%M:%SZ"
_HEAD = re.compile(rf"\*\*({'|'.join(get_args(Role))})\*\*")
_SESSION = re.compile(r"- session:(?: (.*))?")
_WORD = re.compile(r"[^\W_]{3,}")
_FOREIGN = re.compile(r"[^a-z0-9]+")
_DATED = re.compile(rf"{FOLDER}\d{{4}}-\d\d-\d\d\b")  # begins a name that we gave


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a snapshot."""

    role: Role
    text: str  # "" if it was forgotten
    link: bytes | None
    turn: int  # number of its turn in the conversation
    at: float
    forgotten: str = ""  # the word in place of its text, if it was


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The end of a conversation."""

    session: str  # on one line
    mark: str  # of the session's name as it is
    why: str  # it ended
    said: tuple[Said, ...]
    called: str = ""  # by a model: words joined by hyphens

    @property
    def topic(self) -> tuple[str, ...]:
        """The words that tell most of what the user said."""
        return telling(said.text for said in self.said if said.role == "user")


def taken(turns: Iterable[ArchivedTurn], session: str, why: str) -> Snapshot:
    """Returns the snapshot of a conversation's turns, which come oldest first."""
    said = [
        Said(each.role, _cut("\n".join(many_lines(each.text))), each.link, turn.number, turn.at)
        for turn in turns
        for each in turn.utterances
        if each.text.strip()
    ]
    return Snapshot(one_line(session), mark_of(session), one_line(why), tuple(said[-MOST:]))


def mark_of(session: str) -> str:
    """Returns the mark by which the snapshot of a session is known."""
    return blake2b(session.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST].rstrip() + _LEFT_OUT


# --- as a file -------------------------------------------------------------------------------------------------------


def rendered(snapshot: Snapshot) -> str:
    """Returns the text of a snapshot."""
    title = ", ".join(snapshot.topic).capitalize() or "Conversation"
    lines = [f"# {title}", "", f"- session: {snapshot.session}{comment(s=snapshot.mark, n=snapshot.called)}"]
    if snapshot.said:
        first, last = (datetime.fromtimestamp(said.at, UTC) for said in (snapshot.said[0], snapshot.said[-1]))
        until = f"{last:%H:%M}" if first.date() == last.date() else f"{last:%Y-%m-%d %H:%M}"
        lines.append(f"- when: {first:%Y-%m-%d %H:%M} to {until} UTC")
    lines.append(f"- ended: {snapshot.why}")
    for said in snapshot.said:
        link = link_code(said.link) if said.link else ""
        at = f"{datetime.fromtimestamp(said.at, UTC):{_STAMP}}"
        words = [said.forgotten] if said.forgotten else [_quoted(line) for line in said.text.split("\n")]
        lines += ["", f"**{said.role}**{comment(m=link, t=str(said.turn), at=at)}", "", *words]
    return "\n".join((*lines, ""))


def _quoted(line: str) -> str:
    return f"> {line}" if line else ">"


def parsed(text: str) -> Snapshot:
    """Returns the snapshot of a text, as much of it as there is: somebody may have changed it."""
    snapshot, head, words = Snapshot("", "", "", ()), Said("user", "", None, 0, 0.0), list[str]()
    said: list[Said] = []
    is_in = False  # behind the head of a message

    def done() -> None:
        if is_in:
            said.append(replace(head, text="" if head.forgotten else "\n".join(words)))

    for line in text.split("\n"):
        plain, _, names = parted(line.rstrip("\r"))
        if found := _HEAD.fullmatch(plain):
            done()
            role: Role = "user" if found[1] == "user" else "assistant"
            head, words, is_in = Said(role, "", link_of(names.get("m", "")), _number(names), _time(names)), [], True
        elif is_in and line.startswith(">"):
            words.append(line[1:].removeprefix(" "))
        elif is_in and plain in FORGOTTEN and not words:
            head = replace(head, forgotten=plain)
        elif not is_in and (found := _SESSION.fullmatch(plain)):
            called = "-".join(parts(names.get("n", "")))
            snapshot = replace(snapshot, session=found[1] or "", mark=names.get("s", ""), called=called)
        elif not is_in and plain.startswith("- ended: "):
            snapshot = replace(snapshot, why=plain.removeprefix("- ended: "))
    done()
    return replace(snapshot, said=tuple(said))


def turns(said: Sequence[Said]) -> Iterator[tuple[Said, ...]]:
    """Yields the messages in groups: each of the user with the answers to it."""
    starts = [at for at, each in enumerate(said) if each.role == "user" or not at]
    return (tuple(said[start:stop]) for start, stop in zip_longest(starts, starts[1:]))


def is_head(line: str) -> bool:
    """Tells whether a line, without its comment, is the head of a message, or of the snapshot and has nobody's
    words."""
    return line.startswith(("- when: ", "- ended: ")) or _HEAD.fullmatch(line) is not None


def _number(names: Mapping[str, str]) -> int:
    number = names.get("t", "")
    return int(number) if number.isascii() and number.isdigit() and len(number) < len(str(2**31)) else 0


def _time(names: Mapping[str, str]) -> float:
    try:
        return datetime.strptime(names.get("at", ""), _STAMP).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0


# --- in a folder -----------------------------------------------------------------------------------------------------


class Snapshots(Texts, Protocol):
    """The files of a person's folder, with what snapshots need beside reading and writing."""

    def names(self) -> list[str]:
        """Returns the names of daily logs and snapshots."""

    def seal(self, name: str) -> None:
        """Makes a file read-only."""

    def move(self, name: str, new: str) -> None:
        """Gives a file a name that is free."""


def write(files: Snapshots, snapshot: Snapshot) -> None:
    """Writes a snapshot, in place of an earlier one of the same session, whose name it keeps. The folder is locked
    meanwhile. The older text is kept if somebody has changed it."""
    if not snapshot.said:
        return
    held = _held(files)
    if (name := _of(files, held, snapshot.mark)) is not None:
        snapshot = replace(snapshot, called=_head_of(files, name).called)
    name = name or free(slug(snapshot), held)
    text = rendered(snapshot)
    replaced(files, name, lambda _: text, keeps=_is_changed)
    files.seal(name)


def rename(files: Snapshots, mark: str, called: str) -> None:
    """Gives the snapshot of a session, known by its mark, the name that a model found. The folder is locked meanwhile.
    Its text stays; and so does a name that somebody else has given it. Does nothing if there is no snapshot."""
    held = _held(files)
    if (name := _of(files, held, mark)) is None or not _DATED.match(name):
        return
    replaced(files, name, lambda text: _with_name(text, called), keeps=_is_changed)
    snapshot = parsed(decoded(files.read(name) or b""))
    new = slug(snapshot)
    if snapshot.said and not re.fullmatch(rf"{re.escape(FOLDER + new)}(?:-\d+)?\.md", name):
        files.move(name, new := free(new, held))
        name = new
    files.seal(name)


def name_of(said: str) -> str:
    """Returns a name that a model has given as it may be part of a file's; "" if nothing of it may."""
    return "-".join(parts(said[:_MOST_SAID]))[:SLUG].strip("-")


def _held(files: Snapshots) -> list[str]:
    return sorted((name for name in files.names() if name.startswith(FOLDER)), reverse=True)


def _of(files: Snapshots, held: Sequence[str], mark: str) -> str | None:
    return next((name for name in held if _head_of(files, name).mark == mark), None)


def _head_of(files: Snapshots, name: str) -> Snapshot:
    return parsed(decoded((files.read(name) or b"")[:_HEAD_BYTES]))


def _is_changed(text: str) -> bool:
    """Tells whether somebody else has changed the text of a snapshot."""
    return rendered(parsed(text)) != text


def _with_name(text: str, called: str) -> str:
    """Returns the text of a snapshot with another name beside its session; all else stays as it is."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        plain, _, names = parted(line.rstrip("\r"))
        if _SESSION.fullmatch(plain):
            lines[at] = f"{plain}{comment(s=names.get('s', ''), n=called)}{line[len(line.rstrip(chr(13))) :]}"
            break
    return "\n".join(lines)


def retitle(files: Snapshots, name: str) -> None:
    """Gives a snapshot another name if its own has words that nobody says in it any more, but for what a model calls
    it."""
    snapshot = parsed(decoded(files.read(name) or b""))
    said = {part for text in (snapshot.called, *(each.text for each in snapshot.said)) for part in parts(text)}
    told = name.removeprefix(FOLDER).removesuffix(".md").split("-")
    if any(not word.isdigit() and word not in said for word in told):
        new = free(slug(snapshot), files.names())
        files.move(name, new)
        name = new
    files.seal(name)


# --- its name --------------------------------------------------------------------------------------------------------


def telling(texts: Iterable[str]) -> tuple[str, ...]:
    """Returns the few words that tell most of what texts are about: those that come back in most of them, in the order
    in which they come first."""
    within, often = Counter[str](), Counter[str]()  # by stem: texts, times
    written: dict[str, str] = {}  # by stem: the word as it was written first
    for text in texts:
        found = [(stem, word) for word in _WORD.findall(text[:LONGEST]) for stem in terms(word)[:1]]
        found = [
            (stem, word.lower())
            for stem, word in found
            if len(word) <= _WIDEST and not word.isdigit() and fold(word) not in STOP
        ]
        within.update({stem for stem, _ in found})
        for stem, word in found:
            often[stem] += 1
            written.setdefault(stem, word)
    place = {stem: at for at, stem in enumerate(written)}
    best = sorted(place, key=lambda stem: (-within[stem], -often[stem], -len(written[stem]), place[stem]))[:WORDS]
    return tuple(written[stem] for stem in sorted(best, key=place.__getitem__))


def slug(snapshot: Snapshot) -> str:
    """Returns the slug of a snapshot: the day of its last message, and what a model calls it, or else its topic."""
    at = snapshot.said[-1].at if snapshot.said else 0.0
    name = f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
    topic = (snapshot.called,) if snapshot.called else snapshot.topic
    for word in (part for each in topic for part in parts(each)):
        if len(name) + 1 + len(word) <= SLUG - _ROOM:
            name = f"{name}-{word}"
    return name


def parts(text: str) -> list[str]:
    """Returns the words of a text as they may be part of a name."""
    return [part for part in _FOREIGN.split(fold(text)) if part]


def free(name: str, others: Collection[str]) -> str:
    """Returns the file of a slug, with a number if another conversation has it."""
    numbered = (f"{FOLDER}{name}{f'-{number}' if number > 1 else ''}.md" for number in range(1, len(others) + 2))
    return next(each for each in numbered if each not in others)
