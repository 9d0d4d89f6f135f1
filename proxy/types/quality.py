"""Values of the comparison between a managed answer and the one that the unmanaged request has got."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Way: TypeAlias = Literal["measures", "judge"]  # by which a pair was decided
# Why an answer has held, or not. `alike` and `small_talk`: it has.
Reason: TypeAlias = Literal[
    "alike",
    "small_talk",
    "tools",
    "arguments",
    "empty",
    "cut_off",
    "language",
    "unknowing",
    "refused",
    "opposite",
    "numbers",
    "names",
    "meaning",
    "judge",
]

# Reasons of rows of the ledger that comparing has made: requests as they were, and questions to the judge.
COMPARING = frozenset({"quality", "quality_judge"})


@dataclass(frozen=True, slots=True)
class Said:
    """An answer of a model, as it is compared."""

    text: str
    calls: tuple[tuple[str, str], ...] = ()  # name and arguments of its tool calls, in their order
    is_cut: bool = False  # by a limit of tokens


@dataclass(frozen=True, slots=True)
class Measures:
    """The numbers of a comparison. Shares are of what the original answer has; None: it has none."""

    length: float = 1.0  # characters of the managed answer by those of the original
    numbers: float | None = None  # share of the original's numbers that the managed answer has
    names: float | None = None  # share of its names and identifiers
    terms: float | None = None  # share of its words of meaning
    similarity: float | None = None  # cosine of both; None: no vectors
    calls: bool | None = None  # whether both call the same tools with the same arguments; None: none calls any


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison with its decision."""

    held: bool
    reason: Reason
    measures: Measures
    way: Way = "measures"


@dataclass(frozen=True, slots=True)
class QualityPair:
    """A request that was answered twice: managed, as its client got it, and as it was. Texts are "" where contents are
    not kept, or were forgotten."""

    scope: str
    request_id: str
    session: str
    at: float  # Unix seconds
    model: str
    upstream: str
    comparison: Comparison
    saved: float  # US dollars that the management of this request has saved
    cost: float  # US dollars that comparing it has cost
    tokens_original: int = 0  # of the prompt as it was
    tokens_sent: int = 0  # of the managed one
    question: str = ""
    managed: str = ""
    original: str = ""
    verdict: str = ""  # what the judge has said, in a few words


@dataclass(frozen=True, slots=True)
class HeldSums:
    """The sums of comparisons of a span of time."""

    pairs: int = 0
    held: int = 0
    cost: float = 0.0  # US dollars
