"""Responses that the proxy keeps, in the store of answers, and requests that go on from them: made whole, with the
items of the chain in front of their own, and items that they only name in place.

What is kept is of one scope, and of nobody else's. A response is kept where it was told by the proxy itself, which no
provider knows, or where the configuration says so (`responses.take_over`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import time
from typing import Any

from proxy.errors import BadRequest, UnknownResponse
from proxy.pipeline import Services
from proxy.protocol.chat import ChatCompletionRequest
from proxy.protocol.origin import Origin
from proxy.protocol.responses import keeping
from proxy.protocol.responses import request as response_request
from proxy.storage.base import StorageError
from proxy.tasks import Offload, within
from proxy.types import Scope, StoredAnswer

KEEP_DEADLINE = 1.0  # seconds that keeping, or finding, a response may take


@dataclass(frozen=True, slots=True)
class Chains:
    """The kept responses of a request's scope."""

    services: Services
    scope: Scope
    now: float  # unix seconds
    offload: Offload

    async def whole(self, request: ChatCompletionRequest, *, is_native: bool) -> ChatCompletionRequest:
        """Returns a request with all that it goes on from, as far as that is kept; itself where it goes on from
        nothing, or from what the provider holds. `is_native`: the upstream has the API. Raises UnknownResponse and
        BadRequest for one that nobody could answer then."""
        origin = response_request.origin_of(request)
        takes_over = is_native and self.services.config.responses.take_over
        chain = await self._before(origin, is_native=is_native, takes_over=takes_over)
        named = await self._named(origin)
        if chain or named:
            body = await self.offload(lambda: response_request.continued(origin, keeping.before(chain), named))
            request = await self.offload(lambda: response_request.parse(body))
            if chain:
                request = response_request.chained(request, origin.previous, is_unstored=takes_over)
            origin = response_request.origin_of(request)
        if is_native:
            return request
        if origin.dangling and origin.hands_off.endswith("_output"):  # nothing else in it is foreign before that
            raise BadRequest(
                f"No tool call found for function call output with call_id {origin.dangling[:100]}.", param="input"
            )
        if not request.messages and not origin.foreign:
            raise BadRequest("Invalid 'input': empty. Expected at least one item.", param="input")
        return request

    async def _before(self, origin: Origin, *, is_native: bool, takes_over: bool) -> Sequence[keeping.KeptResponse]:
        """Returns the chain that a request goes on from; () if that is none, or the provider's."""
        previous = origin.previous
        if not previous or (is_native and not takes_over and not keeping.is_own(previous)):
            return ()
        chain = await find_chain(self.services, self.scope, previous, self.now)
        if chain is None and not is_native:
            raise UnknownResponse(
                f"Previous response with id {previous[:100]!r} not found.", param="previous_response_id"
            )
        return chain or ()

    async def _named(self, origin: Origin) -> Mapping[str, bytes]:
        """Returns the items of kept responses that a request only names, by their ids."""
        if not origin.hands_off or b"item_reference" not in origin.given:
            return {}
        ids = await self.offload(lambda: response_request.referred(origin.given))
        found: dict[str, bytes] = {}
        looked_for = {""}
        for each in ids:
            if each in found or (name := await self._response_of(each)) in looked_for:
                continue
            looked_for.add(name)
            if (record := await find(self.services, self.scope, name, self.now)) is not None:
                found.update(record.by_id())
        return {each: found[each] for each in ids if each in found}

    async def _response_of(self, item: str) -> str:
        """Returns the id of the kept response that an item stands in; "" if none is known."""
        if (name := keeping.response_of(item)) or not self.services.config.responses.take_over:
            return name
        data = await _stored(self.services, self.scope, item, self.now)
        return "" if data is None else keeping.placed(data)


async def find_chain(services: Services, scope: Scope, last: str, now: float) -> list[keeping.KeptResponse] | None:
    """Returns the kept responses up to `last`, oldest first; None if one of them is not there, or they are too many."""
    found: dict[str, keeping.KeptResponse] = {}
    name = last
    while name and len(found) < keeping.LONGEST:
        record = None if name in found else await find(services, scope, name, now)
        if record is None:
            return None
        found[name] = record
        name = record.previous
    return None if name else list(found.values())[::-1]


async def find(services: Services, scope: Scope, name: str, now: float) -> keeping.KeptResponse | None:
    """Returns a response of a scope that is kept; None if there is none, or it cannot be read."""
    data = await _stored(services, scope, name, now)
    return None if data is None else keeping.read(data)


async def _stored(services: Services, scope: Scope, name: str, now: float) -> bytes | None:
    """Returns what is kept under a name; None if there is nothing, or it cannot be read."""
    try:
        work = services.storage.answers.get(scope.id, _key(scope, name), now)
        stored = await within(KEEP_DEADLINE * services.patience, work)
    except (StorageError, TimeoutError, OSError):
        services.metrics.failed_open("responses", "read")
        return None
    return None if stored is None else stored.completion


async def drop(services: Services, scope: Scope, name: str) -> None:
    """Deletes a kept response. Raises StorageError, TimeoutError."""
    work = services.storage.answers.delete(scope.id, _key(scope, name))
    await within(KEEP_DEADLINE * services.patience, work)


async def keep(
    services: Services,
    scope: Scope,
    origin: Origin,
    given: bytes,
    response: Mapping[str, Any],
    *,
    is_unstored: bool = False,
) -> None:
    """Keeps a response. `given`: the input of its request as the client wrote it. `is_unstored`: its provider, who has
    named its items, keeps none of them, so that they have to be found here by those names. A failure is counted."""
    name = str(response.get("id"))
    records = {name: keeping.kept(origin, given, response)}
    output = response.get("output")
    if is_unstored and isinstance(output, list):
        place = keeping.place(name)
        records |= {str(item["id"]): place for item in output if isinstance(item, dict) and item.get("id")}
    now, seconds, answers = time(), services.config.responses.keep, services.storage.answers

    async def put() -> None:
        for each, data in records.items():
            stored = StoredAnswer(data, now, "", "", streamed=False)
            await answers.put(scope.id, _key(scope, each), stored, seconds)

    try:
        await within(KEEP_DEADLINE * services.patience, put())
    except (StorageError, TimeoutError, OSError, ValueError):
        services.metrics.failed_open("responses", "keep")


def _key(scope: Scope, name: str) -> str:
    return f"{keeping.KEY}{scope.id}:{name[:200]}"
