"""Rules between settings. Each is a pure function from a configuration to the problems that it has; `violations` runs
them all."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from urllib.parse import urlsplit

from proxy.config.model import Config, is_loopback
from proxy.config.source import Problem, Where
from proxy.config.upstreams import Upstream, is_priced


def violations(config: Config) -> list[Problem]:
    """Returns a problem for every rule that `config` breaks."""
    return [Problem(where, text) for rule in RULES for where, text in rule(config)]


_Found = Iterator[tuple[Where, str]]


def _names_are_unique(config: Config) -> _Found:
    for index, name in _repeated(upstream.name for upstream in config.upstreams):
        yield ("upstreams", index, "name"), f"{name!r} names an earlier upstream already"
    for index, name in _repeated(key.name for key in config.auth.keys):
        yield ("auth", "keys", index, "name"), f"{name!r} names an earlier key already"
    for index, _ in _repeated(key.key for key in config.auth.keys):
        yield ("auth", "keys", index, "key"), "is the same key as an earlier one"


def _repeated(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    seen: Counter[str] = Counter()
    for index, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            yield index, name


def _fallbacks_lead_somewhere(config: Config) -> _Found:
    by_name = {upstream.name: upstream for upstream in config.upstreams}
    for index, upstream in enumerate(config.upstreams):
        where = ("upstreams", index, "fallback")
        if upstream.fallback is None:
            continue
        target, chain = by_name.get(upstream.fallback), list(_chain(upstream, by_name))
        if target is None:
            yield where, f"no upstream is named {upstream.fallback!r}; there are: {', '.join(by_name)}"
        elif target is upstream:
            yield where, "an upstream cannot be its own fallback"
        elif not chain or chain[-1].fallback == upstream.name:
            yield where, f"the fallbacks from {upstream.name!r} lead back to it"
        for further in chain:
            if not further.api_key and _origin(further) != _origin(upstream):
                yield (
                    where,
                    f"{further.name!r} needs an api_key of its own: else it gets the client's key for another provider",
                )


def _chain(upstream: Upstream, by_name: dict[str, Upstream]) -> Iterator[Upstream]:
    """Yields the fallbacks of an upstream, in the order in which they would get its requests."""
    seen = {upstream.name}
    while (following := by_name.get(upstream.fallback or "")) is not None and following.name not in seen:
        seen.add(following.name)
        yield following
        upstream = following


def _origin(upstream: Upstream) -> tuple[str, str]:
    url = urlsplit(upstream.base_url)
    return url.scheme, url.netloc.lower()


def _own_keys_stay_here(config: Config) -> _Found:
    if config.auth.mode == "passthrough":
        if config.auth.keys:
            yield ("auth", "mode"), "is passthrough, but `auth.keys` lists own keys, which only mode `keys` checks"
        return
    if not config.auth.keys and config.storage.kind == "off":
        yield ("auth", "keys"), "mode `keys` needs at least one own key, or nobody gets in: nothing is kept here"
    for index, upstream in enumerate(config.upstreams):
        if not upstream.api_key:
            where = ("upstreams", index, "api_key")
            yield where, f"{upstream.name!r} needs one: with `auth.mode: keys` the client's key is ours and stays here"


def _public_is_deliberate(config: Config) -> _Found:
    host = config.server.host
    if is_loopback(host):
        return
    because = f"because `server.host: {host}` lets others in than this machine"
    if "tenancy" not in config.model_fields_set:
        yield ("tenancy",), f"must be set (personal or shared), {because}"
    if not config.admin.token:
        yield ("admin", "token"), f"must be set, {because}"
    keyed = next((upstream.name for upstream in config.upstreams if upstream.api_key), None)
    if keyed is not None and config.auth.mode == "passthrough":
        yield ("auth", "mode"), f"must be `keys`, {because}: they would spend the key of upstream {keyed!r}"


def _metrics_are_open_or_not(config: Config) -> _Found:
    if config.server.open_metrics and config.admin.metrics_token:
        yield ("server", "open_metrics"), "leaves `admin.metrics_token` without a use: set one of them"


def _profiles_exist(config: Config) -> _Found:
    for key in ("profile", "profile_with_tools"):
        name = getattr(config.context, key)
        if name not in config.profiles:
            yield ("context", key), f"no profile is named {name!r}; there are: {', '.join(config.profiles)}"


def _rules_have_something_to_switch(config: Config) -> _Found:
    if config.context.mode == "off":
        for index, rule in enumerate(config.context.rules):
            if rule.mode != "off":
                yield (
                    ("context", "rules", index, "mode"),
                    f"is {rule.mode}, but with `context.mode: off` nothing is learnt for anybody: use meter there",
                )


def _facts_fade_in_order(config: Config) -> _Found:
    if config.memory.stale_after < config.memory.unconfirmed_after:
        yield ("memory", "stale_after"), "must not be shorter than `memory.unconfirmed_after`"


def _sums_fade_in_order(config: Config) -> _Found:
    keep = config.storage.keep
    if keep.hours and (keep.hours < keep.minutes or not keep.minutes):
        yield ("storage", "keep", "hours"), "must not be shorter than `storage.keep.minutes`"


def _a_database_has_a_url(config: Config) -> _Found:
    storage = config.storage
    if storage.kind == "postgres" and storage.url is None:
        yield ("storage", "url"), "must be set: `storage.kind` is postgres"
    if storage.kind != "postgres" and storage.url is not None:
        yield ("storage", "url"), f"is only used with `storage.kind: postgres`, which is {storage.kind} here"


def _a_database_has_a_driver(config: Config) -> _Found:
    if config.storage.kind == "postgres" and find_spec("psycopg") is None:
        yield ("storage", "kind"), f"is postgres, which {needs('cluster')}"


def _embedding_key_has_a_use(config: Config) -> _Found:
    if config.embedding.base_url and config.embedding.model == "builtin":
        yield ("embedding", "model"), "must name a model of `embedding.base_url`; `builtin` runs here"


def _the_judge_can_be_asked(config: Config) -> _Found:
    judge = config.reuse.intent.judge
    if judge is not None:
        where = ("reuse", "intent", "judge")
        yield from _can_be_paid(config, where, judge.upstream, judge.model, who="the judge", limit="max_spend")


def _can_be_paid(config: Config, where: Where, name: str, model: str, *, who: str, limit: str) -> _Found:
    """Yields what is wrong with a model that the proxy asks by itself, at the upstream `name`. `limit`: the setting
    that says what it may cost."""
    upstream = next((upstream for upstream in config.upstreams if upstream.name == name), None)
    if upstream is None:
        names = ", ".join(upstream.name for upstream in config.upstreams)
        yield (*where, "upstream"), f"no upstream is named {name!r}; there are: {names}"
        return
    if not upstream.api_key:
        yield (*where, "upstream"), f"{upstream.name!r} needs an api_key of its own: {who} never has a client's key"
    if not is_priced(upstream, model):
        yield (
            (*where, "model"),
            (
                f"the price of {model!r} at {upstream.name!r} is not known, so `{limit}` could not be kept: "
                "set `price` there (zeros if it costs nothing)"
            ),
        )


def _the_model_of_memory_has_work(config: Config) -> _Found:
    memory = config.memory
    if (model := memory.model) is None:
        return
    where = ("memory", "model")
    yield from _can_be_paid(config, where, model.upstream, model.model, who="memory", limit="per_day")
    if config.context.mode != "on":
        yield where, f"has nothing to read: `context.mode` is {config.context.mode}, and it needs on"
    if not memory.facts:
        yield where, "has nowhere to put what it finds: `memory.facts` is false"
    if not memory.archive_ttl:
        yield where, "has nothing to read: `memory.archive_ttl` is 0, so no turn is kept"
    if config.storage.kind == "off":
        yield where, "has nothing to read: `storage.kind` is off"


def _quality_can_be_measured(config: Config) -> _Found:
    quality = config.quality
    if quality is None:
        return
    if config.storage.kind == "off":
        yield ("quality",), "has nowhere to keep what it finds: `storage.kind` is off"
    if config.context.mode != "on":
        yield ("quality",), f"has nothing to compare: `context.mode` is {config.context.mode}, and it needs on"
    if quality.judge is not None:
        where = ("quality", "judge")
        told = {"who": "the judge", "limit": "quality.max_spend"}
        yield from _can_be_paid(config, where, quality.judge.upstream, quality.judge.model, **told)


def _workers_share_a_storage(config: Config) -> _Found:
    if config.server.workers > 1 and config.storage.kind == "memory":
        yield ("server", "workers"), "needs a storage that workers share: with storage.kind memory each had its own"


def _what_is_shared_has_a_place(config: Config) -> _Found:
    shared = config.shared
    if shared is None:
        return
    if shared.url is None and shared.host is None:
        yield ("shared",), "names no server: set `url`, or `host`, or the environment variable REDIS_URL or REDIS_HOST"
    if shared.url is not None:
        for key in ("host", "port", "password"):
            if key in shared.model_fields_set:
                yield ("shared", key), "is said by `shared.url` already: set one of them"
    if find_spec("redis") is None or find_spec("hiredis") is None:
        yield ("shared",), needs("cluster")


def _traces_can_be_sent(config: Config) -> _Found:
    if config.observe.tracing is not None and not _has_otel():
        yield ("observe", "tracing"), needs("otel")


def needs(extra: str) -> str:
    """Returns what is told where a package is missing that an extra brings."""
    return f"needs the extra olvido[{extra}]: pip install 'olvido[{extra}]', in a checkout pip install -e '.[{extra}]'"


def _has_otel() -> bool:
    try:
        return find_spec("opentelemetry.proto") is not None
    except ModuleNotFoundError:  # of what it is in
        return False


RULES: tuple[Callable[[Config], _Found], ...] = (
    _names_are_unique,
    _fallbacks_lead_somewhere,
    _own_keys_stay_here,
    _public_is_deliberate,
    _metrics_are_open_or_not,
    _profiles_exist,
    _rules_have_something_to_switch,
    _facts_fade_in_order,
    _sums_fade_in_order,
    _a_database_has_a_url,
    _a_database_has_a_driver,
    _embedding_key_has_a_use,
    _the_judge_can_be_asked,
    _the_model_of_memory_has_work,
    _quality_can_be_measured,
    _workers_share_a_storage,
    _what_is_shared_has_a_place,
    _traces_can_be_sent,
)
