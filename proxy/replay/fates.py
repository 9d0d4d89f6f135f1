"""What became of every message of a request, and why: read from the plan and from the state that it leaves; where that
is gone, from what was sent."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

from proxy.memory.block import ours, without_ours
from proxy.memory.layout import INSTRUCTIONS
from proxy.types import Fold, Message, PathState, Plan

Fate = Literal["kept", "shortened", "marker", "folded", "recalled", "left out"]
Verdict: TypeAlias = tuple[Fate, str]  # and why

BEGINNING = 60  # characters of a message that are shown
_LINE = re.compile(r"^(\d+)(?: (assistant))?: (.*)$", re.MULTILINE)  # of an excerpt, as block.volatile writes it


@dataclass(frozen=True, slots=True)
class Seen:
    """One message."""

    index: int
    role: str
    tokens: int  # as the client sent it
    fate: Fate
    why: str
    begins: str


@dataclass(frozen=True, slots=True)
class Inside:
    """A prompt, looked into."""

    messages: tuple[Seen, ...]
    head: str = ""
    volatile: str = ""


def inside(messages: Sequence[Message], plan: Plan, tokens: Callable[[Message], int]) -> Inside:
    """`plan` is what was sent: of one that changed nothing every message is kept."""
    state, sent = plan.state, plan.messages
    if sent is None:
        return _seen(messages, tokens, [("kept", "sent as it was")] * len(messages))
    if state is None:
        head, volatile = _blocks(messages, sent)
        return _seen(messages, tokens, _compared(messages, sent, volatile), head, volatile)
    judge = _Judge(messages, state)
    elided = _elided(messages, sent) if plan.mechanisms.elided else frozenset()
    verdicts = [_ELIDED if index in elided else judge.fate(index) for index in range(len(messages))]
    return _seen(messages, tokens, verdicts, state.fold.head if state.fold else "", state.volatile)


_ELIDED: Verdict = ("shortened", "what need not be repeated is left out")


def _seen(
    messages: Sequence[Message],
    tokens: Callable[[Message], int],
    verdicts: Sequence[Verdict],
    head: str = "",
    volatile: str = "",
) -> Inside:
    seen = (
        Seen(index, said.role, tokens(said), *verdict, " ".join(said.text.split())[:BEGINNING])
        for index, (said, verdict) in enumerate(zip(messages, verdicts, strict=True))
    )
    return Inside(tuple(seen), head, volatile)


def _elided(messages: Sequence[Message], sent: Sequence[Message]) -> frozenset[int]:
    """Indices of instructions that are sent without a part of them."""
    whole = {without_ours(said.text).strip() for said in sent if said.role in INSTRUCTIONS}
    return frozenset(
        index for index, said in enumerate(messages) if said.role in INSTRUCTIONS and said.text.strip() not in whole
    )


class _Judge:
    def __init__(self, messages: Sequence[Message], state: PathState) -> None:
        self._messages = messages
        self._state = state
        users = [index for index, said in enumerate(messages) if said.role == "user"]
        self._preamble = users[0] if users else len(messages)
        self._newest = users[-1] if users else len(messages)
        self._turns = _turns(messages)
        self._excerpts = _excerpts(state.volatile)

    def fate(self, index: int) -> Verdict:
        state, said = self._state, self._messages[index]
        fold = state.fold or Fold(self._preamble)
        if index < self._preamble or index in fold.instructions:
            return "kept", "instructions"
        if index >= self._newest:
            return self._kept(index, fold, state, "newest turn")
        if index >= self._start(fold, state):
            return self._kept(index, fold, state, "window")
        if any(_is_from(excerpt, said, self._turns[index]) for excerpt in self._excerpts):
            return _RECALLED
        if index >= fold.start:
            return "left out", "makes room for what is recalled, this time"
        return self._folded(said, self._turns[index], fold)

    def _start(self, fold: Fold, state: PathState) -> int:
        if not state.lent:
            return fold.start
        return state.open[state.lent].start if state.lent < len(state.open) else self._newest

    def _kept(self, index: int, fold: Fold, state: PathState, why: str) -> Verdict:
        if index in state.folded_results:
            return "marker", "old tool result"
        if index in fold.capped:
            return "shortened", "long older answer"
        return "kept", why

    def _folded(self, said: Message, turn: int, fold: Fold) -> Verdict:
        if all(not summary.first_turn <= turn <= summary.last_turn for summary in fold.summaries):
            return "left out", f"turn {turn} left the window, and no summary tells of it"
        if said.role not in ("user", "assistant"):
            return "left out", f"turn {turn} left the window"
        return "folded", f"turn {turn} left the window for a summary"


# --- by what was sent alone -----------------------------------------------------------------------------------------


def _compared(messages: Sequence[Message], sent: Sequence[Message], volatile: str) -> list[Verdict]:
    """From the newest message back: what is kept stands in the order it was said. Instructions may have moved."""
    turns, excerpts = _turns(messages), _excerpts(volatile)
    instructions = {without_ours(said.text).strip() for said in sent if said.role in INSTRUCTIONS}
    left = [said for said in sent if said.role not in INSTRUCTIONS]
    verdicts: list[Verdict] = []
    for index in range(len(messages) - 1, -1, -1):
        said = messages[index]
        if said.role in INSTRUCTIONS:
            whole = without_ours(said.text).strip() in instructions
            verdicts.append(("kept", "instructions") if whole else _ELIDED)
        elif left and (verdict := _as_sent(said, left[-1])) is not None:
            left.pop()
            verdicts.append(verdict)
        elif any(_is_from(excerpt, said, turns[index]) for excerpt in excerpts):
            verdicts.append(_RECALLED)
        else:
            verdicts.append(("left out", f"turn {turns[index]} is not in the prompt"))
    return verdicts[::-1]


def _as_sent(said: Message, sent: Message) -> Verdict | None:
    """None: another message was sent there."""
    if said.role != sent.role or said.tool_call_id != sent.tool_call_id:
        return None
    own, theirs = (without_ours(each.text).strip() for each in (said, sent))
    if said.raw == sent.raw or own == theirs:
        return "kept", "in the prompt"
    if said.role == "tool":
        return "marker", "old tool result"
    is_cut = len(theirs) < len(own) and own[:_SAME] == theirs[:_SAME] and own[-_SAME:] == theirs[-_SAME:]
    return ("shortened", "long older answer") if is_cut and said.role == "assistant" else None


def _blocks(messages: Sequence[Message], sent: Sequence[Message]) -> tuple[str, str]:
    """The memory head and the volatile block, as they stand in what was sent."""
    known = {said.raw for said in messages}
    newest = max((index for index, said in enumerate(sent) if said.role == "user"), default=-1)
    changed = [(index, said.text) for index, said in enumerate(sent) if said.raw not in known]
    found = [(index, block) for index, said in changed for block in ours(said)]
    head = next((block for index, block in found if index != newest), "")
    last = [block for index, block in found if index == newest]
    if not head and sum(said.role == "user" for said in sent) == 1 and last:
        head = last.pop(0)  # the only user message carries both
    return head, "\n".join(last)


# --- what both need --------------------------------------------------------------------------------------------------

_RECALLED: Verdict = ("recalled", "the newest question needs it")
_SAME = 20  # characters at both ends of a message that lost its middle


def _turns(messages: Sequence[Message]) -> list[int]:
    """The turn that each belongs to, from 1; 0 before the first user message."""
    return list(accumulate(said.role == "user" for said in messages))


def _excerpts(volatile: str) -> list[tuple[int, str, str]]:
    return [(int(turn), role or "user", said) for turn, role, said in _LINE.findall(volatile)]


def _is_from(excerpt: tuple[int, str, str], said: Message, of: int) -> bool:
    turn, role, line = excerpt
    return turn == of and role == said.role and line in without_ours(said.text)
