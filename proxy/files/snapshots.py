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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import zip_longest
from typing import Literal, get_args

from proxy.files import slugs
from proxy.files.lines import comment, link_code, link_of, many_lines, one_line, parted
from proxy.language.values import FORGOTTEN
from proxy.types import ArchivedTurn

MOST = 15  # messages
LONGEST = 20_000  # characters of a message; what is behind them is left out
_LEFT_OUT = " […]"

Role = Literal["user", "assistant"]
_STAMP = "%Y-%m-%dT%H:%M:%SZ"
_HEAD = re.compile(rf"\*\*({'|'.join(get_args(Role))})\*\*")
SESSION = re.compile(r"- session:(?: (.*))?")


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
        return slugs.telling(said.text[:LONGEST] for said in self.said if said.role == "user")

    @property
    def slug(self) -> str:
        """The slug: the day of its last message, and what a model calls it, or else its topic."""
        at = self.said[-1].at if self.said else 0.0
        return slugs.slug(at, (self.called,) if self.called else self.topic)


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
        elif not is_in and (found := SESSION.fullmatch(plain)):
            called = "-".join(slugs.parts(names.get("n", "")))
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
