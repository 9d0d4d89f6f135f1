"""Problems of a configuration: the rules between settings that it breaks, and the settings that it gives wrong, in the
file's own words (the path, the value found, the value expected, the nearest name for an unknown key), which come from
the JSON Schema of the model. A rule is a pure function from a configuration to the problems that it has; `violations`
runs them all.
"""

import difflib
import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from proxy.config.model import Config
from proxy.config.source import Problem, Source, Where, kind_of
from proxy.config.upstreams import Upstream, is_priced, redact

_SHOWN = 60  # characters of a wrong value
_UNKNOWN = {"extra_forbidden", "unexpected_keyword_argument"}
_KINDS = {
    "dictionary": "a mapping",
    "tuple": "a list",
    "list": "a list",
    "string": "text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "False": "false",
    "have at least 1 item after validation, not 0": "at least one",
}


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


def violations(config: Config) -> list[Problem]:
    """Returns a problem for every rule that `config` breaks."""
    return [Problem(where, text) for rule in _RULES for where, text in rule(config)]


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
        yield ("shared",), "needs the extra olvido[cluster]: pip install 'olvido[cluster]'"


def _traces_can_be_sent(config: Config) -> _Found:
    if config.observe.tracing is not None and not _has_otel():
        yield ("observe", "tracing"), "needs the extra olvido[otel]: pip install 'olvido[otel]'"


def _has_otel() -> bool:
    try:
        return find_spec("opentelemetry.proto") is not None
    except ModuleNotFoundError:  # of what it is in
        return False


_RULES: tuple[Callable[[Config], _Found], ...] = (
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
    _embedding_key_has_a_use,
    _the_judge_can_be_asked,
    _the_model_of_memory_has_work,
    _quality_can_be_measured,
    _workers_share_a_storage,
    _what_is_shared_has_a_place,
    _traces_can_be_sent,
)


# --- settings that are given wrong ---


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    return Config.model_json_schema()


def schema_at(where: Where) -> dict[str, Any] | None:
    """Returns the JSON Schema of the setting at `where`; None if there is no such setting."""
    node: dict[str, Any] = _schema()
    for part in where:
        properties = node.get("properties", {})
        below = node.get("items") if isinstance(part, int) else properties.get(part) or node.get("additionalProperties")
        if not isinstance(below, dict):
            return None
        node = below
        for option in node.get("anyOf", [node]):  # an optional section: the half that is not null
            if "$ref" in option:
                node = _schema()["$defs"][option["$ref"].rsplit("/", 1)[1]]
    return node


def is_secret(where: Where) -> bool:
    """Returns True if the setting at `where` holds a key or a token."""
    schema = schema_at(where)
    return schema is not None and any(option.get("format") == "password" for option in schema.get("anyOf", [schema]))


def nearest(name: str, known: Sequence[str]) -> str:
    """Returns the end of a sentence about an unknown name: the most similar known one, if there is one, and all of
    them."""
    near = difflib.get_close_matches(name.lower(), known, n=1) or _with_its_words(name, known)
    hint = f"; did you mean `{near[0]}`?" if near else ";"
    return f"{hint} known here: {', '.join(known)}"


def _with_its_words(name: str, known: Sequence[str]) -> list[str]:
    """The name that has all words of `name`, or whose words `name` has, if it is the only one: `base_url` for `url`."""
    words = set(name.lower().replace("-", "_").split("_"))
    found = [each for each in known if words <= (of := set(each.split("_"))) or of < words]
    return found if len(found) == 1 else []


def explained(errors: list[Any], source: Source) -> list[Problem]:
    """Returns pydantic's errors in our words, one problem per setting: the alternatives of a union are joined."""
    grouped: dict[Where, list[Any]] = {}
    for error in errors:
        if error["type"] == "too_short" and error["input"]:
            continue  # the library counts the valid items only; the others have errors of their own
        where: Where = ()
        for part in error["loc"]:  # a part that no setting has is the library's own mark of a union or a validator
            unknown = error["type"] in _UNKNOWN and part == error["loc"][-1]
            where = (*where, part) if unknown or schema_at((*where, part)) is not None else where
        grouped.setdefault(where, []).append(error)
    return [Problem(where, _sentence(where, found, source)) for where, found in grouped.items()]


def _sentence(where: Where, errors: list[Any], source: Source) -> str:
    schema = schema_at(where) or {}
    if errors[0]["type"] in _UNKNOWN:
        return f"unknown key{nearest(str(where[-1]), list((schema_at(where[:-1]) or {}).get('properties', {})))}"
    if errors[0]["type"] == "missing":
        return f"is required: {schema.get('description', 'nothing is given')}"
    value = errors[0]["input"]
    expected = " or ".join(dict.fromkeys(_expected(error["msg"]) for error in errors))
    if isinstance(value, dict) and errors[0]["type"] == "value_error":
        return expected
    return f"found {_found(where, value, schema, source)}, expected {expected}"


def _expected(message: str) -> str:
    message = re.sub(r"^(Value error, |Input should be |(String|List|Tuple|Dictionary) should )", "", message)
    message = re.sub(r"a valid (dictionary|tuple|list|string|integer|boolean|number).*", r"\1", message)
    return _KINDS.get(message, message)


def _found(where: Where, value: object, schema: dict[str, Any], source: Source) -> str:
    if is_secret(where):
        return "a value that is not shown"
    if where in source.from_env:
        return f"the value of {source.from_env[where]}"
    if isinstance(value, bool):
        return str(value).lower()
    # Text where a section belongs may be a secret that lost its key.
    if not isinstance(value, str | int | float) or schema.get("type") in {"object", "array"} or "properties" in schema:
        return kind_of(value)
    shown = repr(redact(str(value)) if isinstance(value, str) else value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
