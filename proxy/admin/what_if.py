"""Replays past requests with other numbers in a profile.

    POST /admin/api/what-if   {profile, changes, scope, session, last}: the last requests whose contents are kept, taken
                              once more through the stages that serve live ones, under the configuration as it is
                              (`before`) and with `changes` in `profile` (`after`). Nothing is sent upstream.

Both start from the first of these requests, with nothing remembered, and their prefix caches are simulated: compare
them with each other, not with the ledger. `kept` are the messages that would have been sent, whole or shortened. One at
a time; it ends when the client goes.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Annotated, Any

import msgspec
from pydantic import TypeAdapter, ValidationError

from proxy.admin.codec import Asked, as_json
from proxy.admin.parts import Admin, Stopped
from proxy.config import Config
from proxy.config.problems import explained
from proxy.config.profiles import Profile
from proxy.config.source import Source, path_text
from proxy.embedding import DelegatingEmbedder, Embedder, Vectors
from proxy.errors import BadRequest, Conflict
from proxy.http.exchange import Call
from proxy.protocol.message import message_of
from proxy.protocol.request import parse
from proxy.replay.reading import Logged
from proxy.replay.report import Replayed
from proxy.replay.running import CachingEmbedder, Resources, replayed
from proxy.types import Answer, Contents, Json, RowFilter

MOST_CHANGES = 100
MOST_REQUESTS = 200
USUAL_REQUESTS = 50

_profile: TypeAdapter[Profile] = TypeAdapter(Profile)
_SENT = ("kept", "shortened", "marker")


class WhatIf(Asked, frozen=True):
    """The body: numbers of a profile by their paths, and which requests are meant."""

    profile: str
    changes: dict[str, Any] = msgspec.field(default_factory=dict)
    scope: str | None = None
    session: str | None = None
    last: Annotated[int, msgspec.Meta(ge=1, le=MOST_REQUESTS)] = USUAL_REQUESTS


async def asked(call: Call, admin: Admin, wanted: WhatIf) -> Answer:
    """Answers with the two replays, side by side."""
    services = admin.services
    config = changed(services.config, wanted.profile, wanted.changes)
    if not services.storage.contents.keeps:
        raise Conflict("What requests say is not kept: admin.show_content or storage.keep says so.")
    call.watch.start()
    scope, session = wanted.scope or None, wanted.session or None
    managed = RowFilter(unmanaged=False)
    numbered = await services.storage.accounts.rows(scope=scope, session=session, limit=wanted.last, like=managed)
    ids = {row.request_id for _, row in numbered}
    stored = await services.storage.contents.recent(wanted.last, scope=scope, session=session)
    kept = [each for each in stored if each.request_id in ids]
    embedder = CrossLoopEmbedder(services.intent.embedder, asyncio.get_running_loop())

    async def both(go_on: Callable[[], None]) -> Json:
        with ThreadPoolExecutor(1, thread_name_prefix="worker") as executor:
            resources = Resources(services.counter, CachingEmbedder(embedder), executor)
            return await _compared(kept, services.config, config, resources, go_on)

    call.watch.on_server_stop(admin.worker.stop)
    try:
        told = await admin.worker.run(both)
    except Stopped:
        raise Conflict("The proxy is being stopped.") from None
    return as_json({**told, "without": len(ids) - told["requests"]})


class CrossLoopEmbedder(DelegatingEmbedder):
    """An embedder for another event loop: the vectors are made on `home`."""

    def __init__(self, embedder: Embedder, home: asyncio.AbstractEventLoop) -> None:
        super().__init__(embedder)
        self._home = home

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A row for each text, from the other event loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._embedder.embed(texts), self._home))


async def _compared(
    kept: Sequence[Contents], before: Config, after: Config, resources: Resources, go_on: Callable[[], None]
) -> dict[str, Json]:
    usable = [contents for contents in kept if _is_usable(contents)]
    requests = [_logged(contents, line) for line, contents in enumerate(usable, 1)]
    one, other = [
        (
            await replayed(requests, config, resources=resources, ratios=(), details=True, progress=lambda *_: go_on())
        ).requests
        for config in (before, after)
    ]
    pairs = zip(one, other, strict=True)
    return {
        "requests": len(usable),
        "before": _total(one),
        "after": _total(other),
        "rows": [_row(usable[was.line - 1], was, would_be) for was, would_be in pairs],
    }


def _is_usable(contents: Contents) -> bool:
    """True if the body can still be parsed: the rules may have changed since it was answered."""
    try:
        parse(contents.body)
    except BadRequest:
        return False
    return True


def _logged(contents: Contents, line: int) -> Logged:
    return Logged(
        body=contents.body,
        line=line,
        at=contents.at,
        key=contents.scope,
        headers=tuple((name.lower(), value) for name, value in contents.headers.items()),
        answer=message_of(contents.answer),
    )


def _total(requests: Sequence[Replayed]) -> Json:
    return {
        "original": sum(each.tokens_full for each in requests),
        "sent": sum(each.tokens_sent for each in requests),
        "cost": sum(_dollars(each, each.costs.ours) for each in requests),
        "passthrough_cost": sum(_dollars(each, each.costs.full) for each in requests),
    }


def _row(contents: Contents, was: Replayed, would_be: Replayed) -> Json:
    return {
        "request_id": contents.request_id,
        "at": contents.at,
        "session": contents.session,
        "original": was.tokens_full,
        "sent_before": was.tokens_sent,
        "sent_after": would_be.tokens_sent,
        "kept_before": _kept(was),
        "kept_after": _kept(would_be),
        "cost_before": _dollars(was, was.costs.ours),
        "cost_after": _dollars(would_be, would_be.costs.ours),
    }


def _kept(each: Replayed) -> int:
    return sum(seen.fate in _SENT for seen in each.inside.messages) if each.inside else 0


def _dollars(each: Replayed, tokens: float) -> float:
    return tokens * each.price / 1e6


# --- the configuration with other numbers ---------------------------------------------------------------------------


def changed(config: Config, name: str, changes: Mapping[str, Json]) -> Config:
    """Returns the configuration with `changes` in the profile `name`, like `{"window.tokens": 2000}`, held to the rules
    of a file. A profile that no request would have had takes the place of that of plain chats. Raises BadRequest,
    which names the number and what is wrong with it."""
    profile = config.profiles.get(name)
    if profile is None:
        known = ", ".join(config.profiles)
        raise BadRequest(f"There is no profile {name[:64]!r}; there are: {known}.", param="profile")
    if len(changes) > MOST_CHANGES:
        raise BadRequest(f"More than {MOST_CHANGES} changes.", param="changes")
    tree = asdict(profile)
    for path, value in changes.items():
        _put(tree, path, value)
    context = config.context
    if name not in (context.profile, context.profile_with_tools):
        context = context.model_copy(update={"profile": name})
    profiles = {**config.profiles, name: _validated(tree)}
    return config.model_copy(update={"profiles": profiles, "context": context})


def _put(tree: dict[str, Any], path: str, value: Json) -> None:
    if path == "base":
        raise BadRequest("base says where a profile's numbers come from, and is none of them.", param=path)
    *above, last = path.split(".")
    for part in above:
        tree = tree.setdefault(part, {})
        if not isinstance(tree, dict):
            raise BadRequest(f"changes: {path[:100]!r} leads nowhere, {part[:64]!r} is a number.", param=path[:100])
    tree[last] = value


def _validated(tree: Mapping[str, Any]) -> Profile:
    try:
        return _profile.validate_python(tree)
    except ValidationError as error:
        errors = [{**each, "loc": ("profiles", "-", *each["loc"])} for each in error.errors(include_url=False)]
    problems = [(path_text(problem.where[2:]), problem.text) for problem in explained(errors, Source({}))]
    told = "; ".join(f"{where}: {text}" if where else text for where, text in problems)
    raise BadRequest(f"changes: {told}", param=problems[0][0] or "changes")
