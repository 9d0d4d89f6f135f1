"""The outcome of a request, read from what an upstream has delivered: its completion, its usage, the links that are
known from now on; whether it has succeeded, and whether it has come to nothing."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from proxy.errors import UpstreamBroken, UpstreamError
from proxy.protocol.answers import answers_of, find_usage, has_error, model_of
from proxy.protocol.chains import links_after
from proxy.types import Delivery, Exchange

_object = msgspec.json.Decoder(dict[str, Any])


def decoded(body: bytes) -> dict[str, Any]:
    """Returns a completion that was read whole; an empty one for garbage."""
    try:
        return _object.decode(body)
    except (ValueError, RecursionError):
        return {}


def came_to_nothing(delivery: Delivery) -> bool:
    """True if the upstream failed, be it by an error event in a stream. A complete answer that is merely not kept is no
    failure: waiting requests get their own."""
    return delivery.outcome != "complete" or has_error(delivery.partial)


def failed(delivery: Delivery) -> UpstreamError:
    """Returns the error for requests that waited for this answer, which failed after it had begun."""
    if delivery.outcome == "upstream_broken":
        return UpstreamBroken(f"upstream {delivery.upstream!r} has just broken off the answers to the same request")
    return UpstreamError(f"upstream {delivery.upstream!r} has just failed to answer the same request")


def is_success(delivery: Delivery) -> bool:
    """Tells whether the upstream has answered with a 2xx."""
    return 200 <= delivery.status < 300


def has_answered(exchange: Exchange, delivery: Delivery) -> bool:
    """True if an upstream has answered this scope, now or before."""
    return exchange.identity.is_answered or is_success(delivery)


def read(delivery: Delivery) -> Delivery:
    """Returns the delivery with its JSON answer decoded; a stream was decoded as it passed. Anything else (garbage, a
    content coding) was passed on unchanged, and stays unaccounted."""
    raw = delivery.raw_completion
    if raw is None or delivery.status >= 400:
        return delivery
    try:
        completion = _object.decode(raw)
    except (ValueError, RecursionError):
        return delivery
    model = model_of(completion) or delivery.model
    return replace(delivery, completion=completion, usage=delivery.usage or find_usage(completion), model=model)


def read_and_chain(exchange: Exchange, delivery: Delivery) -> tuple[Delivery, tuple[bytes, ...]]:
    """Returns the decoded delivery, and the links that are known from now on: () if it failed."""
    delivery = read(delivery)
    if delivery.outcome == "our_error" or not is_success(delivery):
        return delivery, ()
    return delivery, chain_after(exchange, delivery.completion)


def chain_after(exchange: Exchange, completion: Mapping[str, Any] | None) -> tuple[bytes, ...]:
    """Returns the links of the request and of the answer, by which the next request of this conversation is
    recognised."""
    if exchange.directives.mode == "off":
        return ()
    chain = exchange.identity.chain
    answers = answers_of(completion)
    if len(answers) != 1:  # with n > 1 the client's choice is not known yet
        return chain
    return (*chain, *links_after(chain[-1], answers))
