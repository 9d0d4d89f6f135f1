"""Cautions: settings that are right, and do less than whoever reads them would think. Nothing is refused for them;
`olvido check-config`, `olvido doctor` and the log of a start tell them."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from proxy.config.model import Config
from proxy.config.providers import OPTIONAL, provider_at
from proxy.config.source import Problem, Where
from proxy.config.upstreams import has_list
from proxy.types.keys import Limits

APART = (
    "is counted by each machine for itself, since there is no `shared`: N machines over this PostgreSQL let N times "
    "as much through within a minute. With one Redis (`shared: {url: ${REDIS_URL}}`) it holds over all of them; "
    "budgets of a day and a month do already"
)

UNPRICED = (
    "has no price, and none is known of its models: under a budget in dollars they are refused (`limits.unpriced: "
    "refuse`). Zeros if it costs nothing; or `limits.unpriced: free`"
)


def cautions(config: Config) -> list[Problem]:
    """Returns what should be known of a configuration that is right, each with the place of the setting."""
    apart = [Problem(where, APART) for where in _rates_apart(config)]
    unpriced = [Problem(where, UNPRICED) for where in _unpriced(config)]
    return [*apart, *unpriced, *(Problem(where, text) for where, text in _elsewhere(config))]


def counts_rates_apart(config: Config, limits: Limits) -> bool:
    """Tells whether rates of these limits hold for each machine alone, of several that a PostgreSQL is there for."""
    return config.storage.kind == "postgres" and config.shared is None and limits.has_rates


def _unpriced(config: Config) -> Iterator[Where]:
    has_dollars = any(limits.has_dollars for _, limits in _limits(config))
    if not has_dollars or config.limits.unpriced == "free":
        return
    for at, upstream in enumerate(config.upstreams):
        if not (upstream.price or upstream.prices or has_list(upstream)):
            yield "upstreams", at, "price"


def _elsewhere(config: Config) -> Iterator[tuple[Where, str]]:
    """Yields what the provider at a known address has otherwise: the path of its API, its dialect."""
    for at, upstream in enumerate(config.upstreams):
        if (known := provider_at(upstream.base_url)) is None:
            continue
        if not urlsplit(upstream.base_url).path.strip("/") and known.host not in OPTIONAL:
            yield (
                ("upstreams", at, "base_url"),
                f"{known.name} has its API at {known.base_url}; here its path is missing",
            )
        if upstream.dialect == "generic" and known.dialect != "generic":
            where = ("upstreams", at, "dialect")
            yield (
                where,
                f"is generic; `{known.dialect}` has the rules and the prefix cache of {known.name}, who is asked here",
            )


def _limits(config: Config) -> list[tuple[Where, Limits]]:
    """Returns all limits of a configuration, by their places."""
    places: list[tuple[Where, Limits]] = [
        (("limits", "keys"), config.limits.keys.limits()),
        (("limits", "users"), config.limits.users.limits()),
        *((("auth", "keys", at, "limits"), key.limits.limits()) for at, key in enumerate(config.auth.keys)),
    ]
    return places


def _rates_apart(config: Config) -> Iterator[Where]:
    for where, limits in _limits(config):
        if counts_rates_apart(config, limits):
            yield from ((*where, f"{unit}_per_{per}") for unit, per, _ in limits.items() if per == "minute")
