"""Turns to recall, of the files of a person: today's and yesterday's log lines, and snapshots. Only what the archive
does not have: a line that a person wrote, a conversation that has expired, or was never kept. What a model has noted is
nobody's words: it is recalled as an answer is, and digests, which repeat it, are not.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from hashlib import blake2b

from proxy.files import journal, snapshot_files, snapshots
from proxy.files.document import parse
from proxy.files.lines import LINK_BYTES, one_line, parted
from proxy.files.scrubbing import Gone
from proxy.files.snapshots import Role
from proxy.language.values import FORGOTTEN
from proxy.memory.commands import mark
from proxy.memory.watching import Has
from proxy.types import ArchivedTurn, Utterance

MOST_MESSAGES = 2_000  # of the files of a scope
DAYS = 2  # of logs that are recalled: today's and yesterday's
_DAY = timedelta(days=1).total_seconds()
_OF_FACTS = re.compile(r"MEMORY(?:-\d+)?\.md$")  # the names of texts of MEMORY.md, also of older ones
_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+")
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)\b[ \t]*")


def names(every: list[str], now: float) -> list[str]:
    """Returns those of a folder's files that are recalled, the most telling first: logs, then the newest snapshots."""
    logs = [journal.file_of(now - day * _DAY) for day in range(DAYS)]
    held = sorted((name for name in every if name.startswith(snapshot_files.FOLDER)), reverse=True)
    return [*(name for name in logs if name in every), *held]


def remembered(files: Mapping[str, str], scope: str, has: Has, now: float) -> tuple[ArchivedTurn, ...]:
    """Returns the turns that these files alone have, of logs as well as of snapshots. A turn of a snapshot has the
    links of its messages, those of other lines are digests of scope, file and line."""
    found: list[ArchivedTurn] = []
    seen: set[bytes] = set()
    most = MOST_MESSAGES
    for name in names(list(files), now):
        of_file = _snapshot if name.startswith(snapshot_files.FOLDER) else _log
        for turn in of_file(files[name], scope, name, has):
            said = tuple(each for each in turn.utterances if each.link not in seen)
            seen.update(each.link for each in said)
            most -= len(said)
            if most < 0:
                return tuple(found)
            if said:
                found.append(ArchivedTurn(said[-1].link, b"", turn.session, turn.number, turn.at, b"", said))
    return tuple(found)


def version(files: Mapping[str, str], now: float) -> bytes:
    """Returns a digest of these files on the day of `now`: the same, if nothing else is to be recalled of them."""
    digest = blake2b(journal.file_of(now).encode(), digest_size=16)
    for name, text in sorted(files.items()):
        for part in (name, text):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


def gone(files: Mapping[str, str], was_forgotten: Has) -> Gone:
    """Returns what these files have though it was forgotten: a message by its link, a value by its mark."""
    links: set[bytes] = set()
    values: set[str] = set()
    for name, text in files.items():
        for link, words in _said_in(name, text):
            if link is not None and was_forgotten(link):
                links.add(link)
            if was_forgotten(mark(words)):
                values.add(words)
    return Gone(links=frozenset(links), values=frozenset(values))


def _said_in(name: str, text: str) -> Iterator[tuple[bytes | None, str]]:
    if name.startswith(snapshot_files.FOLDER):
        return ((each.link, each.text) for each in snapshots.parsed(text).said if each.text)
    if _OF_FACTS.search(name):
        return ((None, bullet.text) for bullet in parse(text).bullets)
    events = (journal.parsed(line, 0.0) for line in text.split("\n"))
    return ((event.link, event.words) for event in events if event is not None and event.words)


def _log(text: str, scope: str, name: str, has: Has) -> Iterator[ArchivedTurn]:
    day = journal.begun(name)
    at = day
    session = f"log-{name.removesuffix('.md')}"
    for number, line in enumerate(text.split("\n"), 1):
        event = journal.parsed(line, day)
        if event is not None and event.kind in journal.DIGESTS:
            continue
        if event is not None:
            at = event.at
            words = "" if event.kind == "forgotten" or (event.link is not None and has(event.link)) else event.words
        else:
            words, at = _by_hand(line, day, at)
        if words and not has(mark(words)):
            role: Role = "assistant" if event is not None and event.kind == "noted" else "user"
            yield _turn(session, number, at, (Utterance(role, words, _digest(scope, name, line)),))


def _by_hand(line: str, day: float, at: float) -> tuple[str, float]:
    """Returns the words of a line that a person wrote into a log, and its time: that of the line before, if it tells
    none."""
    words = parted(line)[0].strip()
    if words.startswith(("#", "<!--")):
        return "", at
    words = _BULLET.sub("", words, count=1)
    if found := _CLOCK.match(words):
        words, at = words[found.end() :], day + 3_600 * int(found[1]) + 60 * int(found[2])
    words = one_line(words)
    return ("", at) if words in FORGOTTEN or not any(map(str.isalnum, words)) else (words, at)


def _snapshot(text: str, scope: str, name: str, has: Has) -> Iterator[ArchivedTurn]:
    snapshot = snapshots.parsed(text)
    session = snapshot.session or name
    for number, turn in enumerate(snapshots.turns(snapshot.said), 1):
        said = tuple(
            Utterance(each.role, each.text, each.link or _digest(scope, name, f"{number} {place} {each.text}"))
            for place, each in enumerate(turn)
            if each.text.strip() and not (each.link is not None and has(each.link)) and not has(mark(each.text))
        )
        if said:
            yield _turn(session, turn[0].turn or number, turn[0].at, said)


def _turn(session: str, number: int, at: float, said: tuple[Utterance, ...]) -> ArchivedTurn:
    return ArchivedTurn(said[-1].link, b"", session, number, at, b"", said)


def _digest(*parts: str) -> bytes:
    said = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(said, digest_size=LINK_BYTES, person=b"olvido-file").digest()
