"""A proxy that whoever runs it looks into: one for all of these tests, and one that wants a token."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from time import time
from typing import Any

import httpx
import pytest

from proxy.admin.parts import Admin
from proxy.pipeline import Services
from proxy.types import Contents, LedgerRow
from tests.builders import TENANT, ledger_row
from tests.proxied import KEY, in_front_of, run_upstream
from tests.servers import Inside, proxy_app, run_proxy

API = "/admin/api"
MODEL = "demo-chat"
TOKEN = "an-admin-token-0123456789"
ADMITTED = {"authorization": f"Bearer {TOKEN}"}

numbers = count(1)


@dataclass(frozen=True, slots=True)
class Watched:
    """A proxy that is looked into."""

    http: httpx.Client  # of whoever runs it
    client: httpx.Client  # of who asks
    services: Services
    admin: Admin
    inside: Inside

    def scope(self) -> str:
        """Of nobody yet."""
        return f"{TENANT}/watched-{next(numbers)}"

    def wrote(self, scope: str, **differing: Any) -> LedgerRow:
        """A row of the ledger that is written now."""
        # Written now: an old row would be gone as soon as retention comes round.
        row = ledger_row(**{"request_id": f"req_{next(numbers)}", "scope": scope, "at": time(), **differing})
        self.inside.do(lambda: self.services.storage.ledger.append(row))
        return row

    def get(self, path: str, **query: Any) -> Any:
        answer = self.http.get(f"{API}/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


def said(watched: Watched, scope: str, request_id: str, question: str, answer: str, **row: Any) -> None:
    """A request whose contents are kept, in a conversation that is archived."""
    told = watched.wrote(scope, request_id=request_id, **row)
    history = [{"role": "user", "content": "Earlier"}, {"role": "assistant", "content": "Long ago"}]
    body = json.dumps({"model": "m", "messages": [*history, {"role": "user", "content": question}]}, indent=1)
    reply = json.dumps({"role": "assistant", "content": answer}).encode()
    kept = Contents(
        scope, request_id, told.session, told.at, body.encode(), answer=reply, headers={"x-olvido-mode": "on"}
    )
    watched.inside.do(lambda: watched.services.storage.contents.put(kept))


def error(answer: httpx.Response) -> tuple[int, str | None]:
    told = answer.json()["error"]
    assert told.keys() == {"message", "type", "param", "code"}
    return answer.status_code, told["code"]


def started(stack: ExitStack, *, own_key: str | None = None, **sections: Any) -> Watched:
    """`own_key`: of the upstream, which needs one where clients have keys of this proxy."""
    upstream = stack.enter_context(run_upstream())
    entry = {"price": {"input": 1, "cached": 0.25, "output": 4}, **({"api_key": own_key} if own_key else {})}
    settings = in_front_of(upstream, upstream=entry, **sections)
    app = proxy_app(settings)
    url = stack.enter_context(run_proxy(settings, inside := Inside(app)))
    http = stack.enter_context(httpx.Client(base_url=url, timeout=100, trust_env=False))
    headers = {"authorization": f"Bearer {KEY}"}
    client = stack.enter_context(httpx.Client(base_url=url, timeout=100, trust_env=False, headers=headers))
    return Watched(http, client, app.state.services, app.state.admin, inside)


@pytest.fixture(scope="session")
def watched() -> Iterator[Watched]:
    with ExitStack() as stack:
        yield started(stack)


@pytest.fixture(scope="session")
def locked() -> Iterator[Watched]:
    """One that wants a token, and keeps nothing of what is said."""
    with ExitStack() as stack:
        yield started(stack, admin={"token": TOKEN, "show_content": False})
