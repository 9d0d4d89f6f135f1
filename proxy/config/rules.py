"""Rules of the configuration that involve more than one setting. Each is a pure function from a configuration to the
problems that it has; `violations` runs them all.
"""

import ipaddress
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from proxy.config.model import Config, Upstream
from proxy.config.prices import listed
from proxy.config.source import Problem, Where


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
        target = by_name.get(upstream.fallback)
        if target is None:
            yield where, f"no upstream is named {upstream.fallback!r}; there are: {', '.join(by_name)}"
        elif target is upstream:
            yield where, "an upstream cannot be its own fallback"
        elif _comes_back(upstream, by_name):
            yield where, f"the fallbacks from {upstream.name!r} lead back to it"
        for further in _chain(upstream, by_name):
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


def _comes_back(upstream: Upstream, by_name: dict[str, Upstream]) -> bool:
    name, steps = upstream.fallback, 0
    while name in by_name and name != upstream.name and steps < len(by_name):
        name, steps = by_name[name].fallback, steps + 1
    return name == upstream.name


def _origin(upstream: Upstream) -> tuple[str, str]:
    url = urlsplit(upstream.base_url)
    return url.scheme, url.netloc.lower()


def _own_keys_stay_here(config: Config) -> _Found:
    if config.auth.mode == "passthrough":
        if config.auth.keys:
            yield ("auth", "mode"), "is passthrough, but `auth.keys` lists own keys, which only mode `keys` checks"
        return
    if not config.auth.keys:
        yield ("auth", "keys"), "mode `keys` needs at least one own key, or nobody gets in"
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


def _facts_fade_in_order(config: Config) -> _Found:
    if config.memory.stale_after < config.memory.unconfirmed_after:
        yield ("memory", "stale_after"), "must not be shorter than `memory.unconfirmed_after`"


def _sums_fade_in_order(config: Config) -> _Found:
    keep = config.storage.keep
    if keep.hours and (keep.hours < keep.minutes or not keep.minutes):
        yield ("storage", "keep", "hours"), "must not be shorter than `storage.keep.minutes`"


def _embedding_key_has_a_use(config: Config) -> _Found:
    if config.embedding.base_url and config.embedding.model == "builtin":
        yield ("embedding", "model"), "must name a model of `embedding.base_url`; `builtin` runs here"


def _the_judge_can_be_asked(config: Config) -> _Found:
    judge = config.reuse.intent.judge
    if judge is None:
        return
    where = ("reuse", "intent", "judge")
    upstream = next((upstream for upstream in config.upstreams if upstream.name == judge.upstream), None)
    if upstream is None:
        names = ", ".join(upstream.name for upstream in config.upstreams)
        yield (*where, "upstream"), f"no upstream is named {judge.upstream!r}; there are: {names}"
        return
    if not upstream.api_key:
        yield (*where, "upstream"), f"{upstream.name!r} needs an api_key of its own: the judge never has a client's key"
    listing = listed(upstream.dialect, (judge.model, upstream.aliases.get(judge.model, judge.model)))
    is_named = any(fnmatchcase(judge.model, pattern) for pattern in upstream.prices)
    if not upstream.price and not is_named and not listing:
        yield (
            (*where, "model"),
            (
                f"the price of {judge.model!r} at {upstream.name!r} is not known, so `max_spend` could not be kept: "
                "set `price` there (zeros if it costs nothing)"
            ),
        )


_RULES: tuple[Callable[[Config], _Found], ...] = (
    _names_are_unique,
    _fallbacks_lead_somewhere,
    _own_keys_stay_here,
    _public_is_deliberate,
    _metrics_are_open_or_not,
    _profiles_exist,
    _facts_fade_in_order,
    _sums_fade_in_order,
    _embedding_key_has_a_use,
    _the_judge_can_be_asked,
)
