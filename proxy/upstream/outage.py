"""An upstream that fails, as the log is told of it: once when it begins, and once when it answers again. Errors that
one request may have earned, and a connection that broke, which is tried again, are no outage."""

import logging
from collections.abc import Callable
from time import monotonic

log = logging.getLogger(__name__)

# The upstream as a whole, as far as one can tell: gateways, Cloudflare's 520 to 524, Anthropic's "overloaded".
DOWN = frozenset({502, 503, 504, 520, 521, 522, 523, 524, 529})
REFUSED = frozenset({401, 403})
QUIET = 60.0  # seconds after its end in which another outage is not told: one that comes and goes fills no log


class Outage:
    """The outage of one upstream. `has_key`: it is asked with a key of the configuration, so a refusal is no client's
    fault. `clock` is monotonic, in seconds."""

    def __init__(self, upstream: str, *, has_key: bool, clock: Callable[[], float] = monotonic) -> None:
        self.is_told = False
        self.telling = DOWN | REFUSED if has_key else DOWN  # statuses of which `answered` wants to know
        self._upstream = upstream
        self._clock = clock
        self._quiet_until = float("-inf")

    def failed(self, why: str) -> None:
        """Takes note that there was no answer. `why` is for the log: it has no key and no address."""
        if self.is_told or self._clock() < self._quiet_until:
            return
        self.is_told = True
        log.warning("upstream fails; `olvido doctor` looks at it", extra={"upstream": self._upstream, "why": why})

    def answered(self, status: int) -> None:
        """Takes note of an answer; needs to be called only where `is_told`, or for a status in `telling`."""
        if status in self.telling:
            self.failed(f"status {status}: it refuses the configured key" if status in REFUSED else f"status {status}")
        elif self.is_told:
            self.is_told = False
            self._quiet_until = self._clock() + QUIET
            log.info("upstream answers again", extra={"upstream": self._upstream})
