"""The view: what the client never saw stands where it was, in every later request, by the same bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.desk.planned import View
from proxy.desk.state import DeskState, after
from proxy.desk.view import viewed, with_board
from proxy.protocol.chains import chain_of
from proxy.protocol.dialects import DIALECTS, violations
from proxy.protocol.message import message
from proxy.types import Message
from proxy.types.desk import Board, DeskEvent, DeskNews, Hidden, Payload, TapeLine
from tests.builders import NOW, Said, assistant, counter, messages, result, system, user
from tests.desk.hiding import hidden, ours
from tests.examples import examples

SCOPE = "s/"


def seen(said: Sequence[Said], state: DeskState) -> View:
    made = messages(*said)
    return viewed(made, chain_of(SCOPE, made), state, counter().known)


def knowing(*payloads: Payload, lines: Mapping[bytes, int] | None = None) -> DeskState:
    events = tuple(DeskEvent(NOW + at, "r", each, at) for at, each in enumerate(payloads, start=1))
    numbered = enumerate((lines or {}).items(), start=1)
    return after(
        DeskState(), DeskNews(events, tuple(TapeLine(at, link, NOW + when, "", 1) for at, (link, when) in numbered))
    )


def link_of(*said: Said) -> bytes:
    return chain_of(SCOPE, messages(*said))[-1]


def raws(*said: Said) -> list[bytes]:
    return [each.raw for each in messages(*said)]


QUESTION, ANSWER = user("what?"), assistant("that")
STEP = (ours("h1"), result("h1", "kept"))


def exchange(answer: Said = ANSWER, **more: Any) -> Hidden:
    return hidden(link_of(QUESTION), answer, **{"before": STEP, **more})


def test_what_the_client_never_saw_stands_before_the_answer() -> None:
    view = seen([QUESTION, ANSWER, user("and?")], knowing(exchange()))
    assert [said.raw for said in view.messages] == raws(QUESTION, *STEP, ANSWER, user("and?"))
    assert view.hidden == {1, 2}
    assert view.own == (0, 3, 4)
    own = chain_of(SCOPE, messages(QUESTION, ANSWER, user("and?")))
    assert tuple(view.chain[at] for at in view.own) == own
    assert view.chain[:3] == chain_of(SCOPE, messages(QUESTION, *STEP))
    assert len(set(view.chain)) == len(set(view.keys)) == 5


def test_the_first_request_with_the_exchange_is_like_the_round_that_went_upstream() -> None:
    before = seen([QUESTION], knowing(exchange()))
    assert [said.raw for said in before.messages] == raws(QUESTION)


def test_calls_of_both_stand_in_place_of_the_answer_and_our_results_before_the_clients() -> None:
    answer, both = ours("c1"), ours("h1", "c1", content="let me see")
    state = knowing(exchange(answer, before=(), instead=both, after=[result("h1", "kept")]))
    view = seen([QUESTION, answer, result("c1", "found")], state)
    assert [said.raw for said in view.messages] == raws(QUESTION, both, result("h1", "kept"), result("c1", "found"))
    assert view.hidden == {2}
    assert view.own == (0, 1, 3)
    assert view.ours[1] == counter().message(message(both)) - counter().message(message(answer))


@pytest.mark.parametrize(
    ("answer", "sent", "is_found"),
    [
        (assistant("that"), assistant("that"), True),
        (assistant("that"), assistant("  that\n"), True),
        (assistant("that"), assistant("that, in other words"), True),
        (assistant("that"), ours("c1"), False),
        (ours("c1", content="look"), ours("c1"), True),
        (ours("c1"), ours("c2"), False),
        (ours("c1"), assistant("that"), False),
        (assistant("that"), user("that"), False),
    ],
)
def test_an_answer_is_recognised_by_its_link_its_calls_or_as_the_only_text(
    answer: Said, sent: Said, is_found: bool
) -> None:
    view = seen([QUESTION, sent, user("and?")], knowing(exchange(answer)))
    assert (view.hidden == {1, 2}) is is_found
    assert [view.messages[at].raw for at in view.own] == raws(QUESTION, sent, user("and?"))


@pytest.mark.parametrize(
    ("sent", "is_found"),
    [
        ("Paris, then", True),
        ("I  looked.\nParis, then", True),
        ("Berlin", False),
        ("", False),
    ],
)
def test_a_person_who_writes_another_answer_has_their_own(sent: str, is_found: bool) -> None:
    told = exchange(assistant("I looked. Paris, then"), instead=assistant("Paris, then", reasoning_content="hm"))
    view = seen([QUESTION, assistant(sent), user("and?")], knowing(told))
    assert (view.hidden == {1, 2}) is is_found
    assert any(said.reasoning for said in view.messages) is is_found


def test_a_history_that_the_client_has_cut_has_nothing_put_back() -> None:
    view = seen([system("be brief"), ANSWER, user("and?")], knowing(exchange()))
    assert view.hidden == frozenset()
    assert len(view.messages) == 3


def test_of_two_exchanges_with_one_answer_the_one_that_was_there_stays() -> None:
    first, second = exchange(), exchange(before=(ours("h2"), result("h2", "again")))
    answered = link_of(QUESTION, ANSWER)
    new = seen([QUESTION, ANSWER], knowing(first, second))
    assert [said.raw for said in new.messages] == raws(QUESTION, ours("h2"), result("h2", "again"), ANSWER)
    old = seen([QUESTION, ANSWER], knowing(first, second, lines={answered: 1}))
    assert [said.raw for said in old.messages] == raws(QUESTION, *STEP, ANSWER)
    none = seen([QUESTION, ANSWER], knowing(first, second, lines={answered: 0}))
    assert [said.raw for said in none.messages] == raws(QUESTION, ANSWER)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (user("what?"), user("full\n\nwhat?")),
        (
            user([{"type": "text", "text": "what?"}, {"type": "image_url", "image_url": {"url": "x"}}]),
            user(
                [
                    {"type": "text", "text": "full\n"},
                    {"type": "text", "text": "what?"},
                    {"type": "image_url", "image_url": {"url": "x"}},
                ]
            ),
        ),
        (result("c1", "found"), result("c1", "found\n\nfull")),
    ],
)
def test_a_dashboard_stands_before_a_question_and_behind_a_result(said: Said, shown: Said) -> None:
    history = [user("so"), ours("c1")] if said["role"] == "tool" else []
    link = link_of(*history, said)
    view = seen([*history, said], knowing(Board(link, "full", "high", "")))
    assert view.messages[-1].raw == message(shown).raw
    assert view.chain[-1] == link
    assert view.keys[-1] != link
    assert view.ours[-1] == counter().message(message(shown)) - counter().message(message(said)) > 0


def test_what_is_put_back_counts_as_ours_and_the_rest_does_not() -> None:
    view = seen([QUESTION, ANSWER, user("and?")], knowing(exchange()))
    sizes = [counter().message(said) for said in view.messages]
    assert view.ours == (0, sizes[1], sizes[2], 0, 0)


@pytest.mark.note("SMMA 8/1")
def test_ids_are_those_of_the_tape() -> None:
    links = chain_of(SCOPE, messages(QUESTION, *STEP))
    state = knowing(exchange(), lines=dict.fromkeys(links, 9))
    assert seen([QUESTION, ANSWER], state).ids == (1, 2, 3, 0)


# --- random loops ----------------------------------------------------------------------------------------------------

Words = st.sampled_from(["yes", "no", "perhaps", "it is so", "look there"])


@dataclass
class Session:
    """A client, and the desk of its session. Each of its requests is kept with its view and with the prompt that went
    upstream, dashboard included."""

    state: DeskState = field(default_factory=DeskState)
    numbers: Any = field(default_factory=lambda: count(1))
    at: float = NOW
    sent: list[tuple[tuple[Said, ...], tuple[bytes, ...]]] = field(default_factory=list)

    def ask(self, said: Sequence[Said], board: str) -> None:
        """A request: its messages get lines, and its last one a dashboard if it has none."""
        self.at += 1
        view = seen(said, self.state)
        new = [link for link in view.chain if link not in self.state.lines]
        first = self.state.last + 1
        lines = tuple(TapeLine(at, link, self.at, "", 1) for at, link in enumerate(new, start=first))
        self.state = after(self.state, DeskNews((), lines))
        prompt = list(view.messages)
        if board and view.chain[-1] in new:
            prompt[-1] = with_board(prompt[-1], board)
            self.keep(Board(view.chain[-1], board, "high", ""))
        self.sent.append((tuple(said), tuple(each.raw for each in prompt)))

    def keep(self, payload: Payload) -> None:
        event = DeskEvent(self.at, "r", payload, self.state.event + 1)
        self.state = after(self.state, DeskNews((event,)))


def _answered(session: Session, said: Sequence[Said], data: st.DataObject) -> Said:
    """The answer as the client gets it, after hidden rounds."""
    rounds = data.draw(st.integers(0, 2))
    before: list[Said] = []
    for _ in range(rounds):
        call = f"h{next(session.numbers):08}"
        before += [ours(call, reasoning_content="thought"), result(call, data.draw(Words))]
    kind = data.draw(st.sampled_from(["text", "theirs", "both"]))
    text = data.draw(Words)
    answer: Said = assistant(text, reasoning_content="thought")
    instead: Said | None = answer if before else None
    beside: list[Said] = []
    if kind != "text":
        calls = [f"c{next(session.numbers):08}" for _ in range(data.draw(st.integers(1, 2)))]
        answer = ours(*calls, content=text, reasoning_content="thought")
        instead = answer if before else None
        if kind == "both":
            call = f"h{next(session.numbers):08}"
            instead = ours(call, *calls, content=text, reasoning_content="thought")
            beside = [result(call, "kept")]
    if before or beside:
        link = chain_of(SCOPE, messages(*said))[-1]
        session.keep(hidden(link, answer, before=before, instead=instead, after=beside))
    return answer


def _sent_back(answer: Said, data: st.DataObject) -> Said:
    """The answer as the client sends it back."""
    how = data.draw(st.sampled_from(["same", "same", "rewritten", "bare"]))
    if how == "rewritten" and answer.get("content"):
        return {**answer, "content": f"{answer['content']}!"}
    if how == "bare" and not answer.get("tool_calls"):
        return {name: value for name, value in answer.items() if name != "reasoning_content"}
    return answer


def _loop(data: st.DataObject) -> Session:
    session = Session()
    said: list[Said] = [system("be brief"), user("begin")]
    pasts: list[list[Said]] = [list(said)]
    for _ in range(data.draw(st.integers(1, 8))):
        session.ask(said, data.draw(st.sampled_from(["", "", "full", "fuller"])))
        answer = _answered(session, said, data)
        what = data.draw(st.sampled_from(["go on", "go on", "go on", "again", "back", "drop"]))
        if what == "again":
            continue
        if what == "back":
            said = list(data.draw(st.sampled_from(pasts)))
            continue
        said = [*said, _sent_back(answer, data)]
        if calls := answer.get("tool_calls"):
            said += [result(call["id"], data.draw(Words)) for call in calls]
        else:
            said.append(user(data.draw(Words)))
        if what == "drop" and (asked := [at for at, each in enumerate(said) if each["role"] == "user"])[-1] > 1:
            said = [said[0], *said[data.draw(st.sampled_from(asked)) :]]
        pasts.append(list(said))
    session.ask(said, "")
    return session


@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_a_later_view_begins_with_every_earlier_one_that_it_continues(data: st.DataObject) -> None:
    session = _loop(data)
    for said, prompt in session.sent:
        for later, others in session.sent:
            if len(later) > len(said) and later[: len(said)] == said:
                now = tuple(each.raw for each in seen(later, session.state).messages)
                assert now[: len(prompt)] == prompt
                assert now == others or now[:-1] == others[:-1]


@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data(), st.sampled_from(sorted(DIALECTS)))
def test_a_view_is_in_order_wherever_the_clients_messages_are(data: st.DataObject, dialect: str) -> None:
    session = _loop(data)
    for said, _ in session.sent:
        own: tuple[Message, ...] = messages(*said)
        if not violations(own, DIALECTS[dialect]):
            found = violations(seen(said, session.state).messages, DIALECTS[dialect])
            assert not found


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_the_clients_messages_stand_in_a_view_in_their_order_with_their_links(data: st.DataObject) -> None:
    session = _loop(data)
    for said, _ in session.sent:
        view = seen(said, session.state)
        assert tuple(view.chain[at] for at in view.own) == chain_of(SCOPE, messages(*said))
        assert sorted((*view.own, *view.hidden)) == list(range(len(view.messages)))
        assert len(set(view.chain)) == len(view.chain)
        lengths = {len(view.messages), len(view.chain), len(view.keys), len(view.ids), len(view.ours)}
        assert len(lengths) == 1


def test_bytes_of_another_api_are_for_that_alone() -> None:
    spans = (b'{"type":"tool_use","id":"h1","name":"remember","input":{}}', b"", b"")
    state = knowing(msgspec.structs.replace(exchange(), spans=spans, api="messages"))
    made = messages(QUESTION, ANSWER, user("and?"))
    found = {
        api: viewed(made, chain_of(SCOPE, made), state, counter().known, api).messages[1].span
        for api in ("chat", "messages", "responses")
    }
    assert found == {"chat": b"", "messages": spans[0], "responses": b""}
