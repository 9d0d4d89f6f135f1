"""Files of a log as requests: an object a line, an array of them, or one that holds them.

What only a whole log can tell is settled here: the answer that another entry has, and which names of sessions say
something.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from proxy.protocol import headers as wire_headers
from proxy.replay.gateways import ANSWER_ONLY, plain
from proxy.replay.reading import SESSION, Answered, Logged, Skipped, read
from proxy.types import Message

BOM = b"\xef\xbb\xbf"


def log_of(files: Iterable[bytes]) -> tuple[list[Logged], list[Skipped]]:
    """Parses whole files as one log: what answers a request of another file is its answer."""
    said = [each for data in files for each in _entries(data)]
    answers = {each.name: each.answer for each in said if isinstance(each, Answered)}
    requests = [_with_answer(each, answers) for each in said if isinstance(each, Logged)]
    asked = {each.name for each in requests}
    alone = [Skipped(each.line, ANSWER_ONLY) for each in said if isinstance(each, Answered) and each.name not in asked]
    skipped = [each for each in said if isinstance(each, Skipped)]
    return _of_conversations(requests), sorted([*skipped, *alone], key=lambda each: each.line)


def _entries(data: bytes) -> Iterator[Logged | Skipped | Answered]:
    """Parses a file. The number of an element of an array is its place, from 1."""
    text = data.removeprefix(BOM).strip()
    first, _, more = text.partition(b"\n")
    if text[:1] == b"[":
        try:
            elements = msgspec.json.decode(text, type=list[msgspec.Raw])
        except (ValueError, RecursionError):
            if plain(msgspec.Raw(first)) is None:
                yield Skipped(1, "a JSON array that is not complete")
                return
        else:
            for number, each in enumerate(elements, 1):
                yield from read(bytes(each), number)
            return
    elif more and plain(msgspec.Raw(first)) is None and isinstance(plain(msgspec.Raw(text)), dict):
        yield from read(text, 1)
        return
    for number, line in enumerate(data.removeprefix(BOM).splitlines(), 1):
        if line.strip():
            yield from read(line.strip(), number)


def _with_answer(request: Logged, answers: Mapping[str, Message]) -> Logged:
    found = answers.get(request.name) if request.name and request.answer is None else None
    return request if found is None else replace(request, answer=found)


def _of_conversations(requests: Sequence[Logged]) -> list[Logged]:
    """Leaves out the name of a session that one request alone has: some gateways make one up for every request, and
    who re-sends a history is recognised by it."""
    named = Counter(_session(each) for each in requests)
    return [
        each
        if named[_session(each)] > 1
        else replace(each, headers=tuple(header for header in each.headers if header[0] != SESSION))
        for each in requests
    ]


def _session(request: Logged) -> tuple[str, str]:
    return request.key, wire_headers.get(request.headers, SESSION) or ""
