"""Requests of a log in the order in which they were made, each with its answer: the one that the log has, or the
assistant message that the next request of its conversation shows."""

from collections.abc import Sequence
from dataclasses import replace

from proxy.replay.reading import Logged
from proxy.types import Headers, Message
from proxy.wire import headers as wire_headers
from proxy.wire.request import parse
from proxy.wire.turns import Chains

SECONDS_APART = 1.0  # of requests without a time


def in_order(requests: Sequence[Logged], now: float) -> tuple[Logged, ...]:
    """By time. A request without one was made when the one before it was; if none has a time, from `now` on."""
    at = next((each.at for each in requests if each.at is not None), None)
    if at is None:
        return tuple(replace(each, at=now + number * SECONDS_APART) for number, each in enumerate(requests))
    timed = []
    for each in requests:
        at = at if each.at is None else each.at
        timed.append(replace(each, at=at))
    return tuple(sorted(timed, key=lambda each: each.at or 0.0))


def answered(requests: Sequence[Logged]) -> tuple[Logged, ...]:
    """`requests` are in order."""
    chains = Chains()
    waiting: dict[bytes, int] = {}  # by the link of its last message: a request whose answer is not known
    answers: dict[int, Message] = {}
    for number, each in enumerate(requests):
        messages = parse(each.body).messages
        chain = chains.of(f"{each.key}/{_user(each.headers)}", messages)
        for index, said in enumerate(messages[1:], 1):
            if said.role == "assistant" and (asked := waiting.pop(chain[index - 1], None)) is not None:
                answers[asked] = said
        if each.answer is None:
            waiting[chain[-1]] = number
    return tuple(
        replace(each, answer=answers[number]) if number in answers else each for number, each in enumerate(requests)
    )


def _user(headers: Headers) -> str:
    return wire_headers.get(headers, "x-olvido-user") or ""
