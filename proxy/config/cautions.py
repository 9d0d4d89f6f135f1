"""Cautions: settings that are right, and do less than whoever reads them would think. Nothing is refused for them;
`olvido check-config`, `olvido doctor` and the log of a start tell them."""

from collections.abc import Iterator

from proxy.config.model import Config
from proxy.config.source import Problem, Where
from proxy.types.keys import Limits

APART = (
    "is counted by each machine for itself, since there is no `shared`: N machines over this PostgreSQL let N times "
    "as much through within a minute. With one Redis (`shared: {url: ${REDIS_URL}}`) it holds over all of them; "
    "budgets of a day and a month do already"
)


def cautions(config: Config) -> list[Problem]:
    """Returns what should be known of a configuration that is right, each with the place of the setting."""
    return [Problem(where, APART) for where in _rates_apart(config)]


def counts_rates_apart(config: Config, limits: Limits) -> bool:
    """Tells whether rates of these limits hold for each machine alone, of several that a PostgreSQL is there for."""
    return config.storage.kind == "postgres" and config.shared is None and limits.has_rates


def _rates_apart(config: Config) -> Iterator[Where]:
    places: list[tuple[Where, Limits]] = [
        (("limits", "keys"), config.limits.keys.limits()),
        (("limits", "users"), config.limits.users.limits()),
        *((("auth", "keys", at, "limits"), key.limits.limits()) for at, key in enumerate(config.auth.keys)),
    ]
    for where, limits in places:
        if counts_rates_apart(config, limits):
            yield from ((*where, f"{unit}_per_{per}") for unit, per, _ in limits.items() if per == "minute")
