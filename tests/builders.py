"""Small builders for tests: what flows through the pipeline, with only what a test is about said."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any

import msgspec
import tiktoken

from proxy.config import Config, Upstream
from proxy.protocol.chains import chain_of
from proxy.protocol.message import message
from proxy.protocol.request import parse
from proxy.tasks import Offload
from proxy.tokens import TokenCounter, load_tokenizer
from proxy.types import (
    ChatRequest,
    Headers,
    Identity,
    Incoming,
    LedgerRow,
    Mechanisms,
    Message,
    Plan,
    PromptTokens,
    Scope,
    StoredAnswer,
    Usage,
)

TENANT = "ab" * 16
NOW = 1_700_000_000.0

Said = Mapping[str, Any]


def user(content: Any, **more: Any) -> Said:
    return {"role": "user", "content": content, **more}


def system(content: Any, **more: Any) -> Said:
    return {"role": "system", "content": content, **more}


def assistant(content: Any, **more: Any) -> Said:
    return {"role": "assistant", "content": content, **more}


def calling(*ids: str, content: Any = None) -> Said:
    calls = [{"id": each, "type": "function", "function": {"name": "look", "arguments": "{}"}} for each in ids]
    return assistant(content, tool_calls=calls)


def result(call: str, content: str = "done") -> Said:
    return {"role": "tool", "tool_call_id": call, "content": content}


def messages(*said: Said) -> tuple[Message, ...]:
    return tuple(map(message, said))


def body(*said: Said, model: str = "m", **fields: Any) -> bytes:
    return msgspec.json.encode({"model": model, "messages": said, **fields})


def chat(*said: Said, **fields: Any) -> ChatRequest:
    return parse(body(*(said or (user("hi"),)), **fields))


def incoming(
    raw: bytes = b"", *, headers: Headers = (), request_id: str = "req_1", tenant: str = TENANT, at: float = NOW
) -> Incoming:
    return Incoming(request_id, headers, raw, at, tenant)


def identity(request: ChatRequest, *, person: str = "", session: str = "s") -> Identity:
    scope = Scope(TENANT, person)
    return Identity(scope, session, "header", chain_of(scope.id, request.messages))


def completion(content: str | None = "hello", *, finish_reason: str = "stop", **message_fields: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "m-2026",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message_fields},
                "finish_reason": finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
    }


def stored(answer: Mapping[str, Any] | None = None, *, at: float = NOW, streamed: bool = False) -> StoredAnswer:
    raw = msgspec.json.encode(answer or completion())
    return StoredAnswer(raw, at, upstream="up", model="m-2026", streamed=streamed, usage=Usage(9, 3))


def upstream_config(name: str = "up", **settings: Any) -> Upstream:
    return Upstream.model_validate({"name": name, "base_url": "http://127.0.0.1:1/v1", **settings})


def config(**sections: Any) -> Config:
    return Config.model_validate(sections)


def ledger_row(**differing: Any) -> LedgerRow:
    plan = Plan("untouched", PromptTokens(100, 100))
    row: dict[str, Any] = {
        "request_id": "req_1",
        "at": NOW,
        "scope": f"{TENANT}/",
        "session": "s",
        "model": "m",
        "upstream": "up",
        "source": "upstream",
        "status": 200,
        "outcome": "complete",
        "stream": False,
        "plan": plan.kind,
        "plan_reason": plan.reason,
        "reuse_reason": "absent",
        "tokens_original": plan.tokens.original,
        "tokens_sent": plan.tokens.sent,
        "tokens_cached": 64,
        "tokens_billed": 100,
        "tokens_completion": 20,
        "measured": True,
        "cost": 0.002,
        "cost_saved": 0.0,
        "total_seconds": 1.5,
        "upstream_seconds": 1.25,
        "stage_seconds": {"plan": 0.0002},
    }
    return LedgerRow(**{**row, **differing})


class Executor(ThreadPoolExecutor):
    """A thread, and how much was given to it."""

    def __init__(self) -> None:
        super().__init__(1)
        self.submitted = 0

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        return super().submit(*args, **kwargs)


def inline(executor: Executor) -> Offload:
    """Work that stays on the event loop, whatever its size."""
    return Offload(executor, 0)


def links(scope_id: str, said: Sequence[Said]) -> tuple[bytes, ...]:
    return chain_of(scope_id, messages(*said))


@cache
def encoding() -> tiktoken.Encoding:
    """The real ranks, which take a second to load."""
    return load_tokenizer()


@cache
def counter() -> TokenCounter:
    return TokenCounter(encoding())


def left_out(mechanisms: Mechanisms) -> int:
    """Tokens that the mechanisms left out of a prompt."""
    return mechanisms.window + mechanisms.capped + mechanisms.tools + mechanisms.elided
