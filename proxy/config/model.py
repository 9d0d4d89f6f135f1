"""The model of the configuration: every setting, its unit, its range, its default. Frozen; unknown keys are refused.

Settings of an upstream are in upstreams.py, of reuse in reuse.py, of memory in memory.py, of storage in storage.py, of
what processes share in shared.py; types of values in settings.py, rules between settings in rules.py.
"""

import ipaddress
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from proxy.config.builtin_profiles import with_overrides
from proxy.config.memory import Memory
from proxy.config.observe import Observe
from proxy.config.profiles import Profile
from proxy.config.reuse import Responses, Reuse
from proxy.config.session_state import SessionState
from proxy.config.settings import (
    BaseUrl,
    Dollars,
    Glob,
    Host,
    KeyHash,
    LongSecret,
    Name,
    Origin,
    Period,
    Seconds,
    Secret,
    Section,
    setting,
)
from proxy.config.shared import Shared
from proxy.config.storage import Storage
from proxy.config.upstreams import Upstream
from proxy.types.keys import Limits


class Server(Section):
    """Address of the proxy, and limits of what it accepts."""

    host: str = setting("127.0.0.1", "Address to listen on.", min_length=1)
    port: int = setting(8484, "TCP port to listen on. 0: any free one.", ge=0, le=65_535)
    workers: int = setting(
        1, "Processes that serve. Above 1 a supervisor restarts, drains and reloads them (SIGHUP).", ge=1, le=256
    )
    max_body_mb: int = setting(32, "Largest request body, MiB; larger ones get a 413.", ge=1, le=1_024)
    body_timeout: Period = setting(60, "Seconds that a client has to send its whole body.")
    header_timeout: Period = setting(20, "Seconds that a client has to send its headers.")
    keep_alive: Period = setting(75, "Seconds that a client's connection may idle. SDKs keep theirs for minutes.")
    max_header_kb: int = setting(64, "Largest request head, KiB.", ge=1, le=1_024)
    drain: Seconds = setting(20, "Seconds that running requests have to end at shutdown.")
    allowed_origins: tuple[Origin, ...] = setting(
        (), "Web pages that may use it through their visitors' browsers, like https://chat.example.com."
    )
    allowed_hosts: tuple[Host, ...] = setting(
        (), "Names, with or without a port, that it answers to on loopback besides this machine's own."
    )
    open_metrics: bool = setting(False, "Let whoever reaches /metrics read it; else, off loopback, it needs a token.")
    unknown_model: Literal["first", "reject"] = setting(
        "first", "A model that no upstream names goes to the `first` upstream, or is a 404 (`reject`)."
    )


class LimitSettings(Section):
    """Limits of a key or an end user, in UTC's days and months. Absent: none, or what stands behind it; 0: none."""

    requests_per_minute: int | None = setting(None, "Requests within any minute, answers from memory included.", ge=0)
    tokens_per_minute: int | None = setting(None, "Prompt and completion tokens within any minute.", ge=0)
    tokens_per_day: int | None = setting(None, "Prompt and completion tokens a day.", ge=0)
    tokens_per_month: int | None = setting(None, "The same a month.", ge=0)
    dollars_per_day: Dollars | None = setting(None, "US dollars a day.")
    dollars_per_month: Dollars | None = setting(None, "The same a month.")

    def limits(self) -> Limits:
        """Returns them as a value."""
        return Limits(**self.model_dump())


class OwnKey(Section):
    """A key that this proxy has given out."""

    name: Name = Field(description="Whose key it is.")
    key: KeyHash = Field(description="The key as ${NAME} from the environment, or sha256:<hex>. Kept only as the hash.")
    team: str = setting("", "Team that it belongs to, for sums and dashboards.", max_length=64)
    limits: LimitSettings = setting(LimitSettings(), "Its own limits, in place of those of `limits.keys`.")


class DefaultLimits(Section):
    """Limits that hold where a key has none of its own."""

    keys: LimitSettings = setting(LimitSettings(), "Of each key.")
    users: LimitSettings = setting(LimitSettings(), "Of each end user that a key names.")
    unpriced: Literal["refuse", "free"] = setting(
        "refuse",
        "A model whose price is not known, asked for under a budget in dollars. `refuse`: a 403 that says so. `free`: "
        "it passes, and is taken to cost nothing.",
    )


class Auth(Section):
    """Keys by which the proxy is used."""

    mode: Literal["passthrough", "keys"] = setting(
        "passthrough", "`passthrough`: the upstream judges the client's key. `keys`: only own keys get in."
    )
    keys: tuple[OwnKey, ...] = setting((), "Own keys, for mode `keys`, beside those of `olvido keys create`.")


class Rule(Section):
    """Mode of the conversations of some keys with some models."""

    key: Glob = setting("*", "Name of a key of this proxy, `*` allowed.")
    model: Glob = setting("*", "Model that is asked for, `*` allowed.")
    mode: Literal["on", "meter", "off"] = setting("on", "As `context.mode`; `off` also reuses and remembers nothing.")
    canary: float | None = setting(
        None, "Share of these conversations that are managed. Absent: `context.canary`.", ge=0, le=1
    )


class Context(Section):
    """Context management: whether, for whom, and by which profiles."""

    mode: Literal["on", "meter", "off"] = setting(
        "on", "`on`: manage. `meter`: plan and count, send the original. `off`: neither, nor is anything learnt."
    )
    rules: tuple[Rule, ...] = setting((), "Modes by key and model, in place of `mode`; the first that fits counts.")
    canary: float = setting(
        1, "Share of conversations that are managed, the others are metered; each stays in or out.", ge=0, le=1
    )
    dearer: float = setting(
        0.1,
        "Excess over what pass-through would have cost, as a share of it, from which on a conversation returns to "
        "pass-through by itself, if it is more than a cent and not paid back in as many requests again. 0: never.",
        ge=0,
    )
    profile: str = setting("lean", "Profile of plain chats.")
    profile_with_tools: str = setting("agent", "Profile of requests that carry tools.")


class Embedding(Section):
    """The model that makes vectors of texts."""

    enabled: bool = setting(
        True, "Without it old turns are found by their words alone, and there is no reuse by intent."
    )
    model: str = setting(
        "builtin",
        "`builtin` (English), `multilingual` (finds more in Spanish at twice the CPU; needs the extra "
        "olvido[multilingual]), or a model of sentence-transformers or of `base_url`.",
        min_length=1,
    )
    base_url: BaseUrl | None = setting(None, "An OpenAI-compatible server for /v1/embeddings.")
    api_key: Secret | None = setting(None, "Its key, as ${NAME} from the environment.")


class QualityJudge(Section):
    """The model that judges whether a managed answer is worse."""

    upstream: Name = Field(description="Name of the upstream that has the model; it needs an `api_key` of its own.")
    model: str = Field(min_length=1, description="A model that answers in JSON. Its price must be known.")


class Quality(Section):
    """Comparison of managed answers with those that the same requests get as they were, at your cost."""

    share: float = setting(
        0.02,
        "Share of the managed requests that are sent once more as they were, in the background, with the key that they "
        "came with. Never one with `no-store`, or that its client lets nothing be kept of.",
        ge=0,
        le=1,
    )
    max_spend: Dollars = setting(
        1.0, "US dollars a day (UTC) that all of it may cost, the judge too. Nothing is asked beyond."
    )
    judge: QualityJudge | None = setting(
        None, "Model that decides whether an answer has held. Absent: numbers, names, length and similarity decide."
    )


class Log(Section):
    """Severity and form of log lines."""

    level: Literal["debug", "info", "warning", "error"] = setting("info", "Least severity that is logged.")
    format: Literal["auto", "json", "text"] = setting(
        "auto", "`json`: an object a line. `text`: for people. `auto`: text on a terminal, else JSON."
    )
    contents: Literal[False] = setting(False, "Always false: contents of messages are never logged.")


class Admin(Section):
    """Access to the admin API and the page."""

    token: LongSecret | None = setting(
        None, "Token of /admin and /ui, as ${NAME} from the environment. Required unless bound to loopback."
    )
    metrics_token: LongSecret | None = setting(
        None, "Token of /metrics alone, as ${NAME}. Absent: off loopback admin.token, on loopback none."
    )
    show_content: bool | None = setting(
        None, "Whether what requests say is kept for a while, and shown. Absent: only if bound to loopback."
    )


_KIMI = Upstream(name="kimi", base_url="https://api.moonshot.ai/v1", dialect="kimi")


class Config(Section):
    """The configuration of the proxy."""

    server: Server = setting(Server(), "Where and how it listens.")
    upstreams: tuple[Upstream, ...] = setting((_KIMI,), "Who answers; the first whose `models` match.", min_length=1)
    auth: Auth = setting(Auth(), "Who may ask.")
    limits: DefaultLimits = setting(DefaultLimits(), "Rates and budgets. Absent: none.")
    tenancy: Literal["personal", "shared"] = setting(
        "personal", "`personal`: facts live per key. `shared`: per named end user, else per session."
    )
    context: Context = setting(Context(), "Context management.")
    profiles: Annotated[Mapping[str, Profile], BeforeValidator(with_overrides)] = setting(
        {}, "Numbers of the built-in profiles to override, and profiles to add."
    )
    reuse: Reuse = setting(Reuse(), "Answers from memory.")
    responses: Responses = setting(Responses(), "Responses that requests go on from.")
    memory: Memory = setting(Memory(), "Facts and the archive of old turns.")
    session_state: SessionState = setting(
        {}, "Fields of a conversation that are read from what its user says, for /olvido/context. Absent: none."
    )
    embedding: Embedding = setting(Embedding(), "What turns text into vectors.")
    storage: Storage = setting(Storage(), "Where things are kept.")
    quality: Quality | None = setting(
        None, "Whether answers hold: a sample is asked twice, and compared. Absent: none is."
    )
    shared: Shared | None = setting(None, "The Redis that several processes share. Absent: each has its own memory.")
    log: Log = setting(Log(), "What is logged, and how.")
    observe: Observe = setting(Observe(), "What is told of requests to other systems.")
    admin: Admin = setting(Admin(), "The page and its API.")


def is_loopback(host: str) -> bool:
    """Returns True if only this machine can reach `host`. A name other than `localhost` counts as public."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def shows_content(config: Config) -> bool:
    """Returns True if bodies of requests are kept for a while and shown to administrators."""
    given = config.admin.show_content
    return is_loopback(config.server.host) if given is None else given
