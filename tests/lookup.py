"""Counts what one look-up by intent costs in Python: the frames below `proxy/` that it enters, and the modules that
they are of.

It is warm: the same question has been looked up before, so that what is remembered of a question is remembered. It is a
hit in other words, the longest way that a request takes.
"""

import asyncio
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

from proxy.types import Directives, ReuseHit
from tests.builders import chat, incoming, user
from tests.reuse.test_intent import AGAIN, ASKED, NOT_EXACT, House, opening

PROXY = str(Path(__file__).parent.parent / "proxy") + "/"


async def entered() -> Counter[str]:
    """How many frames the look-up enters, by module: `reuse/verdict.py`."""
    with ThreadPoolExecutor(1) as executor:
        house = House(executor=executor)
        await house.answered(ASKED)
        await house.ask(AGAIN)
        request = chat(user(AGAIN))
        asked = incoming(at=house.now), request, opening(request), Directives(), NOT_EXACT, "up"
        found: Counter[str] = Counter()

        def count(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(PROXY):
                found[frame.f_code.co_filename.removeprefix(PROXY)] += 1

        sys.setprofile(count)
        try:
            result = await house.intent.lookup(*asked)
        finally:
            sys.setprofile(None)
    assert isinstance(result, ReuseHit), result
    return found


def measured() -> dict[str, int]:
    found = asyncio.run(entered())
    return {"frames of a look-up": found.total(), "modules of a look-up": len(found)}
