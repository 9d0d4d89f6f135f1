"""The choice of the requests that are mirrored, and what mirroring one may cost. Pure.

The choice is by a hash of the conversation up to this request: a request that is sent again is chosen again, by
whatever process. Answers that call tools come second: they may take no more than half of a day's money.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from proxy.types import Delivery, Exchange, Message

Skipped = Literal["unpriced", "spent", "busy", "paused", "failed"]  # a request that was chosen, and not mirrored

MOST_TEXT = 100_000  # characters of an answer that is compared
TOOLS_SHARE = 0.5  # of a day's money that answers which call tools may take
PROMPT_MARGIN = 1.25  # by which a prompt may be larger than it was counted
ANSWER_FACTOR, LEAST_ANSWER = 4, 1_024  # tokens that an answer is taken to have at most: times the managed one's
_PARTS = 2**32


@dataclass(frozen=True, slots=True)
class Most:
    """The tokens that a mirrored request is taken to have at most."""

    prompt: int
    completion: int


def is_candidate(exchange: Exchange, delivery: Delivery) -> bool:
    """Tells whether a request can be mirrored: a chat completion whose prompt was really rewritten, whose answer is
    whole, and of which its client lets something be kept."""
    said, plan = exchange.directives, exchange.plan
    return (
        plan.kind in ("managed", "over-budget")
        and plan.messages is not None
        and said.mode == "on"
        and said.store
        and said.remember
        and delivery.outcome == "complete"
        and 200 <= delivery.status < 300
        and exchange.identity.is_answered
        and exchange.request.n == 1
        and exchange.request.origin is None  # as it was it spoke another API
    )


def is_drawn(scope: str, link: bytes, share: float) -> bool:
    """Tells whether the hash of a conversation up to its newest message, `link`, falls into the share."""
    drawn = blake2b(scope.encode("utf-8", "replace") + link, digest_size=4, person=b"quality").digest()
    return int.from_bytes(drawn) < share * _PARTS


def most_of(exchange: Exchange, completion_tokens: int) -> Most:
    """Returns the tokens to set money aside for. `completion_tokens`: of the managed answer. Neither is a limit: the
    request is sent as it was, so what it has cost is counted afterwards."""
    completion = max(LEAST_ANSWER, ANSWER_FACTOR * completion_tokens)
    if (limit := exchange.request.answer_limit) is not None:
        completion = min(completion, limit)
    return Most(round(exchange.plan.tokens.original * PROMPT_MARGIN), completion)


def question_of(messages: Sequence[Message]) -> str:
    """Returns the newest user message."""
    return next((message.text for message in reversed(messages) if message.role == "user"), "")
