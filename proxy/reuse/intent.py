"""The answer to the same question in other words: looked for, kept, and taken back when it was wrong.

A candidate is an earlier question of the same partition that lies near. Its answer is given only if both ask the same
thing, word by word, in contexts that agree as well. Everything else is a miss, with its reason.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import msgspec

from proxy.config.reuse import IntentReuse
from proxy.embedding import Embedder, EmbeddingUnavailable
from proxy.embedding.exported import BUILTIN, source_of
from proxy.language.detect import language
from proxy.language.language import language_of
from proxy.protocol.answers import disclaimer_line, with_disclaimer
from proxy.reuse.cacheable import ASKED, bypass_reason, is_reusable
from proxy.reuse.judging import SECOND_THOUGHT, Reports, may_be_judged, overruled
from proxy.reuse.partitions import Partitions
from proxy.reuse.question import Conversation, analyse, conversation, entry_id, partition, warm
from proxy.reuse.standing import stands_alone
from proxy.reuse.verdict import Verdict, contexts_agree, judge
from proxy.storage.base import AnswerCache
from proxy.storage.reuse import ReuseStore
from proxy.storage.shared import SharedState
from proxy.tasks import Tasks
from proxy.tokens import TokenCounter
from proxy.types import (
    Asked,
    Candidate,
    ChatRequest,
    Directives,
    Exchange,
    Identity,
    Incoming,
    ReuseDecision,
    ReuseEntry,
    ReuseHit,
    ReuseMiss,
    StoredAnswer,
    Vector,
)

CANDIDATES = 5
# A longer question is answered from memory only if it is the same to the letter.
MOST_TOKENS = 200

BUILTIN_VERSION = source_of(BUILTIN).version

_object = msgspec.json.Decoder(dict[str, object])


@dataclass(frozen=True, slots=True)
class Found:
    """The decision about the candidates of a question."""

    candidate: Candidate
    verdict: Verdict


class Intent:
    """Reuse by intent, with what it needs: vectors, entries, answers, and what it has served lately."""

    def __init__(  # noqa: PLR0913 (built in one place, `proxy/services`)
        self,
        config: IntentReuse,
        *,
        embedder: Embedder,
        partitions: Partitions,
        store: ReuseStore,
        answers: AnswerCache,
        counter: TokenCounter,
        reported: Callable[[str], object],
        executor: Executor,
        shared: SharedState,
    ) -> None:
        self.config = config
        self.embedder = embedder
        self.partitions = partitions
        self._rates = shared.hit_rates
        self.reports = Reports(config, partitions, store, reported, shared.last_served)
        self._store = store
        self._answers = answers
        self._counter = counter
        self._executor = executor
        self._has_words = False

    # --- at start -----------------------------------------------------------------------------------------------------

    def start(self, tasks: Tasks) -> None:
        """Loads the word tables in the background. Until they are there, and the embedder is ready, every look-up is a
        miss."""
        if self.config.enabled:
            tasks.spawn(self._load_words(), name="load words")

    async def _load_words(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._executor, warm)
        self._has_words = True

    @property
    def state(self) -> str:
        """For `/readyz`."""
        if not self.config.enabled:
            return "off"
        if self.embedder.state == "ready":
            return "ready" if self._has_words else "warming"
        return f"failed: {self.embedder.detail}" if self.embedder.state == "failed" else self.embedder.state

    # --- before the upstream ------------------------------------------------------------------------------------------

    async def lookup(
        self,
        incoming: Incoming,
        request: ChatRequest,
        identity: Identity,
        directives: Directives,
        miss: ReuseMiss,
        upstream: str,
    ) -> ReuseHit | ReuseMiss:
        """A hit, or `miss` with the reason why there is no answer by intent either. `upstream`: who is asked, as part
        of the partition."""
        asked = self._asked(request, identity, directives, upstream)
        if isinstance(asked, str):
            return replace(miss, intent=asked)
        if not directives.lookup:
            return replace(miss, intent="refresh", asked=asked)
        try:
            return await self._look(incoming, request, identity, directives, asked, miss)
        except EmbeddingUnavailable:
            return replace(miss, intent="no_vector", asked=asked)

    def _asked(self, request: ChatRequest, identity: Identity, directives: Directives, upstream: str) -> Asked | str:
        """Returns the question; or the reason why this request has no part in reuse by intent, neither asking nor
        answering."""
        if self.state != "ready":
            return {"off": "disabled", "warming": "warming"}.get(self.state, "unavailable")
        if not directives.lookup and not directives.store:
            return "client_off"
        said = conversation(request, self.config.disclaimer.values())
        if not isinstance(said, Conversation):
            return said
        if (spoken := language(said.question)) is None:
            return "language"
        # Without the question's vector this is the lesser judge of what is asked for: see `_bypassed`.
        if (bypass := bypass_reason(request)) is not None and not (bypass in ASKED and self._has_builtin):
            return bypass
        # A session that the client names may have more to it than this request shows.
        is_followup = said.context or identity.session_source not in ("new", "chain")
        if is_followup and not stands_alone(said.question):
            return "leans_on_context"
        scope = identity.scope.id
        within = partition(scope, upstream, request, said, language=spoken, embedder=self.embedder.version)
        asked_id = entry_id(scope, within, said)
        return Asked(asked_id, within, spoken, said.question, said.context, said.follows_reuse)

    def _is_long(self, question: str) -> bool:
        # No text has more tokens than characters, hardly one fewer than an eighth.
        if len(question) <= MOST_TOKENS or len(question) > 8 * MOST_TOKENS:
            return len(question) > MOST_TOKENS
        return self._counter.text(question) > MOST_TOKENS

    async def _look(
        self,
        incoming: Incoming,
        request: ChatRequest,
        identity: Identity,
        directives: Directives,
        asked: Asked,
        miss: ReuseMiss,
    ) -> ReuseHit | ReuseMiss:
        scope, now = identity.scope.id, incoming.received_at
        if not identity.is_answered:
            return replace(miss, intent="absent", asked=asked)
        if (second_thought := await self.reports.second_thought(identity, asked, now)) is not None:
            return replace(miss, intent=second_thought, asked=asked)
        if self._rates.is_open(asked.partition, now):
            return replace(miss, intent="breaker", asked=asked)
        if not await self.partitions.holds_any(scope, asked.partition, now):
            return replace(miss, intent="absent", asked=asked)  # and no vector is needed before the answer
        vector = (await self.embedder.embed([asked.question]))[0]
        if (bypass := self._bypassed(request, vector)) is not None:
            return replace(miss, intent=bypass)
        asked = replace(asked, vector=vector)
        candidates = await self.partitions.nearest(
            scope, asked.partition, vector, CANDIDATES, self.config.min_cosine, now
        )
        if not candidates:
            return replace(miss, intent="far", asked=asked)
        found = self._judged(asked, candidates)
        result = self._objection(identity, asked, found, now) or found.verdict.reason
        doubt = self._doubt(asked, found, directives)
        hit = await self._hit(asked, scope, found.candidate, miss, now) if result == "hit" else None
        if result == "hit" and hit is None:
            result = "answer_gone"
        self._note(incoming, identity, asked, found, result)
        return replace(miss, intent=result, asked=asked, doubt=doubt) if hit is None else hit

    def _bypassed(self, request: ChatRequest, vector: Vector) -> str | None:
        """Why no answer to this may be reused or kept, after all. The judge of it was trained on the vectors of the
        built-in model; with those of another one, `_asked` has said all there is to say."""
        return bypass_reason(request, vector) if self._has_builtin else None

    @property
    def _has_builtin(self) -> bool:
        return self.embedder.version == BUILTIN_VERSION

    def _judged(self, asked: Asked, candidates: list[Candidate]) -> Found:
        """The first candidate that passes, or the nearest."""
        verdicts = [Found(candidate, self._verdict(asked, candidate)) for candidate in candidates]
        return next((found for found in verdicts if found.verdict.reused), verdicts[0])

    def _verdict(self, asked: Asked, candidate: Candidate) -> Verdict:
        entry, cosine = candidate.entry, candidate.cosine
        if entry.id == asked.entry_id and entry.question == asked.question:
            return Verdict(True, "hit", "")
        if cosine < entry.min_cosine:
            return Verdict(False, "reported", f"needs {entry.min_cosine:.3f}")
        if self._is_long(asked.question) or self._is_long(entry.question):
            return Verdict(False, "long", "")
        spoken = language_of(asked.language)
        questions = analyse(asked.question, spoken), analyse(entry.question, spoken)
        verdict = judge(*questions, cosine, min_cosine=self.config.min_cosine)
        if not verdict.reused and self.config.judge is not None:
            verdict = overruled(verdict, entry.judgement(asked.entry_id))
        if verdict.reused and not contexts_agree(asked.context, entry.context, spoken):
            return Verdict(False, "context", "")
        return verdict

    def _doubt(self, asked: Asked, found: Found, directives: Directives) -> Candidate | None:
        """The neighbour about which the judge may be asked. Whoever wants nothing stored has nothing told either."""
        candidate, config = found.candidate, self.config
        if (
            config.judge is None
            or not directives.store
            or not may_be_judged(asked, candidate, found.verdict.reason, config.judge.min_cosine)
            or not contexts_agree(asked.context, candidate.entry.context, language_of(asked.language))
        ):
            return None
        return candidate

    def _objection(self, identity: Identity, asked: Asked, found: Found, now: float) -> str | None:
        """A hit that the user would not want."""
        entry = found.candidate.entry
        soon = now - entry.created_at <= SECOND_THOUGHT
        if found.verdict.reused and identity.continuity == "regenerated" and entry.question == asked.question and soon:
            return "regenerated"  # whoever asks for another answer does not want the same one
        return None

    async def _hit(
        self, asked: Asked, scope: str, candidate: Candidate, miss: ReuseMiss, now: float
    ) -> ReuseHit | None:
        entry = candidate.entry
        answer = await self._answers.get(scope, entry.answer_key, now)
        if answer is None:
            self.partitions.evict(scope, entry, now)
            return None
        line = disclaimer_line(asked.language, self.config.disclaimer)
        disclaimed = replace(answer, completion=with_disclaimer(answer.completion, line))
        return ReuseHit("intent", entry.answer_key, disclaimed, miss.reason, entry.id, candidate.cosine)

    def _note(self, incoming: Incoming, identity: Identity, asked: Asked, found: Found, result: str) -> None:
        scope, now = identity.scope.id, incoming.received_at
        entry, cosine = found.candidate.entry, found.candidate.cosine
        is_hit = result == "hit"
        if is_hit:
            self.reports.served(identity, found.candidate, now)
        self._rates.note(asked.partition, asked.question, entry.id if is_hit else None, now)
        if self.config.log_rows:
            decision = ReuseDecision(
                request_id=incoming.request_id,
                at=now,
                result=result,
                entry_id=entry.id,
                cosine=round(cosine, 4),
                question=asked.question,
                earlier_question=entry.question,
                guards=found.verdict.detail,
            )
            self._store.log(scope, decision)

    # --- after the answer ---------------------------------------------------------------------------------------------

    async def remember(self, exchange: Exchange, asked: Asked, answer: StoredAnswer, key: str | None) -> None:
        """Keeps the answer for the next one who asks. `key`: where it is kept already."""
        if not is_reusable(_object.decode(answer.completion)):
            return
        vector = asked.vector
        if vector is None:
            vector = (await self.embedder.embed([asked.question]))[0]
            if self._bypassed(exchange.request, vector) is not None:
                return
        scope = exchange.identity.scope.id
        if key is None:
            key = f"intent-{asked.entry_id}"
            await self._answers.put(scope, key, answer, self.config.ttl)
        entry = ReuseEntry(
            id=asked.entry_id,
            partition=asked.partition,
            question=asked.question,
            context=asked.context,
            answer_key=key,
            created_at=answer.created_at,
            expires_at=answer.created_at + self.config.ttl,
        )
        self.partitions.add(scope, entry, vector)
