"""Progress of a conversation: the state that an earlier request left, brought up to this one. The work is in
proportion to what is new; a history without a known state is read once, however many questions follow it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import msgspec
import numpy as np

from proxy.config.profiles import Profile, Window
from proxy.conversation.blocks import without_ours
from proxy.conversation.topics import LOOKED_BACK, Topic, TurnTexts, continuity, domain, shift
from proxy.lru import Lru
from proxy.types import ArchivedTurn, Message, PathState, TurnDigest, Vector

# Newest turns of an unknown history that are read for their topics: summaries may be made of these.
MOST_READ = 12
MOST_HISTORIES = 8  # of a scope
VERSION = 2  # of a state's bytes
_TURN_BYTES = 250  # for a turn's digest, its link, and the lengths of its messages


# Decisions that may depend on vectors: which facts, which old turns, how much of the topic stays in the window.
Purpose = Literal["facts", "turns", "topic"]
PURPOSES: frozenset[Purpose] = frozenset({"facts", "turns", "topic"})


class VectorsNeeded(Exception):
    """Raised where a decision depends on vectors that were not looked up (`Case.lacks`): to be made, and decided
    again."""

    def __init__(self, purpose: Purpose, turns: Sequence[ArchivedTurn] = (), *, waits: bool = True) -> None:
        super().__init__(purpose)
        self.purpose = purpose
        self.turns = turns  # the most urgent first
        self.waits = waits  # the decision needs these turns' vectors now


@dataclass(frozen=True, slots=True)
class Case:
    """A request as planning sees it."""

    messages: Sequence[Message]
    chain: Sequence[bytes]
    tokens: Callable[[int], int]  # tokens of the message with this index
    overhead: int  # tokens besides the messages: tools, the response format
    profile: Profile
    state: PathState | None = None  # of the longest earlier request on this path
    vector: Vector | None = None  # of the newest user message
    before: Sequence[Vector] = ()  # of the user messages before it, the last one first, where they were looked up
    lacks: frozenset[Purpose] = frozenset()  # purposes for which vectors were not looked up
    embedding: str = ""  # version of the embedder of `vector`
    was_seen: bool = False  # an earlier request had a part of this history, whether or not its state is known
    added: int = 0  # tokens of the messages and of `overhead` that the client has not sent


@dataclass(frozen=True, slots=True)
class History:
    """Sizes of all messages before the newest user message."""

    preamble: int  # messages before the first user message
    preamble_tokens: int
    before: int  # tokens of all messages before the newest user message
    turns: int  # user messages so far
    open: tuple[TurnDigest, ...]  # complete turns of the prompt unless it is folded now, oldest first


@dataclass(frozen=True, slots=True)
class Progress(History):
    """Sizes and turns of a conversation up to the newest user message."""

    newest: int  # index of the newest user message
    newest_tokens: int  # tokens from there on
    topic: Topic  # of the newest turn

    @property
    def digest(self) -> TurnDigest:
        """The digest of the newest turn so far."""
        topic = self.topic
        return TurnDigest(b"", self.newest_tokens, topic.continuity, topic.shift, topic.domain, self.newest)


class Histories:
    """Bounded map of histories that were read from their beginning, so that another question after one, or another
    answer to it, starts there. It holds links and numbers, no text. Worker threads share it."""

    def __init__(self, most: int = MOST_HISTORIES) -> None:
        self._known: Lru[tuple[bytes, tuple[int, ...], Window], History] = Lru(most)

    @property
    def size(self) -> int:
        """Approximate bytes that the map takes in memory."""
        return sum(_TURN_BYTES * history.turns for history in tuple(self._known.values()))

    def of(self, case: Case, newest: int) -> History:
        """Returns the history of a case without a state, and reads it if it is not known."""
        if newest == 0:
            return _read(case, newest)
        # A link leaves out fields that are only informative (proxy/protocol/chains.py) but have tokens: so the key has
        # the lengths in bytes as well.
        lengths = tuple([len(said.raw) for said in case.messages[:newest]])
        key = (case.chain[newest - 1], lengths, case.profile.window)
        history = self._known.get(key) or _read(case, newest)
        self._known.put(key, history)
        return history


def progress(case: Case, histories: Histories | None = None) -> Progress | None:
    """Returns the progress of a conversation; None if it has no user message. `histories`: those of the case's scope;
    without them the history is read anew, with the same result."""
    messages, state = case.messages, case.state
    newest = next((index for index in reversed(range(len(messages))) if messages[index].role == "user"), None)
    if newest is None:
        return None
    history = _read(case, newest) if state is not None or histories is None else histories.of(case, newest)
    if state is not None and newest == state.newest:  # the same turn goes on
        said = Topic(state.continuity, state.shift, state.domain)
    else:
        said = _topic(case, newest, history.open, _cosine(case, 0))
    newest_tokens = sum(map(case.tokens, range(newest, len(messages))))
    sizes = history.preamble, history.preamble_tokens, history.before, history.turns, history.open
    return Progress(*sizes, newest, newest_tokens, said)


def _read(case: Case, newest: int) -> History:
    messages, state = case.messages, case.state
    preamble = next(index for index, said in enumerate(messages) if said.role == "user")
    preamble_tokens = sum(map(case.tokens, range(preamble)))
    since = state.newest if state else preamble
    starts = [index for index in range(since, newest + 1) if messages[index].role == "user"]
    known = state.open if state else ()
    read = [*known]
    for number, (start, stop) in enumerate(pairwise(starts)):
        tokens = sum(map(case.tokens, range(start, stop)))
        if number == 0 and state is not None:
            near = state.continuity
            if near is None and len(starts) == 2:  # no decision depended on it yet
                near = _near(case, start, read, _cosine(case, 1))
            said = Topic(near, state.shift, state.domain)
        elif len(starts) - number <= MOST_READ:
            said = _topic(case, start, read, None)
        else:
            said = Topic(None, None, "")
        read.append(TurnDigest(case.chain[stop - 1], tokens, said.continuity, said.shift, said.domain, start))
    return History(
        preamble=preamble,
        preamble_tokens=preamble_tokens,
        before=(state.before if state else preamble_tokens) + sum(turn.tokens for turn in read[len(known) :]),
        turns=(state.turns if state else 1) + len(starts) - 1,
        open=tuple(read),
    )


def _cosine(case: Case, back: int) -> float | None:
    """Returns the cosine of a user message, counted back from the newest, with the one before it."""
    earlier = (case.state.vector,) if case.state is not None and case.state.vector is not None else ()
    known = () if case.vector is None else (case.vector, *(case.before or earlier))
    return float(np.dot(known[back], known[back + 1])) if len(known) > back + 1 and case.state is not None else None


def _near(case: Case, index: int, before: Sequence[TurnDigest], cosine: float | None) -> float | None:
    exchanges = _exchanges(case, index, before)
    message = without_ours(case.messages[index].text)
    return None if cosine is None or not exchanges else continuity(message, exchanges, cosine, case.embedding)


def _exchanges(case: Case, index: int, before: Sequence[TurnDigest]) -> list[TurnTexts]:
    starts = [*[turn.start for turn in before[-LOOKED_BACK:]], index]
    return [_exchange(case, start, stop) for start, stop in pairwise(starts)]


def _topic(case: Case, index: int, before: Sequence[TurnDigest], cosine: float | None) -> Topic:
    exchanges = _exchanges(case, index, before)
    since = next((age for age, turn in enumerate(reversed(before), 1) if turn.shift), len(before))
    message = without_ours(case.messages[index].text)
    # Without the cosine: the weights expect one with the previous answer included, which would have to be embedded
    # for it, and adds nothing.
    cause = shift(message, exchanges, since=since, near=None, numbers=case.profile.window)
    return Topic(_near(case, index, before, cosine), cause, domain(message))


def _exchange(case: Case, start: int, stop: int) -> TurnTexts:
    texts: dict[str, list[str]] = {"user": [], "assistant": []}
    for said in case.messages[start:stop]:
        if said.role in texts:
            texts[said.role].append(said.text)
    return TurnTexts(*map("\n".join, texts.values()))


def pack(state: PathState) -> bytes:
    """Encodes a state as bytes, for storage."""
    return bytes([VERSION]) + _encoder.encode(state)


def unpack(packed: bytes) -> PathState | None:
    """Decodes a state; None for other versions and for damaged bytes."""
    if not packed or packed[0] != VERSION:
        return None
    try:
        return _decoder.decode(packed[1:])
    except ValueError:
        return None


def _written(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.astype(np.float16).tobytes()
    raise NotImplementedError  # msgspec's sign for a type that the hook does not know


def _read_state(kind: type, value: Any) -> Any:
    if kind is np.ndarray or getattr(kind, "__origin__", None) is np.ndarray:
        return np.frombuffer(value, np.float16).astype(np.float32)
    raise NotImplementedError  # as above


_encoder = msgspec.msgpack.Encoder(enc_hook=_written)
_decoder = msgspec.msgpack.Decoder(PathState, dec_hook=_read_state)
