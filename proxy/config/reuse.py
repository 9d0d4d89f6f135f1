"""Settings of reuse: of identical requests, of the same question in other words, of results of tools, of responses that
requests go on from."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from proxy.config.settings import (
    Dollars,
    Name,
    Period,
    Seconds,
    Section,
    setting,
)


class ExactReuse(Section):
    """Reuse of answers to equal requests."""

    enabled: bool = setting(True, "Answer an identical request from memory.")
    when: Literal["deterministic", "always"] = setting(
        "deterministic", "`deterministic`: temperature 0 or a seed. `always`: any cacheable request."
    )
    ttl: Period = setting(86_400, "Seconds that an answer may be reused.")
    max_mb: int = setting(1_024, "Size of all stored answers, MiB; the oldest leave.", ge=1)
    max_entry_kb: int = setting(1_024, "Largest answer that is stored, KiB.", ge=1)


class Judge(Section):
    """The model that is asked in the background whether two questions are the same."""

    upstream: Name = Field(description="Name of the upstream that has the model; it needs an `api_key` of its own.")
    model: str = Field(min_length=1, description="A small model that answers in JSON. Its price must be known.")
    min_cosine: float = setting(0.8, "Cosine of two questions from which on they are worth its price.", gt=0, le=1)
    max_spend: Dollars = setting(0.1, "US dollars that it may cost a scope per day (UTC). Nothing is asked beyond.")
    max_per_minute: int = setting(10, "Questions to it per minute, of all scopes together.", ge=1)


class IntentReuse(Section):
    """Reuse of answers to requests of the same intent."""

    enabled: bool = setting(True, "Answer the same question in other words from memory.")
    min_cosine: float = setting(
        0.4,
        "Cosine that two questions must have. It is low: their words decide; typing errors cost cosine.",
        gt=0,
        le=1,
    )
    ttl: Period = setting(86_400, "Seconds that an answer may be reused.")
    disclaimer: Mapping[Literal["es", "en"], str] = setting(
        {
            "es": "[Respuesta recuperada de conversación anterior]",
            "en": "[Answer retrieved from an earlier conversation]",
        },
        "First line of a reused answer, by the language of the question.",
    )
    verify: float = setting(
        0,
        "Share of reused answers that are asked again upstream, in the background and at your cost, to "
        "measure how far both answers agree.",
        ge=0,
        le=1,
    )
    judge: Judge | None = setting(
        None,
        "Model that is asked, in the background and at your cost, whether a question that the comparison "
        "refused is the same as its neighbour. Absent: none.",
    )
    log_rows: int = setting(1_000, "Decisions that the reuse log keeps per scope, with both questions. 0: none.", ge=0)


class ToolReuse(Section):
    """Reuse of results of the client's own tools, with `memory.tools`."""

    idempotent: tuple[str, ...] = setting(
        (),
        "Names of tools, `*` allowed, whose equal calls have equal results: a repeated call is answered from what the "
        "conversation has seen. A call of any other tool drops all of these results.",
    )
    ttl: Period = setting(3_600, "Seconds that a result may be reused.")


class Reuse(Section):
    """Reuse of answers."""

    exact: ExactReuse = setting(ExactReuse(), "Reuse of answers to identical requests.")
    intent: IntentReuse = setting(IntentReuse(), "Reuse of answers to the same question in other words.")
    tools: ToolReuse = setting(ToolReuse(), "Reuse of results of the client's tools.")


class Responses(Section):
    """The Responses API, `/v1/responses`."""

    keep: Seconds = setting(
        604_800,
        "How long a response stays that an upstream without this API has answered, so that a request can go on from it "
        "(`previous_response_id`). 0: none is kept. Requests with `store: false` are not.",
    )
    take_over: bool = setting(
        False,
        "Also keep the responses of upstreams that have this API, and send requests that go on from one whole and "
        "managed, with `store: false`, instead of leaving the conversation to the provider.",
    )
