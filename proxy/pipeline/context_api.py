"""The context of a conversation as an API, for whoever builds prompts without sending them through the proxy.

    POST /olvido/context {session, query, include_history, include_patterns, language, user, validated_context}

Told by what earlier requests of the same key, end user and session have left in the archive: the newest turns in full,
those before them as summaries, items of lists that the assistant gave, facts, fields of the session. Nothing is written
by it. A session that is not known has an empty context. `proxy/openapi.yaml` has the types.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Annotated, Any, TypeVar

import msgspec

from proxy.config import Config
from proxy.config.profiles import Profile
from proxy.config.session_state import SessionState
from proxy.context.digest import Digest, digest, transcript, turns_read
from proxy.context.draft import FRAMING
from proxy.context.state import Heard, hear, told
from proxy.conversation import names
from proxy.conversation.blocks import without_ours
from proxy.conversation.whole_commands import since_cleared
from proxy.errors import BadRequest, ContextUnavailable, InvalidJson, MissingParameter
from proxy.language.detect import language as detected
from proxy.lru import Lru
from proxy.memory.ageing import decay, status
from proxy.memory.shelf import Shelf
from proxy.pipeline import Services
from proxy.protocol.headers import read_directives
from proxy.protocol.message import unpacked
from proxy.storage.base import StorageError
from proxy.tasks import Offload, within
from proxy.types import Answer, ArchivedTurn, Fact, Headers, Identity, Incoming, Json, Language

T = TypeVar("T")

DEADLINE = 5.0  # seconds that storage and reading may take
SETTLING = 1.0  # seconds that the newest answer of the session may take to get into the archive
MOST_TURNS = 2_000  # of a session that are read for its fields
AT_ONCE = 64  # turns that are read for fields without a pause for other work
MOST_HEARD = 5_000  # sessions whose fields are remembered
MOST_FACTS = 100  # of a domain that are told

_PLACE = re.compile(r" - at `\$\.?(.*)`$")


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a request."""

    session: Annotated[str, msgspec.Meta(min_length=1)]
    query: str
    include_history: bool = True
    include_patterns: bool = False
    language: Language | None = None
    user: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    validated_context: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class _Known:
    """Values of the fields after a turn, and the turns that said them: while these are there, they hold."""

    heard: Heard = field(default_factory=Heard)
    sources: Mapping[str, bytes] = field(default_factory=dict)  # links of turns by the name of a field


@dataclass(slots=True)
class ContextReader:
    """Reads contexts of sessions. It remembers the fields of those that it has read."""

    services: Services
    _heard: Lru[tuple[str, bytes], _Known] = field(default_factory=lambda: Lru(MOST_HEARD))

    async def answer(self, incoming: Incoming) -> Answer:
        """Answers one request. Raises BadRequest for what is no such request, ContextUnavailable if storage can't be
        read."""
        offload = Offload(self.services.executor, len(incoming.body))
        asked = await offload(lambda: decoded(incoming.body))
        try:
            return await within(DEADLINE * self.services.patience, self._answer(incoming, asked))
        except (StorageError, TimeoutError):
            raise ContextUnavailable("The storage of conversations can't be read now.") from None

    async def _answer(self, incoming: Incoming, asked: Asked) -> Answer:
        services, config = self.services, self.services.config
        directives = read_directives(incoming.headers)
        user = directives.user or asked.user
        scope = names.scope_named(incoming.tenant, user)
        private = names.is_private(scope, personal=config.tenancy == "personal")
        session = names.session_named(asked.session)
        who = Identity(scope, session, "header", (), private=private)
        profile = config.profiles[config.context.profile]
        path: list[ArchivedTurn] = []
        heard, facts = Heard(), tuple[Fact, ...]()
        if await services.answered.has(scope.id):
            with suppress(TimeoutError):
                await within(SETTLING * services.patience, services.learner.settled(who))
            shelf = await services.library.shelf(who.memory)
            path = await self._path(who, shelf, turns_read(profile))
            facts = tuple(shelf.facts.values()) if asked.include_patterns else ()
            if config.session_state and path:
                heard = await self._fields(who, shelf, path)
        found = _Found(asked, who, scope.user, tuple(path), heard, facts, incoming.received_at)
        made = partial(_told, found, config, profile, services.counter.text)
        return await asyncio.get_running_loop().run_in_executor(services.executor, made)

    async def _path(self, who: Identity, shelf: Shelf, most: int) -> list[ArchivedTurn]:
        """Returns the newest turns of a session's newest path, oldest first, without what is forgotten, or was said
        before the session was cleared."""
        archive = self.services.library.archive
        latest = await archive.latest(who.memory, who.session)
        path = await archive.path(who.memory, latest.link, most) if latest is not None else []
        return await Offload(self.services.executor, len(path), inline_bytes=AT_ONCE)(
            lambda: [turn for turn in since_cleared(path) if shelf.may_keep(turn)]
        )

    async def _fields(self, who: Identity, shelf: Shelf, path: Sequence[ArchivedTurn]) -> Heard:
        """Returns the values of the fields after the turns of a path."""
        start, known = await self._remembered(who, shelf, path)
        if start == 0 and path[0].parent:
            path = await self._path(who, shelf, MOST_TURNS)
            start, known = await self._remembered(who, shelf, path)
        loop, fields = asyncio.get_running_loop(), self.services.config.session_state
        for at in range(start, len(path), AT_ONCE):
            answered = _last_answer(path[at - 1]) if at else ""
            turns = path[at : at + AT_ONCE]
            known = await loop.run_in_executor(self.services.executor, partial(_hear, known, turns, answered, fields))
            self._heard.put((who.memory, turns[-1].link), known)
        return known.heard

    async def _remembered(self, who: Identity, shelf: Shelf, path: Sequence[ArchivedTurn]) -> tuple[int, _Known]:
        """Returns how many turns of a path need not be read again, and the values after them. Another process may have
        forgotten what said one of them."""
        for number in range(len(path), 0, -1):
            known = self._heard.used((who.memory, path[number - 1].link))
            if known is not None:
                said = frozenset(known.sources.values())
                there = await self.services.library.archive.known(who.memory, tuple(said)) if said else said
                return (number, known) if said <= there and shelf.forgotten.isdisjoint(said) else (0, _Known())
        return 0, _Known()


def decoded(body: bytes) -> Asked:
    """Decodes the body of a request. Raises BadRequest, with the path of the field that is wrong."""
    try:
        return msgspec.json.decode(body, type=Asked)
    except msgspec.ValidationError as error:
        said = str(error)
        place = _PLACE.search(said)
        what = said[: place.start()] if place else said
        if (missing := re.search(r"missing required field `(\w+)`", what)) is not None:
            raise MissingParameter(f"Missing required parameter: '{missing[1]}'.", param=missing[1]) from None
        if (unknown := re.search(r"contains unknown field `(.*)`", what, re.DOTALL)) is not None:
            name = unknown[1][:40]
            raise BadRequest(f"Unknown parameter: {name!r}.", param=name) from None
        name = place[1] if place else ""
        named = f"'{name}'" if name else "the request body"
        raise BadRequest(f"Invalid value for {named}: {what}.", param=name or None) from None
    except RecursionError:
        raise InvalidJson("The request body is nested too deeply.") from None
    except ValueError as error:  # not JSON, not UTF-8
        what = "it is not valid UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)[:120].rstrip(".")
        raise InvalidJson(f"The request body is not valid JSON: {what}.") from None


def _last_answer(turn: ArchivedTurn) -> str:
    return next((said.text for said in reversed(turn.utterances) if said.role == "assistant"), "")


def _hear(known: _Known, turns: Sequence[ArchivedTurn], answered: str, fields: SessionState) -> _Known:
    heard, sources = known.heard, dict(known.sources)
    for turn in turns:
        before = heard.values
        for said in unpacked(turn.messages):
            if said.role == "assistant":
                answered = said.text or answered
            elif said.role == "user":
                parts, spoken = map(without_ours, said.texts), detected(said.text) or "en"
                heard = hear(heard, *parts, at=turn.at, language=spoken, fields=fields, answered=answered)
        changed = {name: turn.link for name, value in heard.values.items() if before.get(name) != value}
        sources = {name: link for name, link in (sources | changed).items() if name in heard.values}
    return _Known(heard, sources)


# --- what is told ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Found:
    """A request, and what was found for it."""

    asked: Asked
    who: Identity
    user: str
    path: tuple[ArchivedTurn, ...]
    heard: Heard
    facts: tuple[Fact, ...]
    at: float


def _told(found: _Found, config: Config, profile: Profile, count: Callable[[str], int]) -> Answer:
    """Makes the answer, in a worker thread."""
    asked, path = found.asked, found.path
    spoken = asked.language or _language(asked.query, path)
    limit = _limit(config, profile)
    patterns = _patterns(found, config) if asked.include_patterns else None
    others = count(asked.query) + FRAMING
    made = digest(path, profile, limit=limit, others=others, count=count, history=asked.include_history)
    body = {
        "user_id": found.user or None,
        "session_id": found.who.session,
        "current_query": asked.query,
        "language": spoken,
        **_history(made, spoken),
        "previous_entities": [asdict(each) for each in made.entities],
        "session_summary": made.summary,
        "total_turns": path[-1].number if path else 0,
        "estimated_tokens": made.tokens,
        "tokens_remaining": None if limit is None else max(0, limit - made.tokens),
        "user_patterns": patterns,
        "validated_context": asked.validated_context,
        "state": _state(found, config, spoken),
    }
    headers: Headers = (("content-type", "application/json"), ("cache-control", "no-store"))
    return Answer(200, headers, msgspec.json.encode(body))


def _history(made: Digest, spoken: Language) -> dict[str, Json]:
    messages = [{"role": said.role, "content": said.text} for said in made.history]
    return {"history_messages": messages, "conversation_history": transcript(made.history, spoken)}


def _language(query: str, path: Sequence[ArchivedTurn]) -> Language:
    """Returns the language of the query, or else of the newest message of the user of which it is known."""
    users = [said.text for turn in reversed(path[-5:]) for said in turn.utterances if said.role == "user"]
    return next((known for text in (query, *users) if (known := detected(text)) is not None), "en")


def _limit(config: Config, profile: Profile) -> int | None:
    """Returns the tokens of a prompt at most, by the profile and the first upstream; None if there is no limit."""
    limits = [] if profile.budget == "economic" else [float(profile.budget)]
    if (most := config.upstreams[0].context_tokens) is not None:
        limits.append(most * profile.context_share)
    return int(min(limits)) if limits else None


def _patterns(found: _Found, config: Config) -> Mapping[str, Json]:
    """Returns the active facts of each domain, the last confirmed first, with their number."""
    ageing = decay(config.memory)
    active = [fact for fact in found.facts if status(fact, found.at, ageing) == "active"]
    by_domain: dict[str, list[Fact]] = {}
    for fact in sorted(active, key=lambda fact: (-fact.last_confirmed_at, fact.id)):
        by_domain.setdefault(fact.domain, []).append(fact)
    return {
        domain: {"count": len(facts), "facts": [fact.value for fact in facts[:MOST_FACTS]]}
        for domain, facts in sorted(by_domain.items())
    }


def _state(found: _Found, config: Config, spoken: Language) -> Json:
    """Returns the fields of the session after the query; None if none are configured."""
    fields = config.session_state
    if not fields:
        return None
    answered = _last_answer(found.path[-1]) if found.path else ""
    heard = hear(found.heard, found.asked.query, at=found.at, language=spoken, fields=fields, answered=answered)
    return asdict(told(heard.values, fields, spoken))
