"""The share of answers that have held, with the interval in which the true share lies."""

import math
from dataclasses import dataclass

Z = 1.959964  # of a normal distribution: 95 % lie within so many standard deviations


@dataclass(frozen=True, slots=True)
class Held:
    """A share of `pairs`, with Wilson's score interval of 95 %."""

    pairs: int
    held: int
    share: float | None  # None: nothing was compared
    low: float
    high: float


def held(pairs: int, kept: int) -> Held:
    """Returns the share of `kept` among `pairs`. Wilson's interval (E. B. Wilson, Probable Inference, 1927) is right
    for few pairs and for shares near 1 too, where the usual one is not."""
    if pairs <= 0:
        return Held(0, 0, None, 0.0, 1.0)
    share, square = kept / pairs, Z * Z
    middle = (share + square / (2 * pairs)) / (1 + square / pairs)
    half = Z / (1 + square / pairs) * math.sqrt(share * (1 - share) / pairs + square / (4 * pairs * pairs))
    return Held(pairs, kept, share, max(0.0, middle - half), min(1.0, middle + half))
