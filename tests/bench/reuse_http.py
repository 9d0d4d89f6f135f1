"""A sample of the pairs through the whole proxy, over HTTP: what it decides must be what the stage decided."""

import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress

import httpx
import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.bench.reuse_stage import Decision
from tests.builders import completion, config
from tests.servers import eventually, run_app, run_proxy

START_SECONDS = 60.0
_ENTRIES = re.compile(r"^olvido_reuse_entries (\S+)$", re.MULTILINE)


def spread(decisions: Sequence[Decision], size: int) -> list[Decision]:
    """About `size` of them, the same number of every source, language and label, at even distances."""
    kinds: defaultdict[tuple[str, str, int], list[Decision]] = defaultdict(list)
    for decision in decisions:
        kinds[decision.pair.source, decision.pair.lang, decision.pair.label].append(decision)
    each = max(1, size // len(kinds))
    return [decision for rows in kinds.values() for decision in rows[:: max(1, len(rows) // each)][:each]]


def differences(sample: Sequence[Decision]) -> list[str]:
    """Where a client gets something else than the stage decided, told by both questions."""
    upstream = Starlette(routes=[Route("/v1/chat/completions", _answer, methods=["POST"])])
    with run_app(upstream) as upstream_url:
        settings = config(
            upstreams=[{"name": "up", "base_url": f"{upstream_url}/v1"}],
            storage={"kind": "memory"},
            server={"port": 0},
            # Whoever asks the same again has a new conversation, and doesn't want another answer.
            tenancy="shared",
        )
        with run_proxy(settings) as url, httpx.Client(base_url=url, trust_env=False, timeout=30) as client:
            eventually(lambda: b'"reuse by intent":"ready"' in client.get("/readyz").content, START_SECONDS)
            for number, decision in enumerate(sample):
                _ask(client, number, decision.pair.a)
            kept = sum(decision.kept for decision in sample)
            with suppress(AssertionError):  # what was not kept shows in what follows
                eventually(lambda: _entries(client) >= kept)
            return [
                f"{expected} by the stage, {got} over HTTP: {decision.pair.a!r} / {decision.pair.b!r}"
                for number, decision in enumerate(sample)
                if (got := _source(client, number, decision)) != (expected := "intent" if decision.hit else "upstream")
            ]


async def _answer(request: Request) -> Response:
    """Another answer to every question."""
    question = msgspec.json.decode(await request.body())["messages"][-1]["content"]
    return Response(msgspec.json.encode(completion(f"the answer to {question}")), media_type="application/json")


def _ask(client: httpx.Client, number: int, question: str) -> httpx.Response:
    """Every pair has a key, and so a scope, of its own."""
    body = {"model": "m", "messages": [{"role": "user", "content": question}]}
    response = client.post("/v1/chat/completions", json=body, headers={"authorization": f"Bearer sk-{number}"})
    return response.raise_for_status()


def _source(client: httpx.Client, number: int, decision: Decision) -> str:
    """Where the answer to the second question comes from; with a remark if it is not the answer it must be then."""
    response = _ask(client, number, decision.pair.b)
    source = response.headers["x-olvido-source"]
    content: str = response.json()["choices"][0]["message"]["content"]
    question = decision.pair.a if source == "intent" else decision.pair.b
    is_right = content.endswith(f"the answer to {question}") and content.startswith("[") == (source == "intent")
    return source if is_right else f"{source} with a wrong answer"


def _entries(client: httpx.Client) -> float:
    found = _ENTRIES.search(client.get("/metrics").text)
    return float(found[1]) if found else 0.0
