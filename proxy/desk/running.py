"""Interface between the loop that splices an answer out of several rounds, and whoever runs the tools in it."""

from collections.abc import Sequence
from typing import Protocol

from proxy.types import ToolCall
from proxy.types.desk import Hidden


class ToolRunner(Protocol):
    """The tools of one request. Its methods never raise but CancelledError: what goes wrong is a sentence to the model,
    counted and logged."""

    @property
    def may_answer(self) -> frozenset[str]:
        """Names of calls that may be answered here: our tools as they are offered, and tools of the client's whose
        results this session has."""

    def answers(self, call: ToolCall) -> bool:
        """Tells whether this call, now that its arguments are known, is answered here: always if the tool is ours."""

    async def run(self, calls: Sequence[ToolCall], round_: int) -> Sequence[str]:
        """Runs calls that it answers, one after the other, and returns the content of each one's result. A call that
        has run already, by its link and id, has no second effect. `round_`: from 1."""

    async def keep(self, hidden: Hidden) -> bool:
        """Keeps what the client does not see, so that the next request gets it back. True once that is durable. False:
        the conversation goes on without it."""
