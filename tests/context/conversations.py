"""Conversations that Hypothesis makes up: with every kind of message that clients send, requests left out here and
there, sent again and gone on from elsewhere; and what they are told with: prices, limits, profiles, memories."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from proxy.config.builtin_profiles import BUILT_IN
from proxy.context.draft import Memory
from proxy.context.economics import Rates
from proxy.conversation.progress import Case
from proxy.conversation.turns import complete
from proxy.types import Fact, Vector
from proxy.types.curation import StoredSummary
from tests.builders import NOW, Said, assistant, result, system, user
from tests.context.told import Teller, Told, by_model, fact, profile, recalling

_TEXT = """the server is down y la cena del viernes otra cosa what did we decide about Lisboa 42 € prefiero trenes
python deploy script recordá que soy alérgico a las nueces thanks cambiemos de tema mejor hablemos budget is 1200 usd
por qué no funciona birthday party for Ana the plan has three steps first second third"""
_WORDS = _TEXT.split()


@dataclass(frozen=True, slots=True)
class Step:
    """A request, and what it is sent with."""

    said: tuple[Said, ...]
    idle: float
    wanted: int
    is_asked_for: bool
    standing: tuple[int, ...]  # user messages that state something
    relevant: tuple[int, ...]
    elsewhere: bool  # a fact that another conversation stated is relevant, too
    forgets: bool
    summarised: int  # turns, the newest complete ones, of which a model has just made a summary
    vector: Vector


@dataclass(frozen=True, slots=True)
class Setting:
    rates: Rates
    limit: int | None
    role: str
    profile: Any
    may_exceed: bool  # the limit is a budget, and that may give way


@st.composite
def texts(draw: st.DrawFn, sizes: Sequence[int] = (1, 3, 9, 25, 80)) -> str:
    size, first, step = draw(st.sampled_from(sizes)), draw(st.integers(0, 60)), draw(st.sampled_from((1, 3, 7)))
    return " ".join(_WORDS[(first + step * at) % len(_WORDS)] for at in range(size))


_IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
_CONTENTS = st.one_of(
    texts(),
    texts(),
    texts((400, 1_500)),
    st.just(""),
    texts().map(lambda said: [{"type": "text", "text": said}, _IMAGE]),
    texts().map(lambda said: [_IMAGE, {"type": "text", "text": said}]),
    st.just([]),
    st.just(None),
    st.just("<memory>\nWhat the user has stated:\n- [work] x\n</memory>\n\nhello"),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Said]:
    said: list[Said] = [system(draw(texts((4, 40, 300)))) for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2))))]
    if draw(st.sampled_from((False, False, False, True))):
        said.append(assistant("How can I help?"))
    calls = 0
    for _ in range(draw(st.integers(1, 14))):
        said.append(user(draw(_CONTENTS), **({"name": "ana"} if draw(st.integers(0, 9)) == 0 else {})))
        if draw(st.integers(0, 7)) == 0:
            continue  # and another one
        if draw(st.integers(0, 11)) == 0:
            said.append(system(draw(texts())))
        for _ in range(draw(st.sampled_from((0, 0, 0, 1, 2)))):
            ids = [f"call{calls + at:05d}" for at in range(draw(st.integers(1, 2)))]
            calls += len(ids)
            thought = {"reasoning_content": draw(texts())} if draw(st.booleans()) else {}
            functions = [
                {"id": each, "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}} for each in ids
            ]
            said.append(assistant(draw(st.sampled_from((None, "let me look"))), tool_calls=functions, **thought))
            said.extend(result(each, draw(texts((5, 25, 400)))) for each in ids)
        thought = {"reasoning_content": draw(texts((9, 200)))} if draw(st.integers(0, 4)) == 0 else {}
        said.append(assistant(draw(_CONTENTS), **thought))
    if draw(st.booleans()):
        said.append(user(draw(_CONTENTS)))
    return said


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """A conversation, requests left out here and there, sent again, gone on from elsewhere."""
    said = draw(conversations())
    stops = [at for at, each in enumerate(said) if each["role"] == "assistant" and at] + [len(said)]
    told: list[tuple[Said, ...]] = []
    for stop in stops:
        asked = tuple(said[:stop])
        if not any(each["role"] == "user" for each in asked) or draw(st.integers(0, 7)) == 0:
            continue
        told.append(asked)
        match draw(st.integers(0, 15)):
            case 0:
                told.append(asked)
            case 1:
                told.append((*asked[:-1], user("on the other hand " + draw(texts()))))
            case 2 if asked[-1]["role"] == "user":
                told.append((*asked, assistant("Sure,", partial=True, prefix=True)))
    told = told or [(user("hi"),)]
    return [_step(draw, each) for each in told]


def _step(draw: st.DrawFn, said: tuple[Said, ...]) -> Step:
    users = [at for at, each in enumerate(said) if each["role"] == "user" and each["content"]]
    some = st.lists(st.sampled_from(users), max_size=3, unique=True) if users else st.just([])
    vector = np.zeros(4, np.float32)
    vector[draw(st.integers(0, 3))] = 1
    return Step(
        said=said,
        idle=draw(st.sampled_from((0.0, 30.0, 400.0, 90_000.0))),
        wanted=draw(st.sampled_from((0, 0, 100, 600, 4_000))),
        is_asked_for=draw(st.booleans()),
        standing=tuple(draw(some)),
        relevant=tuple(draw(some)),
        elsewhere=draw(st.integers(0, 3)) == 0,
        forgets=draw(st.integers(0, 15)) == 0,
        summarised=draw(st.sampled_from((0, 0, 1, 2, 3, 5))),
        vector=vector,
    )


SETTINGS = st.builds(
    Setting,
    rates=st.sampled_from(
        (
            Rates(0.1, 1.0),
            Rates(0.25, 1.0, 128, 1024),
            Rates(0.17, 1.0, 256),
            Rates(0.1, 1.25),
            Rates(0.05, 1.25, 1, 1024, breakpoints=True),
            Rates(0.05, 1.25, 1, 512, rethinking=5.0),
            Rates(1.0, 1.0),
        )
    ),
    limit=st.sampled_from((None, 60, 300, 800, 1_500, 4_000, 20_000)),
    role=st.sampled_from(("user", "user", "system")),
    profile=st.builds(
        lambda base, fold, tokens, answers, first: profile(
            BUILT_IN[base],
            fold=fold,
            window={"tokens": tokens, "answer_tokens": answers},
            tool_results={"fold_first": first, "keep": 1},
        ),
        st.sampled_from(("lean", "balanced", "agent")),
        st.sampled_from(("economic", "economic", "strict")),
        st.sampled_from((60, 300, 1_200)),
        st.sampled_from((0, 40, 200)),
        st.booleans(),
    ),
    may_exceed=st.booleans(),
)


def tell(setting: Setting, told: Sequence[Step]) -> list[Told]:
    teller = Teller(rates=setting.rates, limit=setting.limit, role=setting.role, may_exceed=setting.may_exceed)
    known: dict[str, Fact] = {}
    forgotten: frozenset[bytes] = frozenset()
    made: tuple[StoredSummary, ...] = ()
    now = NOW
    done = []
    for step in told:
        now += step.idle

        def remembered(case: Case, step: Step = step) -> Memory:
            nonlocal forgotten, made
            turns = len(complete(case.messages))
            if step.summarised and turns:
                made += (by_model(case, max(1, turns + 1 - step.summarised), turns),)
            if step.forgets:
                forgotten |= {link for each in known.values() for link in each.links}
                known.clear()
            gone = forgotten  # by now: what is forgotten later was still recalled

            def stated(indices: Sequence[int]) -> tuple[Fact, ...]:
                new = {
                    name: fact(case.messages[at].text[:200], case.chain[at], name=name)
                    for at in indices
                    if case.chain[at] not in forgotten and (name := f"f-{case.chain[at].hex()}")
                }
                known.update(new)
                return tuple(new.values())

            others = (
                (fact("drinks tea without sugar, and only in the morning", b"-" * 16, session="t"),)
                if step.elsewhere
                else ()
            )
            return Memory(
                standing=stated(step.standing),
                relevant=stated(step.relevant) + others,
                facts=frozenset(known),
                forgotten=forgotten,
                summaries=made,
                wanted=step.wanted,
                is_asked_for=step.is_asked_for and step.wanted > 0,
                recall=recalling(case, only=lambda at: case.chain[at] not in gone),
            )

        done.append(teller.ask(*step.said, profile=setting.profile, memory=remembered, vector=step.vector, now=now))
    return done
