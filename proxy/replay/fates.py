"""What became of every message of a request, and why: read from the plan and from the state that it leaves."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from proxy.memory.block import without_ours
from proxy.memory.layout import INSTRUCTIONS
from proxy.types import Fold, Message, PathState, Plan
from proxy.wire.content import text

Fate = Literal["kept", "shortened", "marker", "folded", "recalled", "left out"]

BEGINNING = 60  # characters of a message that are shown
_LINE = re.compile(r"^(\d+) (user|assistant): (.*)$", re.MULTILINE)  # of an excerpt, as block.volatile writes it


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
    state = plan.state if plan.messages is not None else None
    judge = _Judge(messages, state)
    elided = _elided(messages, plan)
    seen = []
    for index, said in enumerate(messages):
        fate, why = judge.fate(index)
        if index in elided:
            fate, why = "shortened", "what need not be repeated is left out"
        begins = " ".join(text(said.data).split())[:BEGINNING]
        seen.append(Seen(index, said.role, tokens(said), fate, why, begins))
    if state is None:
        return Inside(tuple(seen))
    return Inside(tuple(seen), state.fold.head if state.fold else "", state.volatile)


def _elided(messages: Sequence[Message], plan: Plan) -> frozenset[int]:
    """Indices of instructions that are sent without a part of them."""
    if plan.messages is None or not plan.mechanisms.elided:
        return frozenset()
    sent = {without_ours(text(said.data)).strip() for said in plan.messages if said.role in INSTRUCTIONS}
    return frozenset(
        index
        for index, said in enumerate(messages)
        if said.role in INSTRUCTIONS and text(said.data).strip() not in sent
    )


class _Judge:
    def __init__(self, messages: Sequence[Message], state: PathState | None) -> None:
        self._messages = messages
        self._state = state
        users = [index for index, said in enumerate(messages) if said.role == "user"]
        self._preamble = users[0] if users else len(messages)
        self._newest = users[-1] if users else len(messages)
        self._turns = []
        turn = 0
        for said in messages:
            turn += said.role == "user"
            self._turns.append(turn)
        self._excerpts = [
            (int(turn), role, said) for turn, role, said in _LINE.findall(state.volatile if state else "")
        ]

    def fate(self, index: int) -> tuple[Fate, str]:
        state, said = self._state, self._messages[index]
        if state is None:
            return "kept", "sent as it was"
        fold = state.fold or Fold(self._preamble)
        if index < self._preamble or index in fold.instructions:
            return "kept", "instructions"
        if index >= self._newest:
            return self._kept(index, fold, state, "newest turn")
        if index >= self._start(fold, state):
            return self._kept(index, fold, state, "window")
        if any(self._is_from(excerpt, index) for excerpt in self._excerpts):
            return "recalled", "the newest question needs it"
        if index >= fold.start:
            return "left out", "makes room for what is recalled, this time"
        return self._folded(said, self._turns[index], fold)

    def _start(self, fold: Fold, state: PathState) -> int:
        if not state.lent:
            return fold.start
        return state.open[state.lent].start if state.lent < len(state.open) else self._newest

    def _kept(self, index: int, fold: Fold, state: PathState, why: str) -> tuple[Fate, str]:
        if index in state.folded_results:
            return "marker", "old tool result"
        if index in fold.capped:
            return "shortened", "long older answer"
        return "kept", why

    def _folded(self, said: Message, turn: int, fold: Fold) -> tuple[Fate, str]:
        if all(not summary.first_turn <= turn <= summary.last_turn for summary in fold.summaries):
            return "left out", f"turn {turn} left the window, and no summary tells of it any more"
        if said.role not in ("user", "assistant"):
            return "left out", f"turn {turn} left the window"
        return "folded", f"turn {turn} left the window for a summary"

    def _is_from(self, excerpt: tuple[int, str, str], index: int) -> bool:
        turn, role, line = excerpt
        said = self._messages[index]
        return turn == self._turns[index] and role == said.role and line in without_ours(text(said.data))
