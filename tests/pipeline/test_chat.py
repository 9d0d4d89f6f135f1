"""The way of a request, whole: untouched to the byte, the same every time, walled by scope, and past whatever fails."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.demo.app import CHAT_MODELS
from proxy.embedding import EmbeddingUnavailable
from proxy.embedding.service import EngineEmbedder
from proxy.errors import BadRequest, UnknownModel
from proxy.memory.library import Library
from proxy.observe.metrics import Metrics
from proxy.pipeline import Services
from proxy.services import build
from proxy.storage.answers import MemoryAnswers
from proxy.storage.base import KnownPrefix
from proxy.storage.recollection import ArchiveChanges
from proxy.storage.shared.local import local_state
from proxy.tasks import Tasks
from proxy.upstream.client import Router
from proxy.upstream.client import Upstream as Client
from tests import stores
from tests.builders import assistant, body, encoding, user
from tests.embedding.engines import FakeEngine, until
from tests.examples import examples
from tests.proxied import (
    Answers,
    Archive,
    Embedder,
    Facts,
    Ledger,
    Sessions,
    States,
    Tokens,
    Upstream,
    Work,
    ask,
    composed,
    gives,
    hangs,
    in_front_of,
    raises,
    run_upstream,
    serving,
    total,
)

T = TypeVar("T")

OVER_SOCKETS = settings(max_examples=examples(40))


@pytest.fixture(scope="module")
def running() -> Iterator[Upstream]:
    """It takes messages in any order: what it thinks of them is not what is tested."""
    with run_upstream(strict=False) as upstream:
        yield upstream


@pytest.fixture
def upstream(running: Upstream) -> Upstream:
    """With nothing recorded yet."""
    running.bodies()
    return running


@dataclass(frozen=True, slots=True)
class House:
    """One loop for all examples of a property, where each gets a proxy that knows nothing yet."""

    runner: asyncio.Runner
    upstream: Upstream
    built: Services

    def run(self, play: Callable[[Services], Coroutine[Any, Any, T]]) -> T:
        parts = {"sessions": stores.sessions(), "ledger": stores.ledger(), "answers": MemoryAnswers()}
        library = Library(**stores.remembering(), executor=self.built.executor, tasks=self.built.tasks)
        known = {"shared": local_state(), "metrics": Metrics(), "library": library}
        self.upstream.bodies()
        return self.runner.run(play(composed(self.built, **parts, **known)))


@pytest.fixture(scope="module")
def house(running: Upstream) -> Iterator[House]:
    with asyncio.Runner() as runner:
        built = runner.run(build(in_front_of(running), encoding=encoding))
        yield House(runner, running, built)
        runner.run(built.close())


# --- conversations, as clients spell them ---------------------------------------------------------------------------

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=5,
)
_unknown = st.dictionaries(_text.map("x_{}".format), _values, max_size=3)
_messages = st.builds(
    lambda role, content, more: {"role": role, "content": content, **more},
    st.sampled_from(["system", "user", "assistant"]),
    _text,
    _unknown,
)
_conversations = st.builds(
    lambda messages, model, more, settings: {"model": model, "messages": messages, **more, **settings},
    st.lists(_messages, min_size=1, max_size=6),
    st.sampled_from(CHAT_MODELS),
    _unknown,
    st.fixed_dictionaries({}, optional={"stream": st.booleans(), "temperature": st.just(0), "user": _text}),
)


@st.composite
def spelled(draw: st.DrawFn, said: st.SearchStrategy[dict[str, Any]] = _conversations) -> bytes:
    """JSON in one of the many ways to write it."""
    written = json.dumps(
        draw(said),
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.none() | st.integers(0, 3)),
        separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", "\r\n:")])),
    )
    return draw(st.sampled_from(["", " ", "\n\t"])).encode() + written.encode()


def direct(upstream: Upstream, raw: bytes) -> bytes:
    """What the upstream answers when nobody stands between."""
    answer = upstream.http.post("/v1/chat/completions", content=raw, headers={"content-type": "application/json"})
    upstream.bodies()
    return answer.content


@OVER_SOCKETS
@given(raw=spelled())
def test_an_untouched_request_arrives_to_the_byte_and_so_does_its_answer(house: House, raw: bytes) -> None:
    async def play(services: Services) -> None:
        got = await ask(services, raw)
        assert house.upstream.bodies() == [raw]
        assert got.body == await asyncio.to_thread(direct, house.upstream, raw)
        assert got.plan == "untouched"
        assert total(services, "olvido_fail_open_total") == 0

    house.run(play)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"model":"demo-chat","model":"gpt-4o-mini","messages":[{"role":"user","content":"a","content":"b"}]}',
        b'{"messages":[{"content":"\\u00e9\\/","role":"user"}],"temperature":1.0e-0,"top_p":1E0,"model":"demo-chat"}\r\n',
        b'{"model":"demo-chat","messages":[{"role":"user","content":"x","n":123456789012345678901234567890.10}]}',
    ],
)
async def test_so_does_what_no_two_parsers_would_write_alike(raw: bytes, upstream: Upstream) -> None:
    async with serving(in_front_of(upstream)) as services:
        got = await ask(services, raw)
        assert upstream.bodies() == [raw]
        assert (got.status, got.plan) == (200, "untouched")


@OVER_SOCKETS
@given(raw=spelled())
def test_the_same_request_is_planned_the_same_way(house: House, raw: bytes) -> None:
    async def play(services: Services) -> tuple[list[str], list[bytes]]:
        got = await ask(services, raw)
        planned = ("x-olvido-plan", "x-olvido-session", "x-olvido-tokens-original", "x-olvido-tokens-sent")
        return [got.headers[name] for name in planned], house.upstream.bodies()

    assert house.run(play) == house.run(play)


# --- refused by us, before anything else happens --------------------------------------------------------------------


async def test_what_no_upstream_could_accept_is_refused_and_not_kept(upstream: Upstream) -> None:
    async with serving(
        in_front_of(upstream, server={"unknown_model": "reject"}, upstream={"models": ["demo-*"]})
    ) as on:
        await until(lambda: len(on.tasks) == 0)  # it is warm
        with pytest.raises(BadRequest):
            await ask(on, b'{"model": "demo-chat"}')
        with pytest.raises(UnknownModel):
            await ask(on, body(user("hi"), model="nobodys"))
        assert upstream.bodies() == []
        assert len(on.tasks) == 0


# --- nothing crosses a scope ----------------------------------------------------------------------------------------

_actors = st.tuples(st.sampled_from(["sk-ana", "sk-eva"]), st.sampled_from(["", "1", "2"]))
_questions = st.sampled_from(["What is a black hole?", "What is a red dwarf?"])


@OVER_SOCKETS
@given(asked=st.lists(st.tuples(_actors, _questions, st.booleans()), min_size=1, max_size=8))
def test_an_answer_and_a_session_stay_with_the_key_and_the_user_they_belong_to(
    house: House, asked: list[tuple[tuple[str, str], str, bool]]
) -> None:
    async def play(services: Services) -> None:
        known: set[tuple[tuple[str, str], str]] = set()
        sessions: dict[str, tuple[tuple[str, str], str]] = {}
        for actor, question, stream in asked:
            key, person = actor
            raw = body(user(question), model="demo-chat", temperature=0, stream=stream)
            got = await ask(services, raw, key=key, headers=(("x-olvido-user", person),) if person else ())
            assert got.source == ("exact" if (actor, question) in known else "upstream")
            known.add((actor, question))
            assert sessions.setdefault(got.headers["x-olvido-session"], (actor, question)) == (actor, question)
        assert len(house.upstream.bodies()) == len(known)
        for actor in {actor for actor, _, _ in asked}:
            key, person = actor
            tenant = services.authenticator.tenant((("authorization", f"Bearer {key}"),))
            rows = await services.storage.ledger.recent(f"{tenant}/{person}")
            assert len(rows) == sum(each == actor for each, _, _ in asked)

    house.run(play)


# --- whatever of ours fails, the request reaches the upstream and the client its answer -----------------------------


def once(first: Work, then: Any) -> Work:
    """What `first` does, and from then on `then`: raised if it is an error."""
    left = iter([first])

    def work() -> Any:
        if (now := next(left, None)) is not None:
            return now()
        if isinstance(then, Exception):
            raise then
        return then

    return work


FAILING = [
    ("identify", {"sessions": Sessions(look=raises)}),
    ("identify", {"sessions": Sessions(look=gives("nonsense"))}),
    ("identify", {"sessions": Sessions(look=gives(KnownPrefix(1, (), is_tip=True)))}),
    ("exact", {"answers": Answers(get=raises)}),
    ("exact", {"answers": Answers(get=gives("nonsense"))}),
    ("plan", {"counter": Tokens(request=raises)}),
    ("record", {"sessions": Sessions(remember=raises)}),
    ("store", {"answers": Answers(put=raises)}),
    ("ledger", {"ledger": Ledger(raises)}),
]
AFTER = {"store", "ledger"}  # when the answer is on its way already


@pytest.mark.note("0/4")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("stage", "parts"), FAILING, ids=[f"{stage}-{number}" for number, (stage, _) in enumerate(FAILING)]
)
async def test_a_stage_that_fails_costs_the_client_nothing(
    stage: str, parts: dict[str, Any], stream: bool, upstream: Upstream
) -> None:
    raw = body(user("What is a black hole?"), model="demo-chat", temperature=0, stream=stream)
    expected = direct(upstream, raw)
    async with serving(in_front_of(upstream), **parts) as services:
        got = await ask(services, raw)
        assert upstream.bodies() == [raw]
        assert (got.status, got.body, got.source) == (200, expected, "upstream")
        told = stage not in AFTER and not (stage == "record" and stream)
        assert got.plan == (f"fail-open;stage={stage}" if told else "untouched")
        assert total(services, "olvido_fail_open_total", stage=stage) == 1
        assert total(services, "olvido_fail_open_total") == 1
        assert len(services.shared.flights) == 0


@pytest.mark.long
async def test_nor_does_one_that_hangs(upstream: Upstream) -> None:
    raw = body(user("What is a black hole?"), model="demo-chat", temperature=0)
    expected = direct(upstream, raw)
    hanging: dict[str, dict[str, Any]] = {
        "identify": {"sessions": Sessions(look=hangs)},
        "exact": {"answers": Answers(get=hangs)},
        "plan": {"counter": Tokens(request=hangs)},
    }
    async with serving(in_front_of(upstream), patience=2.0) as built:
        services = [
            composed(built, metrics=Metrics(), shared=local_state(), tasks=Tasks(), **parts)
            for parts in hanging.values()
        ]
        answers = await asyncio.gather(*(ask(each, raw) for each in services))
    assert upstream.bodies() == [raw] * 3
    for stage, got, each in zip(hanging, answers, services, strict=True):
        assert (got.status, got.body, got.plan) == (200, expected, f"fail-open;stage={stage}")
        assert total(each, "olvido_fail_open_total", stage=stage, reason="deadline") == 1


# A request that memory is needed for: it does not fit into the window.
MANAGED = {"profiles": {"lean": {"window": {"tokens": 10}}}}
OLD = [user("What is a black hole?"), assistant("A region of space that nothing leaves."), user("And a red dwarf?")]

FORGETFUL: list[tuple[list[str], dict[str, Any]]] = [
    (["plan", "learn"], {"facts": Facts(every=raises)}),
    (["plan", "learn"], {"facts": Facts(every=gives("nonsense"))}),
    (["plan"], {"states": States(get=raises)}),
    ([], {"states": States(get=gives((b"link", b"\x01nonsense")))}),  # as if there were none
    ([], {"embedder": Embedder(raises)}),  # nothing needs a vector
    (["resume"], {"archive": Archive(latest=raises)}),
    (["resume"], {"archive": Archive(latest=gives("nonsense"))}),
    (["learn"], {"archive": Archive(add=raises)}),
    (["learn"], {"facts": Facts(put=raises)}),
    (["record"], {"states": States(put=raises)}),
]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("stages", "parts"), FORGETFUL, ids=[f"{'-'.join(stages)}-{at}" for at, (stages, _) in enumerate(FORGETFUL)]
)
async def test_a_memory_that_fails_costs_the_client_nothing(
    stages: list[str], parts: dict[str, Any], stream: bool, upstream: Upstream
) -> None:
    # With `resume`, only what is new; else a history, and something to be remembered.
    said = [user("What is a black hole?")] if "resume" in stages else [*OLD, user("Remember that I live in Rosario.")]
    raw = body(*said, model="demo-chat", stream=stream)
    expected = direct(upstream, raw)
    async with serving(in_front_of(upstream, **MANAGED), **parts) as services:
        got = await ask(services, raw, headers=(("x-olvido-session", "s"),))
        assert upstream.bodies() == [raw]
        assert (got.status, got.body, got.source) == (200, expected, "upstream")
        assert {stage: total(services, "olvido_fail_open_total", stage=stage) for stage in stages} == dict.fromkeys(
            stages, 1
        )
        assert total(services, "olvido_fail_open_total") == len(stages)


async def test_nor_does_an_archive_that_fails_to_be_read_which_is_counted_each_time(upstream: Upstream) -> None:
    raw = body(*OLD, model="demo-chat")
    async with serving(in_front_of(upstream, **MANAGED), archive=Archive(turns=raises)) as services:
        assert (await ask(services, raw)).plan == "untouched"
        assert total(services, "olvido_fail_open_total", stage="archive") == 2  # to plan, and to learn


@pytest.mark.long
async def test_nor_does_one_that_hangs_or_an_archive_that_cannot_be_read(upstream: Upstream) -> None:
    raw, new = body(*OLD, model="demo-chat"), body(user("What is a black hole?"), model="demo-chat")
    hanging: list[tuple[str, bytes, dict[str, Any]]] = [
        ("plan", raw, {"facts": Facts(every=once(hangs, []))}),
        ("plan", raw, {"states": States(get=hangs)}),
        ("resume", new, {"archive": Archive(latest=hangs)}),
        ("", raw, {"embedder": Embedder(once(hangs, EmbeddingUnavailable()))}),
        ("", raw, {"archive": Archive(turns=once(hangs, ArchiveChanges()))}),
    ]
    async with serving(in_front_of(upstream, server={"drain": 0.1}, **MANAGED), patience=2.0) as built:
        services = [composed(built, metrics=Metrics(), **parts) for _, _, parts in hanging]
        asking = [
            ask(each, sent, headers=(("x-olvido-session", f"s{at}"),), patience=1)
            for at, (each, (_, sent, _)) in enumerate(zip(services, hanging, strict=True))
        ]
        answers = await asyncio.gather(*asking)
    assert sorted(upstream.bodies()) == sorted(sent for _, sent, _ in hanging)
    for (stage, _, _), got, each in zip(hanging, answers, services, strict=True):
        assert (got.status, got.plan) == (200, f"fail-open;stage={stage}" if stage else "untouched")
        assert total(each, "olvido_fail_open_total", reason="deadline") == (1 if stage else 0)
        assert total(each, "olvido_fail_open_total") == (1 if stage else 0)


async def test_nor_does_assembling(upstream: Upstream) -> None:
    settings = in_front_of(upstream)
    odd = settings.upstreams[0].model_copy(update={"dialect": "klingon"})
    raw = body(user("What is a black hole?"), model="demo-chat")
    async with serving(settings, router=Router([Client(odd)], reject_unknown=False)) as services:
        got = await ask(services, raw)
        assert upstream.bodies() == [raw]
        assert (got.status, got.plan) == (200, "fail-open;stage=assemble")
        assert total(services, "olvido_fail_open_total", stage="assemble") == 1
        await services.router.default.close()


async def test_what_is_told_of_a_prompt_is_what_the_upstream_got_that_answered(upstream: Upstream) -> None:
    """The first one does not answer, and for the other the planned prompt cannot be made."""
    gone = {"name": "gone", "base_url": "http://127.0.0.1:1/v1", "fallback": "demo", "models": ["*"]}
    strict = {"profiles": {"lean": {"fold": "strict", "window": {"turns": 1, "min_turns": 1, "max_turns": 1}}}}
    settings = in_front_of(upstream, **strict)
    demo = settings.upstreams[0]
    first = demo.model_copy(update={**gone, "breaker": demo.breaker})
    odd = demo.model_copy(update={"dialect": "klingon", "models": ("nothing",)})
    raw = body(*[said for _ in range(6) for said in OLD[:2]], OLD[2], model="demo-chat")
    async with serving(settings, router=Router([Client(first), Client(odd)], reject_unknown=False)) as services:
        got = await ask(services, raw)
        assert upstream.bodies() == [raw]
        assert (got.status, got.plan) == (200, "fail-open;stage=assemble")
        assert total(services, "olvido_plans_total", kind="fail-open") == 1
        assert total(services, "olvido_saved_tokens_total") == 0
        for each in services.router.upstreams:
            await each.close()


async def test_nor_does_counting_what_an_upstream_did_not(upstream: Upstream) -> None:
    raw = body(user("What is a black hole?"), model="demo-chat", stream=True)
    async with serving(in_front_of(upstream), counter=Tokens(text=raises)) as services:
        got = await ask(services, raw)
        assert got.status == 200
        assert total(services, "olvido_fail_open_total", stage="count") == 1
        assert total(services, "olvido_requests_total") == 1
        upstream.bodies()


async def test_everything_at_once(upstream: Upstream) -> None:
    broken = {
        "sessions": Sessions(look=raises, remember=raises),
        "answers": Answers(get=raises, put=raises),
        "ledger": Ledger(raises),
        "counter": Tokens(request=raises, text=raises),
    }
    raw = body(user("What is a black hole?"), model="demo-chat", temperature=0)
    expected = direct(upstream, raw)
    async with serving(in_front_of(upstream), **broken) as services:
        got = await ask(services, raw)
        assert upstream.bodies() == [raw]
        assert got.body == expected
        assert got.plan == "fail-open;stage=identify,plan,record"


async def test_vectors_are_made_of_what_a_question_about_the_past_needs_and_of_nothing_else(upstream: Upstream) -> None:
    engine = FakeEngine()
    embedder = EngineEmbedder(engine)
    embedder.start()
    await until(lambda: embedder.state == "ready")
    engine.runs.clear()
    talk = [user("My boat is called Marigold, and she is moored in Kinsale."), assistant("A fine name.")]
    talk += [said for n in range(12) for said in (user(f"Tell me of planet {n}. " * 9), assistant(f"It is {n}. " * 40))]
    tight = {"profiles": {"lean": {"budget": 700, "window": {"tokens": 200}}}}
    async with serving(in_front_of(upstream, **tight), embedder=embedder, **stores.remembering()) as services:
        for stop in range(2, len(talk) + 1, 2):
            await ask(services, body(*talk[: stop - 1], model="demo-chat"))
        assert engine.runs == []
        upstream.bodies()
        await ask(services, body(*talk, user("What did I say that my boat is called?"), model="demo-chat"))
        assert "Marigold" in upstream.bodies()[0].decode()
        embedded = [text for run in engine.runs for text in run]
        assert "What did I say that my boat is called?" in embedded
        assert talk[0]["content"] in embedded
        assert len(embedded) == len(set(embedded))
    await embedder.close()
