"""After the answer: what was said, kept for a while for whoever runs the proxy to look at, where the configuration says
so. Nothing that the client wants unremembered, and nothing that repeats what was forgotten."""

from collections.abc import Callable, Sequence

from proxy.context import fates
from proxy.protocol.request import packed
from proxy.storage.accounts import ContentStore
from proxy.types import Contents, Exchange, Message

# Names of request headers, or their beginnings, that are kept with it. Never one that may carry a key.
SHOWN_HEADERS = ("x-olvido-", "user-agent", "cache-control")


class Keeper:
    def __init__(self, contents: ContentStore, has_forgotten: Callable[[str, Sequence[bytes]], bool]) -> None:
        """`has_forgotten`: of a scope of memory, and links: is one of them a message to be forgotten?"""
        self._contents = contents
        self._has_forgotten = has_forgotten

    def keep(self, exchange: Exchange, answers: Sequence[Message]) -> None:
        identity, plan = exchange.identity, exchange.plan
        if not exchange.directives.remember or exchange.directives.mode == "off":
            return
        if self._has_forgotten(identity.memory, identity.chain):
            return
        is_changed = plan.messages is not None
        self._contents.put(
            Contents(
                scope=identity.scope.id,
                request_id=exchange.incoming.request_id,
                session=identity.session,
                at=exchange.incoming.received_at,
                body=exchange.request.raw,
                sent=packed(plan.messages or ()) if is_changed else b"",
                fates=fates.pack(plan.fates) if plan.fates is not None else b"",
                answer=answers[0].raw if answers else b"",
                headers={name: value for name, value in exchange.incoming.headers if name.startswith(SHOWN_HEADERS)},
            )
        )
