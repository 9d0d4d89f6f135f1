"""Protocol of the model that memory asks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from proxy.types import Json

MOST_ANSWER = 2_048  # tokens that an answer may have: what they can cost must be set aside before each call


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the model's upstream."""

    text: str  # of its first choice; "" if there is none
    cost: float  # US dollars
    is_out: bool = False  # the upstream is not there, or overloaded: nobody was asked


class MemoryModel(Protocol):
    """A model that can be asked. It never raises but for cancellation.

    `name`: of the model. `settings`: of every request to it beside the messages. `schemas`: it takes a JSON schema as
    `response_format`.
    """

    name: str
    settings: Mapping[str, Json]
    schemas: bool

    def most(self, body: bytes) -> float:
        """Returns the US dollars that an answer to this can cost at most."""
        ...

    async def ask(self, scope: str, session: str, name: str, body: bytes) -> Reply | None:
        """Returns the answer to a chat request, whose cost is a row `name` of the ledger of the scope of memory; None
        if it failed, at no known cost."""
        ...
