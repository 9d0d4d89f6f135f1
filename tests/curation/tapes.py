"""Tapes of sessions at the desk, and what a model says of them."""

from collections.abc import Mapping
from typing import Any

import msgspec

from proxy.types.desk import TapeLine
from tests.builders import NOW
from tests.curation.builders import SCOPE, link
from tests.curation.house import House

Json = Any

SAID: tuple[Mapping[str, Any], ...] = (
    {"role": "system", "content": "You are a careful engineer."},
    {"role": "user", "content": "Refactor the auth module for OAuth2, old clients must keep working"},
    {
        "role": "assistant",
        "content": "Running the tests.",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"command": "pytest -q"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "E  ConnectionError: REDIS_URL is not set"},
    {"role": "assistant", "content": "The tests need Redis."},
    {"role": "user", "content": "Start the compose file first then"},
)
CONCLUSION: Json = {
    "task": ["Goal: OAuth2 in the auth module", "[x] Find out why tests fail", "[ ] Write the adapter"],
    "lessons": ["pytest fails without REDIS_URL: start the compose file first"],
    "notes": ["Hypothesis: old clients send no scope"],
    "project": ["Tests run with `pytest -q`"],
    "outdated": [],
}


def tape(*said: Mapping[str, Any], first: int = 1) -> list[TapeLine]:
    """Lines of a tape, as the store numbers them: of messages, the first of them the session's `first`."""
    return [
        TapeLine(
            id=number,
            link=link(f"line {number}"),
            at=NOW + number,
            role=each["role"],
            tokens=10,
            content=msgspec.json.encode(each),
        )
        for number, each in enumerate(said, first)
    ]


async def at_the_desk(
    house: House, *said: Mapping[str, Any], session: str = "s", project: str = "", first: int = 1
) -> None:
    """A session at the desk had these messages, and has ended."""
    await house.storage.desks.write(SCOPE, session, tape(*(said or SAID), first=first))
    house.arming.worked(SCOPE, session, project)
    await house.storage.jobs.flush()
    await house.arming.ended(SCOPE, session, "api")
    await house.storage.flush()
