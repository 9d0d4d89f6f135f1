"""Conversations told request by request, each planned from the state that an earlier one left, as the library finds
it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from proxy.config.builtin_profiles import BUILT_IN
from proxy.config.profiles import Profile
from proxy.context import planning, shortening
from proxy.context.caching import Caching
from proxy.context.draft import Memory, PlanContext
from proxy.context.economics import Rates
from proxy.conversation.progress import Case, Progress, pack, progress, unpack
from proxy.memory.ageing import Decay
from proxy.memory.states import STEPS_BACK
from proxy.protocol.chains import chain_of
from proxy.tokens import Counter
from proxy.types import Excerpt, Fact, Fates, Message, PathState, Plan, Summary, Vector
from proxy.types.curation import StoredSummary
from tests.builders import NOW, Said, assistant, messages, system, user

OVERHEAD = 3
WARM = Rates(cached=0.25, write=1.0)
COLD = Rates(cached=1.0, write=1.0)
LEAN = BUILT_IN["lean"]
ROLES: tuple[Literal["user", "system"], ...] = ("user", "system")  # of the message that carries the head


class Characters(Counter):
    """Four characters a token: what a text costs can be read off the test."""

    def text(self, text: str) -> int:
        return -(-len(text) // 4)


counter = Characters()


def profile(base: Profile = LEAN, **changes: Any) -> Profile:
    """A built-in profile with some of its numbers changed, those of a part of it given as a mapping."""
    parts = {name: replace(getattr(base, name), **given) for name, given in changes.items() if isinstance(given, dict)}
    return replace(base, **{**changes, **parts})


def words(tokens: int, about: str = "tea") -> str:
    """A text of this many tokens."""
    return (f"{about} " * tokens)[: 4 * tokens - 1] + "."


def exchange(number: int, tokens: int = 100) -> tuple[Said, Said]:
    """A turn of about this many tokens, question and answer half each; of more than a few it has something to note."""
    asked = f"What green tea is sold in shop {number}? " if tokens >= 40 else f"{number}? "
    rest = words(tokens // 2 - (8 if tokens >= 40 else 0))
    return user(asked + rest), assistant(f"{number}: " + words(tokens // 2))


def fact(value: str, *links: bytes, name: str = "f-1", session: str = "s") -> Fact:
    return Fact(name, "preferences", name, value, "high", "explicit", session, 1, NOW, NOW, pinned=True, links=links)


def excerpt(link: bytes, said: str, *, role: Literal["user", "assistant"] = "user", session: str = "s") -> Excerpt:
    return Excerpt(link, role, said, 1, session, NOW, 1.0, counter.text(said) + 8)


def case(
    said: Sequence[Message],
    *,
    profile: Profile = LEAN,
    state: PathState | None = None,
    vector: Vector | None = None,
    was_seen: bool = False,
) -> Case:
    return Case(
        messages=said,
        chain=chain_of("s", said),
        tokens=lambda index: counter.message(said[index]),
        overhead=OVERHEAD,
        profile=profile,
        state=state,
        vector=vector,
        was_seen=was_seen,
    )


def where(preamble: int, start: int, newest: int, *, volatile: str = "", instructions: tuple[int, ...] = ()) -> Fates:
    """The messages that are sent, as a plan decides them."""
    return Fates(preamble, start, start, newest, instructions=instructions, volatile=volatile)


def context(
    of: Case,
    *,
    limit: int | None = None,
    rates: Rates = WARM,
    role: Literal["user", "system"] = "user",
    now: float = NOW,
    session: str = "s",
    is_private: bool = True,
    caching: Caching | None = None,
    may_exceed: bool = False,
    most: int | None = None,
) -> PlanContext:
    def cap(index: int) -> Message:
        return shortening.cap_message(of.messages[index], of.profile.window.answer_tokens, counter.text)

    caching = caching or Caching(rates, rates)
    return PlanContext(
        now,
        session,
        is_private,
        caching,
        limit,
        role,
        counter.text,
        cap,
        Decay(),
        may_exceed=may_exceed,
        most=most,
    )


@dataclass(frozen=True, slots=True)
class Told:
    """A request that was planned."""

    case: Case
    progress: Progress
    memory: Memory
    context: PlanContext
    managed: Plan

    @property
    def state(self) -> PathState:
        assert self.managed.state is not None
        return self.managed.state

    @property
    def sent(self) -> tuple[Message, ...]:
        """What went upstream."""
        return tuple(self.case.messages) if self.managed.messages is None else self.managed.messages

    @property
    def before_newest(self) -> tuple[Message, ...]:
        """Of what went upstream."""
        return self.sent[: len(self.sent) - (len(self.case.messages) - self.progress.newest)]

    @property
    def tokens(self) -> int:
        """Of what went upstream, counted."""
        return OVERHEAD + sum(map(counter.message, self.sent))

    def planned_again(self) -> Plan:
        return planning.make(self.case, self.progress, self.memory, self.context)

    def planned_from_storage(self) -> Plan:
        """The same from a state that was written and read."""
        state = self.case.state and unpack(pack(self.case.state))
        again = replace(self.case, state=state)
        so_far = progress(again)
        assert so_far is not None
        return planning.make(again, so_far, self.memory, self.context)


class Teller:
    """Keeps the states."""

    def __init__(self, **circumstances: Any) -> None:
        self.states: dict[bytes, PathState] = {}
        self.seen: set[bytes] = set()
        self.circumstances = circumstances  # of every request that names none of its own

    def ask(
        self,
        *said: Said,
        profile: Profile = LEAN,
        memory: Callable[[Case], Memory] | Memory | None = None,
        vector: Vector | None = None,
        **circumstances: Any,
    ) -> Told:
        given = messages(*said)
        chain = chain_of("s", given)
        lengths = range(len(chain) - 1, max(0, len(chain) - 1 - STEPS_BACK), -1)
        state = next((found for length in lengths if (found := self.states.get(chain[length - 1]))), None)
        asked = case(given, profile=profile, state=state, vector=vector, was_seen=not self.seen.isdisjoint(chain))
        so_far = progress(asked)
        assert so_far is not None
        circles = context(asked, **{**self.circumstances, **circumstances})
        known = memory(asked) if callable(memory) else memory or Memory()
        if state is not None and state.volatile_link == chain[so_far.newest]:
            # In mid-turn nothing more is looked up.
            known = Memory(known.standing, facts=known.facts, forgotten=known.forgotten, summaries=known.summaries)
        managed = planning.make(asked, so_far, known, circles)
        self.seen.update(chain[so_far.preamble :])
        told = Told(asked, so_far, known, circles, managed)
        self.states[chain[-1]] = told.state
        return told

    def tell(self, *said: Said, **given: Any) -> list[Told]:
        """Every request that has led here: one for each answer, and the last."""
        stops = [index for index, each in enumerate(said) if each["role"] == "assistant"]
        return [self.ask(*said[:stop], **given) for stop in (*stops, len(said)) if stop]


def by_model(of: Case, first: int, last: int, **fields: Any) -> StoredSummary:
    """A model's summary of these turns of a conversation, numbered from 1."""
    stops = [*(at for at, said in enumerate(of.messages) if said.role == "user"), len(of.messages)]
    said = Summary("", (), "", (), (), first, last)
    said = replace(said, topic=f"tea of turns {first} to {last}") if not fields else replace(said, **fields)
    return StoredSummary(of.chain[stops[last] - 1], "s", NOW, said)


def recalling(
    of: Case, *, only: Callable[[int], bool] = lambda _index: True
) -> Callable[[int, int], tuple[Excerpt, ...]]:
    """Recalls the oldest messages first, as many as there is room for."""

    def recall(tokens: int, start: int) -> tuple[Excerpt, ...]:
        found: list[Excerpt] = []
        for index, said in enumerate(of.messages[:start]):
            if said.role not in ("user", "assistant") or not only(index) or not (told := said.text[:400]).strip():
                continue
            each = excerpt(of.chain[index], told, role="user" if said.role == "user" else "assistant")
            if each.tokens <= tokens:
                found.append(each)
                tokens -= each.tokens
        return tuple(found)

    return recall


# --- conversations, and what is remembered in them ------------------------------------------------------------------

S = system("Be brief.")
ELSEWHERE = fact("drinks tea without sugar", b"e" * 16, session="another")


def history(turns: int, tokens: int = 100) -> list[Said]:
    return [S, *(each for number in range(turns) for each in exchange(number, tokens))]


def asking(of: Case, relevant: tuple[Fact, ...] = ()) -> Memory:
    return Memory(relevant=relevant, wanted=600, is_asked_for=True, recall=recalling(of))
