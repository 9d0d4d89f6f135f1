"""`python -m tests.calls`: the Python calls that a request costs, with all that it leaves to be done. Counts, not
times: they are the same on every machine, whatever else it does.

    untouched   a short chat that goes on, whose history is known
    exact hit   a deterministic request, answered from the cache
    managed     a chat of 41 messages that goes on, planned under a budget

Calls of all threads but the upstream's, libraries included; n requests of each kind, the median.
"""

import asyncio
import statistics
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any

from tests.builders import Said, assistant, body, user
from tests.proxied import Upstream, ask, in_front_of, run_upstream, serving

N = 15
TEXT = "the garden wall needs a new foundation before the frost comes and the mason asked for two more weeks"
WORDS = TEXT.split()
LEAN = {"profiles": {"small": {"base": "lean", "budget": 900}}, "context": {"profile": "small"}}


class Counter:
    """Counts calls in every thread that is started while it is at work, and in this one."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, _frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            self.calls += 1


def said(number: int, words: int = 30) -> str:
    return f"{number}: " + " ".join(WORDS[(number * 7 + place) % len(WORDS)] for place in range(words))


def chat(turns: int, words: int) -> list[Said]:
    return [each for n in range(turns) for each in (user(said(n, words)), assistant(said(n + 1, words)))]


def requests(kind: str) -> Sequence[bytes]:
    match kind:
        case "exact hit":
            return [body(user("What is a black hole?"), model="demo-chat", temperature=0)] * (N + 1)
        case "untouched":
            return [body(*chat(n + 1, 6), user("And then?"), model="demo-chat") for n in range(N + 1)]
        case _:
            return [body(*chat(20 + n, 40), user("And then?"), model="demo-chat") for n in range(N + 1)]


async def counted(kind: str, upstream: Upstream) -> list[int]:
    """Calls of each request but the first, which is there to make the rest known."""
    counter = Counter()
    threading.setprofile(counter)
    sections: dict[str, Any] = LEAN if kind == "managed" else {}
    try:
        async with serving(in_front_of(upstream, **sections)) as services:
            found = []
            for number, raw in enumerate(requests(kind)):
                before = counter.calls
                sys.setprofile(counter if number else None)
                await ask(services, raw)
                sys.setprofile(None)
                found.append(counter.calls - before)
            return found[1:]
    finally:
        threading.setprofile(None)


def main() -> None:
    with run_upstream() as upstream:
        for kind in ("untouched", "exact hit", "managed"):
            found = asyncio.run(counted(kind, upstream))
            print(
                f"{kind:10} {statistics.median(found):8,.0f} calls ({min(found):,} to {max(found):,}, n = {len(found)})"
            )


if __name__ == "__main__":
    main()
