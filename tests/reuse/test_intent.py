"""What is looked for by its meaning, when the answer to another question is given, and how a wrong one is taken back.

The vectors here are chosen by the tests, so that a cosine is what a test says it is; the real model is used end to end.
"""

from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
import pytest

from proxy.config.reuse import IntentReuse
from proxy.embedding import EmbeddingUnavailable, State, Vectors
from proxy.observe.metrics import Metrics
from proxy.reuse.intent import Intent
from proxy.reuse.judging import SECOND_THOUGHT
from proxy.reuse.partitions import Partitions
from proxy.storage.answers import MemoryAnswers
from proxy.storage.shared import SharedState
from proxy.storage.shared.learnt import ANOMALOUS
from proxy.storage.shared.local import local_state
from proxy.storage.sqlite.reuse import SqliteReuse
from proxy.tasks import Tasks
from proxy.types import (
    ChatRequest,
    Continuity,
    Directives,
    Exchange,
    Identity,
    Plan,
    PromptTokens,
    ReuseHit,
    ReuseMiss,
    SessionSource,
)
from tests import stores
from tests.builders import NOW, assistant, chat, completion, counter, identity, incoming, stored, system, user

ASKED = "How do I descale a coffee machine?"
AGAIN = "Please tell me how to descale a coffee machine."
OTHER = "How do I descale a coffee machine without vinegar?"
NOT_EXACT = ReuseMiss("not_deterministic")
ES, EN = IntentReuse().disclaimer["es"], IntentReuse().disclaimer["en"]


@dataclass
class Vectors2:
    """An embedder of two dimensions: a text lies at the angle whose cosine with `ASKED` it is given, 0.97 if none."""

    cosines: dict[str, float] = field(default_factory=dict)
    version: str = "two"
    state: State = "ready"
    detail: str = ""
    runs: int = 0

    def start(self) -> None: ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.runs += 1
        if self.state != "ready":
            raise EmbeddingUnavailable("not now")
        cosines = [self.cosines.get(text, 1.0 if text == ASKED else 0.97) for text in texts]
        return np.array([(cosine, np.sqrt(1 - cosine**2)) for cosine in cosines], np.float32)

    def forget(self) -> None:
        return None

    async def close(self) -> None: ...


@dataclass
class House:
    config: IntentReuse = field(default_factory=IntentReuse)
    embedder: Vectors2 = field(default_factory=Vectors2)
    store: SqliteReuse = field(default_factory=stores.reuse)
    answers: MemoryAnswers = field(default_factory=MemoryAnswers)
    metrics: Metrics = field(default_factory=Metrics)
    tasks: Tasks = field(default_factory=Tasks)
    executor: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    now: float = NOW
    shared: SharedState = field(default_factory=local_state)
    _intent: Intent | None = None

    @property
    def intent(self) -> Intent:
        if self._intent is None:
            self._intent = Intent(
                self.config,
                embedder=self.embedder,
                partitions=Partitions(self.store, self.executor),
                store=self.store,
                answers=self.answers,
                counter=counter(),
                reported=lambda reason: self.metrics.of(self.metrics.reuse_reports, reason).inc(),
                executor=self.executor,
                shared=self.shared,
            )
            self._intent.start(self.tasks)
        return self._intent

    async def ask(
        self,
        request: ChatRequest | str,
        *,
        who: Identity | None = None,
        directives: Directives = Directives(),  # noqa: B008 (frozen)
        miss: ReuseMiss = NOT_EXACT,
        upstream: str = "up",
    ) -> ReuseHit | ReuseMiss:
        request = chat(user(request)) if isinstance(request, str) else request
        intent = self.intent
        await self.tasks.drain(30.0)
        who = who or opening(request)
        return await intent.lookup(incoming(at=self.now), request, who, directives, miss, upstream)

    async def answered(self, request: ChatRequest | str, text: str = "hello", **how: Any) -> ReuseMiss:
        """Asks, misses, and keeps the upstream's answer."""
        missed = await self.ask(request, **how)
        assert isinstance(missed, ReuseMiss)
        assert missed.asked is not None, missed
        request = chat(user(request)) if isinstance(request, str) else request
        answer = stored(completion(text), at=self.now)
        await self.intent.remember(passing(request, how.get("who")), missed.asked, answer, missed.key)
        return missed


def opening(
    request: ChatRequest,
    *,
    session: str = "s",
    person: str = "",
    source: SessionSource = "new",
    continuity: Continuity = "new",
) -> Identity:
    known = identity(request, person=person, session=session)
    return replace(known, session_source=source, continuity=continuity)


def passing(request: ChatRequest, who: Identity | None = None) -> Exchange:
    plan = Plan("untouched", PromptTokens(1, 1))
    return Exchange(incoming(), request, who or opening(request), Directives(), NOT_EXACT, plan, "up", started=0.0)


@pytest.fixture
async def house() -> AsyncIterator[House]:
    opened = House()
    yield opened
    opened.executor.shutdown()


def reason(result: ReuseHit | ReuseMiss) -> str:
    return "hit" if isinstance(result, ReuseHit) else result.intent


def said(hit: ReuseHit | ReuseMiss) -> str:
    assert isinstance(hit, ReuseHit), hit
    content = msgspec.json.decode(hit.answer.completion)["choices"][0]["message"]["content"]
    assert isinstance(content, str)
    return content


# --- the same question ----------------------------------------------------------------------------------------------


@pytest.mark.note("5.4/2")
async def test_the_same_question_in_other_words_gets_the_answer_with_the_systems_line(house: House) -> None:
    await house.answered(ASKED, "With vinegar.")
    hit = await house.ask(AGAIN)
    assert said(hit) == f"{EN}\n\nWith vinegar."
    assert isinstance(hit, ReuseHit)
    assert (hit.source, hit.missed, round(hit.cosine, 2)) == ("intent", "not_deterministic", 0.97)
    assert hit.entry_id.startswith("r-")


@pytest.mark.note("7 SÍ/8")
async def test_the_line_is_in_the_language_of_the_question(house: House) -> None:
    await house.answered("¿Cómo limpio una cafetera?", "Con vinagre.")
    assert said(await house.ask("Hola, ¿me podés decir cómo limpio una cafetera? Gracias.")).startswith(f"{ES}\n\n")


async def test_the_log_and_the_entry_tell_of_it(house: House) -> None:
    await house.answered(ASKED)
    hit = await house.ask(AGAIN)
    assert isinstance(hit, ReuseHit)
    await house.ask(OTHER)
    refused, served = await house.store.recent(opening(chat()).scope.id)
    assert (served.result, served.question, served.earlier_question) == ("hit", AGAIN, ASKED)
    assert (refused.result, refused.entry_id) == ("operators", hit.entry_id)
    assert refused.guards
    entry = await house.store.get(opening(chat()).scope.id, hit.entry_id)
    assert entry is not None
    assert entry.served == 1


@pytest.mark.parametrize(
    ("question", "cosine", "why"),
    [
        (OTHER, 0.97, "operators"),
        ("How do I descale a Nespresso machine?", 0.97, "wording"),
        ("How do I not descale a coffee machine?", 0.99, "operators"),
        (AGAIN, 0.45, "hit"),  # every word agrees: the cosine says little more
        (AGAIN, 0.3, "far"),
    ],
)
async def test_another_question_gets_no_answer_however_near_it_lies(
    question: str, cosine: float, why: str, house: House
) -> None:
    house.embedder.cosines[question] = cosine
    await house.answered(ASKED)
    assert reason(await house.ask(question)) == why


async def test_a_farther_candidate_that_passes_is_better_than_a_nearer_one_that_does_not(house: House) -> None:
    house.embedder.cosines |= {OTHER: 0.99, AGAIN: 0.985, ASKED: 0.9}
    await house.answered(OTHER, "other")
    await house.answered(ASKED, "machine")
    assert said(await house.ask(AGAIN)).endswith("machine")


async def test_no_vector_is_made_before_there_is_something_to_compare_with(house: House) -> None:
    missed = await house.ask(ASKED)
    assert (reason(missed), house.embedder.runs) == ("absent", 0)


# --- what takes no part ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (chat(user(ASKED), tools=[{"type": "function", "function": {"name": "get_x"}}]), "tools"),
        (chat(user(ASKED), response_format={"type": "json_object"}), "json_mode"),
        (chat(user(ASKED), n=2), "n_gt_1"),
        (chat(user("What's the weather like today?")), "time_dependent"),
        (chat(user("Comment puis-je détartrer une machine à café ?")), "language"),
        (chat(user(ASKED), assistant("With vinegar."), user("Why?")), "leans_on_context"),
        (chat(user(ASKED), logprobs=True), "logprobs"),
    ],
)
async def test_such_requests_neither_ask_nor_answer(request_: ChatRequest, why: str, house: House) -> None:
    missed = await house.ask(request_)
    assert isinstance(missed, ReuseMiss)
    assert (missed.intent, missed.asked) == (why, None)


async def test_in_a_session_that_the_client_names_a_question_must_stand_alone(house: House) -> None:
    request = chat(user("Why?"))
    assert reason(await house.ask(request, who=opening(request, source="header"))) == "leans_on_context"
    assert reason(await house.ask(request)) == "absent"


@pytest.mark.parametrize(
    ("directives", "why", "kept"),
    [
        (Directives(lookup=False, store=False), "client_off", False),
        (Directives(lookup=False), "refresh", True),
    ],
)
async def test_a_client_may_decline(directives: Directives, why: str, kept: bool, house: House) -> None:
    await house.answered(ASKED)
    missed = await house.ask(AGAIN, directives=directives)
    assert isinstance(missed, ReuseMiss)
    assert (missed.intent, missed.asked is not None) == (why, kept)


async def test_until_the_model_has_loaded_everything_misses(house: House) -> None:
    house.embedder.state = "warming"
    missed = await house.ask(ASKED)
    assert (reason(missed), house.intent.state) == ("warming", "warming")


async def test_switched_off_it_does_not_load_anything(house: House) -> None:
    house.config = IntentReuse(enabled=False)
    assert reason(await house.ask(ASKED)) == "disabled"
    assert house.intent.state == "off"


async def test_when_a_vector_fails_the_answer_is_kept_all_the_same(house: House) -> None:
    await house.answered(ASKED)

    async def refuse(texts: Sequence[str]) -> Vectors:
        raise EmbeddingUnavailable("overloaded")

    embed, house.embedder.embed = house.embedder.embed, refuse  # type: ignore[method-assign]  # it fails from here on
    missed = await house.ask("What is a black hole?")
    assert isinstance(missed, ReuseMiss)
    assert missed.intent == "no_vector"
    assert missed.asked is not None
    house.embedder.embed = embed  # type: ignore[method-assign]  # and works again
    await house.intent.remember(passing(chat(user(missed.asked.question))), missed.asked, stored(), None)
    assert house.intent.partitions.entries == 2


# --- walls ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "how"),
    [
        (chat(user(AGAIN)), {"who": opening(chat(user(AGAIN)), person="someone else")}),
        (chat(user(AGAIN)), {"upstream": "other"}),
        (chat(user(AGAIN), model="other"), {}),
        (chat(system("You are a pirate."), user(AGAIN)), {}),
        (chat(user(AGAIN), temperature=2), {}),
        (chat(user(AGAIN), max_tokens=5), {}),
        (chat(user("¿Cómo descalcifico una cafetera?")), {}),
    ],
)
async def test_an_answer_stays_where_it_was_given(request_: ChatRequest, how: dict[str, Any], house: House) -> None:
    await house.answered(ASKED)
    assert reason(await house.ask(request_, **how)) == "absent"


async def test_for_whom_no_upstream_has_answered_nothing_is_made(house: House) -> None:
    request = chat(user("What is the capital of France?"))
    for number in range(10):
        result = await house.ask(request, who=replace(opening(request, person=f"p{number}"), is_answered=False))
        assert reason(result) == "absent"
    assert house.intent.partitions.partitions == 0


async def test_vectors_of_another_model_are_not_compared(house: House) -> None:
    await house.answered(ASKED)
    house.embedder.version = "three"
    assert reason(await house.ask(AGAIN)) == "absent"


# --- longer conversations -------------------------------------------------------------------------------------------

STANDING = "How can I descale a coffee machine?"
BEFORE = "What is a coffee machine made of?"


async def test_a_question_that_stands_alone_is_answered_in_an_agreeing_context(house: House) -> None:
    await house.answered(chat(user(BEFORE), assistant("Three."), user(ASKED)), "With vinegar.")
    reused = assistant(f"{EN}\n\nThree.")  # the earlier answer may itself have been reused
    hit = await house.ask(chat(user(f"Hello! {BEFORE}"), reused, user(STANDING)))
    assert said(hit) == f"{EN}\n\nWith vinegar."


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ((user("What is a kettle made of?"), assistant("Three."), user(STANDING)), "context"),
        ((user(BEFORE), assistant("Four."), user(STANDING)), "absent"),
        ((user(AGAIN),), "absent"),
    ],
)
async def test_in_any_other_context_it_is_not(messages: Sequence[Any], why: str, house: House) -> None:
    await house.answered(chat(user(BEFORE), assistant("Three."), user(ASKED)))
    assert reason(await house.ask(chat(*messages))) == why


# --- long questions -------------------------------------------------------------------------------------------------


async def test_a_long_question_is_answered_only_to_the_letter(house: House) -> None:
    story = "A coffee machine has a tank, a pump, a heater and a filter, which are made of plastic and steel. " * 12
    await house.answered(story + ASKED)
    assert reason(await house.ask(story + AGAIN)) == "long"
    assert reason(await house.ask(story + ASKED)) == "hit"


# --- when it was wrong ----------------------------------------------------------------------------------------------


async def test_an_answer_reported_as_wrong_is_gone_and_comes_back_only_for_its_own_question(house: House) -> None:
    await house.answered(ASKED)
    hit = await house.ask(AGAIN)
    assert isinstance(hit, ReuseHit)
    ended = await house.intent.reports.wrong(hit.entry_id, NOW)
    assert ended is not None
    assert ended.is_evicted
    house.now += 1
    assert reason(await house.ask(AGAIN)) != "hit"
    await house.answered(ASKED)
    assert reason(await house.ask(AGAIN)) == "reported"
    house.now += SECOND_THOUGHT + 1
    assert reason(await house.ask(ASKED)) == "hit"


async def test_who_reports_an_unknown_answer_is_told(house: House) -> None:
    assert await house.intent.reports.wrong("r-0000000000000000", NOW) is None


async def test_asking_again_in_the_same_conversation_counts_against_the_answer(house: House) -> None:
    await house.answered(ASKED, "With vinegar.")
    hit = await house.ask(AGAIN)
    rephrased = chat(user(AGAIN), assistant(said(hit)), user(STANDING))
    assert reason(await house.ask(rephrased)) == "rephrased"
    assert isinstance(hit, ReuseHit)
    entry = await house.store.get(opening(chat()).scope.id, hit.entry_id)
    assert entry is not None
    assert (entry.strikes, entry.is_evicted) == (1, False)
    assert reason(await house.ask(AGAIN)) == "reported"


async def test_a_next_question_does_not(house: House) -> None:
    house.embedder.cosines["What is a black hole?"] = 0.1
    await house.answered(ASKED)
    hit = await house.ask(AGAIN)
    await house.ask(chat(user(AGAIN), assistant(said(hit)), user("What is a black hole?")))
    assert reason(await house.ask(AGAIN)) == "hit"


async def test_who_has_the_answer_made_anew_gets_a_new_one(house: House) -> None:
    await house.answered(ASKED)
    request = chat(user(ASKED))
    again = opening(request, continuity="regenerated", source="chain")
    assert reason(await house.ask(request, who=again)) == "regenerated"
    house.now += SECOND_THOUGHT + 1
    assert reason(await house.ask(request, who=again)) == "hit"  # that was another day
    assert reason(await house.ask(request, who=again)) == "regenerated"  # and this a second thought


async def test_an_answer_that_has_expired_meanwhile_is_a_miss(house: House) -> None:
    missed = await house.answered(ASKED)
    assert missed.asked is not None
    await house.answers.delete(opening(chat()).scope.id, f"intent-{missed.asked.entry_id}")
    assert reason(await house.ask(AGAIN)) == "answer_gone"
    assert reason(await house.ask(AGAIN)) == "absent"


async def test_one_answer_to_everything_stops_the_partition(house: House) -> None:
    await house.answered(ASKED)
    greetings = ["Hi", "Hello", "Good morning", "Good evening", "Hey", "Please", "Thanks in advance", "Sorry", "Okay"]
    asked = [f"{first}. {second}. {ASKED}" for first in greetings for second in greetings]
    reasons = [reason(await house.ask(question, who=opening(chat(), session=question))) for question in asked[:40]]
    assert reasons[:ANOMALOUS] == ["hit"] * ANOMALOUS
    assert set(reasons[ANOMALOUS:]) == {"breaker"}
    assert house.shared.hit_rates.open_partitions(NOW) == 1


# --- what is kept ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        completion("cut off", finish_reason="length"),
        completion(None, tool_calls=[{"id": "1"}]),
        completion("no", refusal="I can't help with that."),
        completion(" "),
    ],
)
async def test_only_whole_texts_are_kept(answer: dict[str, Any], house: House) -> None:
    missed = await house.ask(ASKED)
    assert isinstance(missed, ReuseMiss)
    assert missed.asked is not None
    await house.intent.remember(passing(chat(user(missed.asked.question))), missed.asked, stored(answer), None)
    assert house.intent.partitions.entries == 0


async def test_an_answer_that_is_kept_for_identical_requests_is_not_kept_twice(house: House) -> None:
    missed = await house.ask(ASKED, miss=ReuseMiss("absent", "exact-key"))
    assert isinstance(missed, ReuseMiss)
    assert missed.asked is not None
    scope = opening(chat()).scope.id
    await house.answers.put(scope, "exact-key", stored(), 60.0)
    await house.intent.remember(passing(chat(user(missed.asked.question))), missed.asked, stored(), missed.key)
    hit = await house.ask(AGAIN)
    assert isinstance(hit, ReuseHit)
    assert hit.key == "exact-key"
