"""What would have been, with other numbers.

    POST /admin/api/what-if   {profile, changes, scope, session, last}: the last requests whose contents are kept, taken
                              once more through the stages that serve live ones, under the configuration as it is
                              (`before`) and with `changes` in `profile` (`after`). Nothing is sent upstream.

Both start from the first of these requests, with nothing remembered, and their prefix caches are simulated: compare
them with each other, not with the ledger. `kept` are the messages that would have been sent, whole or shortened. One
at a time; it ends when the client goes.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import msgspec

from proxy.admin import form
from proxy.admin.aside import Borrowed, Stopped
from proxy.admin.changes import changed
from proxy.admin.parts import Admin
from proxy.call import Call
from proxy.config import Config
from proxy.errors import BadRequest, Conflict
from proxy.replay.means import Means
from proxy.replay.memo import Memo
from proxy.replay.reading import Logged
from proxy.replay.report import Replayed
from proxy.replay.running import replayed
from proxy.types import Contents, Json
from proxy.wire.request import message_of, parse

MOST_REQUESTS = 200
USUAL_REQUESTS = 50

_SENT = ("kept", "shortened", "marker")


class Asked(msgspec.Struct, frozen=True):
    profile: str
    changes: dict[str, Any] = {}
    scope: str | None = None
    session: str | None = None
    last: Annotated[int, msgspec.Meta(ge=1, le=MOST_REQUESTS)] = USUAL_REQUESTS


async def asked(call: Call, admin: Admin) -> None:
    services = admin.services
    given = await form.body(call, services, allowed=Asked.__struct_fields__, required=("profile",))
    wanted = form.converted(given, Asked)
    config = changed(services.config, wanted.profile, wanted.changes)
    if not services.storage.contents.keeps:
        raise Conflict("What requests say is not kept: admin.show_content or storage.keep says so.")
    call.watch.start()
    numbered = await services.storage.accounts.rows(
        scope=wanted.scope or None, session=wanted.session or None, limit=wanted.last
    )
    ids = {row.request_id for _, row in numbered}
    stored = await services.storage.contents.recent(
        wanted.last, scope=wanted.scope or None, session=wanted.session or None
    )
    kept = [each for each in stored if each.request_id in ids]
    embedder = Borrowed(services.intent.embedder, asyncio.get_running_loop())

    async def both(go_on: Callable[[], None]) -> Json:
        with ThreadPoolExecutor(1, thread_name_prefix="aside") as executor:
            means = Means(services.counter, Memo(embedder), executor)
            return await _compared(kept, services.config, config, means, go_on)

    call.watch.when_leaving(admin.aside.stop)
    try:
        told = await admin.aside.run(both)
    except Stopped:
        raise Conflict("The proxy is being stopped.") from None
    await call.answer(form.answered({**told, "without": len(ids) - told["requests"]}))


async def _compared(
    kept: Sequence[Contents], before: Config, after: Config, means: Means, go_on: Callable[[], None]
) -> dict[str, Json]:
    usable = [contents for contents in kept if _is_usable(contents)]
    requests = [_logged(contents, line) for line, contents in enumerate(usable, 1)]
    one, other = [
        (await replayed(requests, config, means=means, ratios=(), details=True, progress=lambda *_: go_on())).requests
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
    """What was answered was read. Its rules may have changed since."""
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
