"""Plans of requests whose model manages its own memory: what is sent, what it costs, when tools and marks come in."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.config.builtin_profiles import BUILT_IN
from proxy.context import desk_plans
from proxy.context.draft import FRAMING, Memory
from proxy.context.economics import Rates
from proxy.conversation.blocks import without_ours
from proxy.conversation.progress import progress
from proxy.desk.planned import DeskInput, Marked, View
from proxy.desk.protecting import protected
from proxy.desk.schemas import NAMES, definitions
from proxy.protocol.chains import chain_of
from proxy.protocol.dialects import KIMI, violations
from proxy.types import DeskTrail, Json, Message, PathState, Plan
from proxy.types.desk import Mark, Offered, Pressure
from tests.builders import Said, assistant, calling, chat, messages, result, system, user
from tests.context.told import OVERHEAD, case, context, counter, words
from tests.examples import examples

AGENT = BUILT_IN["agent"]
SCHEMAS: tuple[Json, ...] = tuple(definitions("en", NAMES))
DEFINITIONS = counter.text(msgspec.json.encode(SCHEMAS).decode())
RATES = Rates(cached=0.1, write=1.0)


class Desk:
    """An agent's conversation, planned request by request."""

    def __init__(self, **given: Any) -> None:
        self.state: PathState | None = None
        self.offered: Offered | None = None
        self.marks: list[Mark] = []
        self.given: dict[str, Any] = {
            "limit": None,
            "sections": "",
            "rules": "rules",
            "threshold": 0.5,
            "at_once": False,
        } | given
        self.rates = RATES
        self.hidden: frozenset[int] = frozenset()

    def mark(self, said: Sequence[Said], *indices: int, text: str = "") -> None:
        chain = chain_of("s", messages(*said))
        links = tuple(chain[index] for index in indices)
        self.marks.append(Mark("range" if text else "prune", links, indices[0] + 1, indices[-1] + 1, text))

    def view(self, said: Sequence[Message]) -> View:
        chain = chain_of("s", said)
        ours = tuple(counter.message(each) if at in self.hidden else 0 for at, each in enumerate(said))
        own = tuple(index for index in range(len(said)) if index not in self.hidden)
        return View(tuple(said), chain, chain, self.hidden, tuple(range(1, len(said) + 1)), own, ours)

    def plan(self, *said: Said, memory: Memory | None = None, prompt_limit: int | None = None) -> Plan:
        given = messages(*said)
        view = self.view(given)
        stay = frozenset(protected(given, view.chain, ()))
        marks = tuple(Marked(number, each, stay) for number, each in enumerate(self.marks, 1))
        desk = DeskInput(view, schemas=SCHEMAS, offered=self.offered, marks=marks, **self.given)
        asked = case(given, profile=AGENT, state=self.state, was_seen=self.state is not None)
        asked = replace(asked, added=sum(view.ours))
        so_far = progress(asked)
        assert so_far is not None
        circles = context(asked, rates=self.rates, limit=prompt_limit)
        circles = replace(circles, desk=desk, desk_limit=self.given["limit"])
        made = desk_plans.plan(chat(*said), asked, so_far, memory or Memory(), circles)
        self.state = made.state
        assert made.desk is not None
        if made.desk.offers:
            self.offered = Offered("en", NAMES, made.desk.offers)
        self.sent = tuple(given) if made.messages is None else made.messages
        counted = OVERHEAD + made.desk.definitions + sum(map(counter.message, self.sent))
        edited = len(made.fates.rewritten) if made.fates is not None else 0
        assert counted - edited <= made.tokens.sent <= counted + 2 * FRAMING + edited  # what a head costs is rounded up
        return made


def loop(steps: int, tokens: int = 500) -> list[Said]:
    said: list[Said] = [system("Be an agent."), user("Do it.")]
    for number in range(steps):
        said += [calling(f"c{number:08d}"), result(f"c{number:08d}", words(tokens, f"r{number}"))]
    return said


def reason(made: Plan) -> str:
    assert made.desk is not None
    return made.desk.offers


def test_until_they_are_offered_a_request_goes_as_it_came() -> None:
    made = Desk().plan(*loop(2))
    assert (made.kind, made.messages, made.tools, reason(made)) == ("untouched", None, None, "")


def test_tools_are_offered_at_once_where_that_is_wished_and_stay() -> None:
    desk = Desk(at_once=True, sections="## Task\nship it")
    first = desk.plan(*loop(0))
    assert reason(first) == "first"
    assert first.tools == list(SCHEMAS)
    assert first.tokens.original == OVERHEAD + sum(map(counter.message, messages(*loop(0))))
    assert first.tokens.mechanisms.desk == first.tokens.sent - first.tokens.original
    head = desk.sent[1]
    assert "rules\n\n## Task\nship it" in head.text
    assert without_ours(head.text) == "Do it."
    later = desk.plan(*loop(3))
    assert (reason(later), later.tools) == ("", list(SCHEMAS))
    assert desk.sent[1].raw == head.raw


def test_tools_of_a_conversation_whose_prompts_are_not_known_have_their_rules() -> None:
    desk = Desk(at_once=True)
    said = [*loop(2), assistant("Done."), user("And then?")]
    desk.plan(*loop(0))
    known = desk.plan(*said)
    assert desk.sent[1].text.startswith("<memory>")
    desk.state = None  # another process has planned the request before, and this one has not heard of it yet
    unknown = desk.plan(*said)
    assert reason(unknown) == reason(known) == ""
    assert unknown.messages == known.messages


def test_sections_alone_open_a_conversation_without_tools() -> None:
    desk = Desk(sections="## Task\nship it")
    made = desk.plan(*loop(0))
    assert (reason(made), made.tools) == ("", None)
    assert "ship it" in desk.sent[1].text
    assert "rules" not in desk.sent[1].text


def test_tools_are_offered_half_way_to_the_pressure_at_which_they_are_needed() -> None:
    desk = Desk(limit=16_000)
    offers = [reason(desk.plan(*loop(steps))) for steps in range(1, 12)]
    assert [each for each in offers if each] == ["pressure"]
    at = offers.index("pressure") + 1
    used = OVERHEAD + sum(map(counter.message, messages(*loop(at))))
    assert used / (0.8 * 16_000) >= 0.25


def test_tools_whose_offer_has_ended_stay_until_the_prompt_would_begin_anew() -> None:
    desk, other = (Desk(at_once=True, sections="## Task\nship it") for _ in range(2))
    turns = [each for number in range(20) for each in (user(f"{number}? {words(200)}"), assistant(words(200)))]
    had, folds = [], []
    for at in range(20):
        desk.given["ended"] = at >= 3
        made, twin = (each.plan(*turns[: 2 * at], user("go on"), prompt_limit=6_000) for each in (desk, other))
        assert made.desk is not None
        assert twin.state is not None
        had.append(made.desk.has_tools)
        folds.append(twin.state.fold)
        if not made.desk.has_tools:
            break
    assert made.tools is None
    assert had == [True] * at + [False]
    assert [now != before for before, now in pairwise(folds[2:])] == [False] * (at - 3) + [True]


def test_tools_are_offered_with_the_first_fold() -> None:
    desk = Desk(sections="## Task\nship it")
    turns = [each for number in range(40) for each in (user(f"{number}? {words(200)}"), assistant(words(200)))]
    offers = [reason(desk.plan(*turns[: 2 * at], user("go on"), prompt_limit=6_000)) for at in range(40)]
    assert [each for each in offers if each] == ["fold"]


@pytest.mark.note("SMMA 6.4/1")
def test_marks_wait_until_they_pay() -> None:
    desk = Desk(at_once=True)
    said = loop(8, 100)  # too short to be left out otherwise
    desk.plan(*said)
    desk.mark(said, 3, 5, 7, 9, 11, 13)
    reasons = []
    for steps in range(120):
        said += [calling(f"d{steps:08d}"), result(f"d{steps:08d}", "ok")]
        made = desk.plan(*said)
        assert made.desk is not None
        assert made.state is not None
        reasons.append(made.desk.reason)
        assert ("[4: pruned" in desk.sent[3].text) == bool(made.state.applied)
    assert [each for each in reasons if each] == ["economic"]
    assert reasons[0] == ""


@pytest.mark.note("SMMA 6/4", "SMMA 6.4/1", "SMMA 9/3")
def test_under_pressure_marks_take_effect_at_once_and_only_where_they_are_worth_it() -> None:
    desk = Desk(at_once=True, limit=8_000)
    desk.plan(*loop(7))
    desk.mark(loop(7), 3, 5, 7, 9)
    made = desk.plan(*loop(8))
    assert made.desk is not None
    assert (made.desk.reason, made.desk.applied) == ("pressure", (1,))
    assert made.desk.saved > 500
    assert made.tokens.mechanisms.pruned >= made.desk.saved


@pytest.mark.note("SMMA 5/2")
def test_a_summary_of_the_model_stands_for_its_range() -> None:
    desk = Desk(at_once=True, limit=8_000)
    desk.plan(*loop(7))
    desk.mark(loop(7), *range(2, 12), text="read five files: nothing")
    made = desk.plan(*loop(8))
    assert "read five files: nothing" in desk.sent[1].text
    assert made.fates is not None
    assert made.fates.removed == tuple(range(2, 12))
    assert violations(desk.sent, KIMI) == ()


def test_hidden_exchanges_are_ours_in_the_accounts() -> None:
    desk = Desk(at_once=True)
    first = desk.plan(*loop(1))
    hidden = [calling("m00000001"), result("m00000001", words(300))]
    said = [*loop(1), *hidden, calling("c00000009"), result("c00000009", words(100))]
    desk.hidden = frozenset({4, 5})
    made = desk.plan(*said)
    client = [each for index, each in enumerate(said) if index not in desk.hidden]
    assert made.tokens.original == OVERHEAD + sum(map(counter.message, messages(*client)))
    assert first.state is not None
    assert made.tokens.expected == first.tokens.sent


def test_fates_are_told_of_the_clients_messages() -> None:
    desk = Desk(at_once=True, limit=8_000)
    said = [*loop(2)[:4], calling("m00000001"), result("m00000001", words(300)), *loop(9)[4:]]
    desk.hidden = frozenset({4, 5})
    desk.plan(*said[:-2])
    desk.mark(said, 9, 11, 13, 15)
    made = desk.plan(*said)
    told = desk_plans.told(made, DeskInput(desk.view(messages(*said)), limit=8_000))
    assert made.fates is not None
    assert told.fates is not None
    assert made.fates.rewritten == (9, 11, 13, 15)
    assert told.fates.rewritten == (7, 9, 11, 13)


@pytest.mark.parametrize(
    ("limit", "threshold", "level"),
    [(4_000, 0.5, "high"), (6_000, 0.9, "medium"), (60_000, 0.5, "low"), (None, 0.5, "low")],
)
def test_the_trail_tells_the_pressure_and_the_schemas_in_the_upstreams_tokens(
    limit: int | None, threshold: float, level: Pressure
) -> None:
    desk = Desk(at_once=True)
    said = loop(2)
    made = desk.plan(*said)
    doubled = replace(made, tokens=replace(made.tokens.scaled(2.0), counted=made.tokens.sent))
    trail = desk_plans.told(doubled, DeskInput(desk.view(messages(*said)), limit=limit, threshold=threshold)).trail
    assert trail is not None
    used = 2 * made.tokens.sent
    pressure = used / (0.8 * limit) if limit else 0.0
    assert trail.desk is not None
    assert trail.desk.pressure == pytest.approx(pressure)
    assert replace(trail.desk, pressure=0.0) == DeskTrail(used, limit, 0.0, level, 2 * DEFINITIONS)


def test_before_the_tools_are_offered_the_trail_tells_the_pressure_all_the_same() -> None:
    desk = Desk()
    made = desk.plan(*loop(2))
    trail = desk_plans.told(replace(made, desk=None), DeskInput(desk.view(messages(*loop(2))))).trail
    assert trail is not None
    assert trail.desk == DeskTrail(made.tokens.sent, None, 0.0, "low")


@settings(max_examples=examples(40), deadline=None)
@given(data=st.data(), limit=st.sampled_from([None, 6_000, 12_000]), at_once=st.booleans())
def test_whatever_is_marked_sums_are_exact_and_marks_that_pay_never_cost_more(
    data: st.DataObject, limit: int | None, at_once: bool
) -> None:
    desk = Desk(at_once=at_once, limit=limit)
    made = None
    for steps in range(1, data.draw(st.integers(5, 40))):
        said = loop(steps)
        made = desk.plan(*said)  # checks the sum
        assert violations(desk.sent, KIMI) == ()
        if desk.offered and data.draw(st.booleans()):
            free = [at for at in range(3, len(said) - 2) if said[at]["role"] == "tool"]
            if free:
                desk.mark(said, *sorted(data.draw(st.sets(st.sampled_from(free), min_size=1, max_size=6))))
    assert made is not None
    assert made.state is not None
    if limit is None and not at_once:
        assert made.state.spent <= 1.02 * made.state.baseline + DEFINITIONS


@pytest.mark.parametrize("has_tools", [True, False])
def test_where_tools_come_or_go_nothing_of_the_prompt_is_held(has_tools: bool) -> None:
    desk = Desk(at_once=has_tools)
    desk.plan(*loop(3))
    assert desk.state is not None
    desk.state = replace(desk.state, has_tools=not has_tools)
    assert desk.plan(*loop(4)).tokens.expected == 0
