"""A client that names its conversation (`x-olvido-session`) may send only what is new: the history is supplied from the
archive, and from then on the request is as if the client had sent all of it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from proxy.memory.layout import INSTRUCTIONS
from proxy.memory.turns import messages_of
from proxy.offload import Offload
from proxy.storage.recollection import Archive
from proxy.types import ArchivedTurn, ChatRequest, Identity, Message
from proxy.wire import turns
from proxy.wire.request import with_changes

MOST_TURNS = 2_000


async def resume(
    request: ChatRequest,
    identity: Identity,
    *,
    archive: Archive,
    settled: Callable[[Identity], Awaitable[None]],
    chains: turns.Chains,
    offload: Offload,
) -> tuple[ChatRequest, Identity]:
    """The request with its history; as it is if it has one, or there is none. `settled`: returns when what was just
    answered in this session is in the archive."""
    if identity.session_source != "header" or identity.known or not _is_only_new(request.messages):
        return request, identity
    await settled(identity)
    latest = await archive.latest(identity.memory, identity.session)
    if latest is None:
        return request, identity
    path = await archive.path(identity.memory, latest.link, MOST_TURNS)
    messages = await offload(lambda: _joined(path, request.messages))
    chain = await offload(lambda: chains.of(identity.scope.id, messages))
    raw = await offload(lambda: with_changes(request.raw, messages=messages))
    known = len(messages) - sum(said.role == "user" for said in request.messages)
    return (
        replace(request, raw=raw, messages=messages),
        replace(identity, chain=chain, known=known, continuity="continued"),
    )


def _is_only_new(messages: tuple[Message, ...]) -> bool:
    """Instructions, then nothing but what the user says: who sends a history sends answers, too."""
    roles = [said.role for said in messages if said.role not in INSTRUCTIONS]
    return bool(roles) and all(role == "user" for role in roles)


def _joined(path: list[ArchivedTurn], new: tuple[Message, ...]) -> tuple[Message, ...]:
    """Instructions that come with the new message take the place of those that came with the first one."""
    instructions = tuple(said for said in new if said.role in INSTRUCTIONS)
    old = [said for turn in path for said in messages_of(turn)]
    if instructions:
        first = next((index for index, said in enumerate(old) if said.role not in INSTRUCTIONS), len(old))
        old = [*instructions, *old[first:]]
    return (*old, *(said for said in new if said.role not in INSTRUCTIONS))
