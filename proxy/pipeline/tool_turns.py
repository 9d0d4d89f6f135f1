"""The decisions after each round of an answer whose tools the proxy runs: does the answer end with it, or is the model
asked again? What was hidden from the client is collected here, and kept."""

from collections.abc import Awaitable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Literal

import msgspec

from proxy.desk.running import ToolRunner
from proxy.desk.sentences import sentence
from proxy.pipeline.tool_rounds import Rounds, close, is_readable
from proxy.protocol.chains import identity_of, links_after
from proxy.protocol.rounds import NOBODYS, Whose
from proxy.protocol.spliced import ReadRound
from proxy.protocol.tool_results import Said, result
from proxy.types import Answer, Message, ToolCall, Usage
from proxy.types.desk import Hidden

KEEP_DEADLINE = 2.0  # seconds in which what was hidden is to be durable, while the end of the answer waits


class UnusableError(Exception):
    """Raised where the rounds come to nothing: the client's own request is to be sent."""


class Turns:
    """The rounds of one answer, one after the other."""

    def __init__(self, rounds: Rounds, runner: ToolRunner) -> None:
        self.rounds = rounds
        self._attempts = rounds.context.attempts
        self._runner = runner
        self._settings = rounds.context.services.config.memory.tools
        self._began = perf_counter()
        self._run = 0  # rounds whose calls were run
        self._is_last = False  # no further calls are run
        self._hidden: list[Message] = []  # between the request and the newest round
        self._final: Message | None = None  # of the newest round, as it is to go back upstream
        self._after: tuple[Message, ...] = ()  # results beside the client's
        self._tokens = 0  # of the rounds before the newest
        self._ids: set[str] = set()  # of calls that were run

    @property
    def whose(self) -> Whose:
        """The rules by which the next round's calls are answered here."""
        if self.rounds.is_own:
            return NOBODYS
        names = frozenset(name for name in self.rounds.exchange.request.tool_names if name)
        return Whose(self._runner.may_answer, names, self._runner.answers)

    async def following(
        self, round_: ReadRound | None, completion: Mapping[str, Any] | None, *, has_said: bool
    ) -> Answer | None:
        """Returns the answer of a further round; None if this round ends the answer. `completion`: the round as the
        model gave it; None if it is not whole. `has_said`: the client has a text of an earlier round. Raises
        UnusableError and UpstreamError if the rounds can't go on."""
        if round_ is None or completion is None:
            raise UnusableError
        if self.rounds.is_own:
            return None
        said: Said | None = self._attempts.call("tools", partial(round_.said, completion), fallback=None)
        if said is None or len(said.ours) != len(round_.ours):
            raise UnusableError
        is_empty = not (round_.has_text or round_.has_theirs)
        if not round_.ours:
            if is_empty and self._hidden and not has_said:
                raise UnusableError
            self._final = said.message
            return None
        self._final = said.rest
        if self._is_last:
            self._count("stripped")
            if is_empty:
                raise UnusableError
            return None
        results = await self._results(said.ours)
        if round_.has_theirs:
            self._count("mixed")
            self._beside(said.message, results)
            return None
        if results is None:
            raise UnusableError
        return await self._again(said.message, results)

    async def ask_own(self) -> Answer:
        """Asks with the client's own request, in place of rounds that came to nothing. Raises UpstreamError."""
        if self._run:
            self._count("failed")
        self._hidden, self._after = [], ()
        return await self.rounds.ask_own()

    async def keep(self, answers: Sequence[Message]) -> None:
        """Keeps what was hidden, for the answer as the client gets it. `answers`: its messages."""
        chain = self.rounds.exchange.identity.chain
        if not chain or len(answers) != 1 or not (self._hidden or self._after):
            return
        said = answers[0]
        given = self._final or said
        # Clients seldom send reasoning back, and an upstream may want it where tools were called.
        is_other = bool(given.reasoning) or identity_of(given) != identity_of(said)
        hidden = Hidden(
            link=chain[-1],
            answer=links_after(chain[-1], answers)[0],
            before=tuple(each.raw for each in self._hidden),
            instead=given.raw if is_other or given.span or self._after else b"",
            after=tuple(each.raw for each in self._after),
            calls=tuple(call.id for call in said.tool_calls),
            tokens=self._tokens,
            spans=_spans([*self._hidden, given]),
            api=self.rounds.api,
        )
        await self._attempts.run("tools", self._runner.keep(hidden), fallback=False, deadline=KEEP_DEADLINE)

    async def _again(self, said: Message, results: Sequence[Message]) -> Answer:
        self._hidden += [said, *results]
        self._tokens = sum(_tokens(each.usage) for each in self.rounds.told)
        answer = await self.rounds.ask(self._hidden)
        if answer is None or answer.status >= 400 or not is_readable(answer) or answer.api != self.rounds.api:
            await close(answer)
            raise UnusableError
        self._count("continued")
        return answer

    async def _results(self, calls: Sequence[ToolCall]) -> tuple[Message, ...] | None:
        """Runs our calls. Returns their results as messages; None if they could not be run."""
        self._run += 1
        settings = self._settings
        work = _listed(self._runner.run([self._apart(call) for call in calls], self._run))
        contents = await self._attempts.run("tools", work, fallback=None, deadline=settings.timeout)
        if contents is None or len(contents) != len(calls):
            return None
        self._is_last = (
            self._run >= settings.rounds
            or perf_counter() - self._began >= settings.timeout
            or self.rounds.spent >= settings.spend
        )
        if self._is_last:
            contents[-1] = f"{contents[-1]}\n\n{sentence(settings.language, 'last-round')}"
        return tuple(map(result, calls, contents))

    def _apart(self, call: ToolCall) -> ToolCall:
        """Returns the call by an id that no earlier one of this answer had: some upstreams begin anew in every round,
        and a call by the same id would be taken for the same call."""
        id_, number = call.id, 2
        while id_ in self._ids:
            id_, number = f"{call.id}-{number}", number + 1
        self._ids.add(id_)
        return msgspec.structs.replace(call, id=id_)

    def _beside(self, said: Message, results: tuple[Message, ...] | None) -> None:
        """Notes a message with calls of both, and the results of ours, if they can be sent with the client's."""
        if results is None:
            return
        ours = {each.tool_call_id for each in results}
        theirs = tuple(result(call, "") for call in said.tool_calls if call.id not in ours)
        if self.rounds.accepts([*self._hidden, said, *results, *theirs]):
            self._final, self._after = said, results

    def _count(self, ended: Literal["continued", "mixed", "stripped", "failed"]) -> None:
        metrics = self.rounds.context.services.metrics
        metrics.of(metrics.memory_tool_rounds, ended).inc()


def _spans(messages: Sequence[Message]) -> tuple[bytes, ...]:
    """Returns the messages' bytes in another API; () if they have none."""
    spans = tuple(each.span for each in messages)
    return spans if any(spans) else ()


async def _listed(work: Awaitable[Sequence[str]]) -> list[str]:
    return list(await work)


def _tokens(usage: Usage | None) -> int:
    return usage.prompt_tokens + usage.completion_tokens if usage is not None else 0
