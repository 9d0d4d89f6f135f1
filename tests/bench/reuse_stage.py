"""The intent stage as the product composes it, with the real embedding model, in this process: what is asked is
remembered, and what is asked next is looked up."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count

import msgspec

from proxy.config.reuse import IntentReuse
from proxy.embedding.service import open_embedder
from proxy.language.language import language_of
from proxy.protocol.chains import chain_of
from proxy.reuse.cacheable import bypass_reason
from proxy.reuse.intent import Intent
from proxy.reuse.partitions import Partitions
from proxy.reuse.question import Question, analyse, warm
from proxy.reuse.verdict import Verdict, judge
from proxy.storage.answers import MemoryAnswers
from proxy.storage.shared.local import local_state
from proxy.tasks import Tasks
from proxy.types import ChatRequest, Directives, Exchange, Identity, Plan, PromptTokens, ReuseHit, ReuseMiss, Scope
from tests import stores
from tests.bench.reuse_data import Pair, Said
from tests.builders import NOW, chat, completion, config, counter, incoming, stored
from tests.servers import eventually

# Every pair has a scope of its own, and the store in memory looks through all of them for each: keep it small.
MOST_ENTRIES = 512
MOST_PAIRS = 1_000_000
EXPORT_SECONDS = 120.0
CHUNK = 128  # pairs whose texts are embedded beforehand: fewer than the embedder remembers


@dataclass(frozen=True, slots=True)
class Asking:
    """`session`: one that the client names."""

    request: ChatRequest
    scope: Scope
    session: str = ""
    addressee: str = "up?"


class Decision(msgspec.Struct, frozen=True):
    """What became of the second question of a pair, right after the first was answered."""

    pair: Pair
    result: str  # "hit", or why not
    gate: str  # what stopped one of them before they were compared, "" if nothing did
    kept: bool  # the first one's answer was remembered
    cosine: float
    cpu: float  # ms of the look-up, the embedding not counted

    @property
    def hit(self) -> bool:
        return self.result == "hit"


class Stage:
    def __init__(self, intent: Intent) -> None:
        self.intent = intent
        self._numbers = count(1)

    def scope(self) -> Scope:
        """One that nobody has asked in."""
        return Scope(f"{next(self._numbers):032x}")

    async def ask(self, asking: Asking, *, lookup: bool = True) -> ReuseHit | ReuseMiss:
        """In a conversation of its own, unless a session is named."""
        number = next(self._numbers)
        chain = chain_of(asking.scope.id, asking.request.messages)
        identity = Identity(asking.scope, asking.session or f"c-{number}", "header" if asking.session else "new", chain)
        return await self.intent.lookup(
            incoming(request_id=f"req_{number}"),
            asking.request,
            identity,
            Directives(lookup=lookup),
            ReuseMiss("not_deterministic"),
            asking.addressee,
        )

    async def learn(self, asking: Asking) -> ReuseMiss:
        """Asked, answered by the upstream and remembered, if it may be."""
        found = await self.ask(asking, lookup=False)
        assert isinstance(found, ReuseMiss)
        if found.asked is not None:
            chain = chain_of(asking.scope.id, asking.request.messages)
            answer = stored(completion(f"the answer to {found.asked.question}"), at=NOW)
            identity = Identity(asking.scope, "s", "new", chain)
            plan = Plan("untouched", PromptTokens(1, 1))
            exchange = Exchange(incoming(), asking.request, identity, Directives(), found, plan, "up", started=0.0)
            before = self.intent.partitions.entries
            await self.intent.remember(exchange, found.asked, answer, None)
            if self.intent.partitions.entries == before:  # its vector told that it must not be kept
                vector = (await self.intent.embedder.embed([found.asked.question]))[0]
                return replace(found, intent=bypass_reason(asking.request, vector) or "not_kept", asked=None)
        return found

    async def decide(self, pairs: Sequence[Pair]) -> list[Decision]:
        """The embedder has nothing to do while a decision is timed: it was given the texts of many before."""
        decisions: list[Decision] = []
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            texts = list(dict.fromkeys(text for pair in chunk for text in (pair.a, pair.b)))
            vector_of = dict(zip(texts, await self.intent.embedder.embed(texts), strict=True))
            decisions += [await self._decided(pair, float(vector_of[pair.a] @ vector_of[pair.b])) for pair in chunk]
        return decisions

    async def _decided(self, pair: Pair, cosine: float) -> Decision:
        scope = self.scope()
        learned = await self.learn(Asking(asking_of(pair.a), scope))
        request = asking_of(pair.b)
        started = time.thread_time()
        found = await self.ask(Asking(request, scope))
        cpu = (time.thread_time() - started) * 1e3
        kept = learned.asked is not None
        result = "hit" if isinstance(found, ReuseHit) else found.intent
        stopped = not kept or (isinstance(found, ReuseMiss) and found.asked is None)
        gate = (result if kept else learned.intent) if stopped else ""
        return Decision(pair, gate or result, gate, kept, cosine, cpu)


@asynccontextmanager
async def open_stage() -> AsyncIterator[Stage]:
    """With the product's defaults. The model's export is kept in the user's cache, where it is made the first time."""
    settings = config(storage={"kind": "memory"})
    tasks, store = Tasks(), stores.reuse()
    with ThreadPoolExecutor(1) as executor:
        intent = Intent(
            settings.reuse.intent,
            embedder=open_embedder(settings),
            partitions=Partitions(store, executor, max_partitions=MOST_PAIRS),
            store=store,
            answers=MemoryAnswers(),
            counter=counter(),
            reported=lambda _reason: None,
            executor=executor,
            shared=local_state(),
        )
        intent.embedder.start()
        intent.start(tasks)
        try:
            await asyncio.to_thread(eventually, lambda: intent.state != "warming", EXPORT_SECONDS)
            assert intent.state == "ready", intent.state
            yield Stage(intent)
        finally:
            await tasks.drain(5.0)
            await intent.embedder.close()


def asking_of(question: str, history: Iterable[Said] = (), **fields: object) -> ChatRequest:
    said = [*history, Said("user", question)]
    return chat(*({"role": each.role, "content": each.content} for each in said), **fields)


def _judged(asked: Question, earlier: Question, settings: IntentReuse) -> Verdict:
    return judge(asked, earlier, 1.0, min_cosine=settings.min_cosine)


def comparison_times(pairs: Sequence[Pair], settings: IntentReuse) -> tuple[list[float], list[float]]:
    """ms of CPU for each pair, whatever the cosine: with both questions read for the first time, and
    compared once more. Call it before anything else has read them."""
    warm()
    cold, again = [], []
    for pair in pairs:
        started = time.thread_time()
        asked, earlier = analyse(pair.b, language_of(pair.lang)), analyse(pair.a, language_of(pair.lang))
        _judged(asked, earlier, settings)
        between = time.thread_time()
        _judged(asked, earlier, settings)
        again.append((time.thread_time() - between) * 1e3)
        cold.append((between - started) * 1e3)
    return cold, again
