"""Routing of a model to its upstream and the fallbacks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from proxy.errors import UnknownModel
from proxy.upstream.client import Upstream


@dataclass(frozen=True, slots=True)
class Route:
    """An upstream and its fallbacks, in order."""

    upstream: Upstream
    fallbacks: tuple[Upstream, ...] = ()

    @property
    def candidates(self) -> tuple[Upstream, ...]:
        """The upstream and its fallbacks, in order."""
        return (self.upstream, *self.fallbacks)


class Router:
    """Routes a model to the first configured upstream with a matching pattern."""

    def __init__(self, upstreams: Sequence[Upstream], *, reject_unknown: bool) -> None:
        self.upstreams = tuple(upstreams)
        self._by_name: Mapping[str, Upstream] = {upstream.name: upstream for upstream in upstreams}
        self._reject_unknown = reject_unknown
        self.route = lru_cache(maxsize=256)(self._route)

    def _route(self, model: str) -> Route:
        """Returns the route of a model. Raises UnknownModel, which lists the served models, if no pattern matches and
        the configuration says so; otherwise the first upstream serves it."""
        for upstream in self.upstreams:
            if any(fnmatchcase(model, pattern) for pattern in upstream.config.models):
                return Route(upstream, self._fallbacks(upstream))
        if self._reject_unknown:
            served = ", ".join(
                f"{pattern} ({upstream.name})" for upstream in self.upstreams for pattern in upstream.config.models
            )
            # The model's name is the client's own text; quote a bounded part of it.
            raise UnknownModel(f"The model {model[:100]!r} is not served here. Served: {served}.", param="model")
        return Route(self.upstreams[0], self._fallbacks(self.upstreams[0]))

    @property
    def default(self) -> Upstream:
        """The upstream of requests that name no model."""
        return self.upstreams[0]

    def named(self, name: str) -> Upstream:
        """Returns the upstream of this name. Raises KeyError."""
        return self._by_name[name]

    def _fallbacks(self, upstream: Upstream) -> tuple[Upstream, ...]:
        chain: list[Upstream] = []
        while (name := upstream.config.fallback) is not None:  # the configuration refuses cycles
            upstream = self._by_name[name]
            chain.append(upstream)
        return tuple(chain)
