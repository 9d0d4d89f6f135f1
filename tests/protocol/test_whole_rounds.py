"""Answers that are not streamed, spliced: the last one's body, with what the others have said, and nothing of ours."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.rounds import Whose
from proxy.protocol.whole_rounds import WholeRound, WholeSplice
from proxy.types import ToolCall
from tests.spoken import Called, Spoken, joined, numbered

OURS = frozenset({"remember", "recall_original"})


def answers(call: ToolCall) -> bool:
    return call.name in OURS or call.arguments == '{"known":1}'


WHOSE = Whose(OURS | {"get_time"}, frozenset({"get_time", "look"}), answers)
REMEMBER = Called("remember", '{"key":"a"}')
LOOK = Called("look", '{"at":"x"}')
KNOWN = Called("get_time", '{"known":1}')
UNKNOWN = Called("get_time", '{"known":0}')


def play(*rounds: Spoken) -> tuple[WholeRound, bytes]:
    splice = WholeSplice()
    for spoken in rounds[:-1]:
        WholeRound(splice, WHOSE, spoken.body).end_round()
    last = WholeRound(splice, WHOSE, rounds[-1].body)
    return last, last.closing()


@pytest.mark.parametrize(
    "raw",
    [
        Spoken("Hi").body,
        Spoken("", (LOOK, UNKNOWN)).body,
        b'{ "choices" : [ {"message":{"content":"\\u00e9"},"finish_reason":"stop"} ], "x": 1.0e0 }\n',
    ],
)
def test_an_answer_without_a_call_of_ours_keeps_its_bytes(raw: bytes) -> None:
    round_ = WholeRound(WholeSplice(), WHOSE, raw)
    assert round_.closing() is raw
    assert round_.ours == ()


@pytest.mark.parametrize(
    ("calls", "ours"),
    [((REMEMBER,), (0,)), ((LOOK, REMEMBER), (1,)), ((KNOWN, UNKNOWN, REMEMBER, LOOK), (0, 2))],
)
def test_of_both_in_one_turn_the_client_gets_its_own(calls: tuple[Called, ...], ours: tuple[int, ...]) -> None:
    (spoken,) = numbered([Spoken("Well,", calls)])
    round_, body = play(spoken)
    said = msgspec.json.decode(body)["choices"][0]
    theirs = [call.json for at, call in enumerate(spoken.calls) if at not in ours]
    assert round_.ours == ours
    assert round_.has_theirs is bool(theirs)
    assert said["message"].get("tool_calls", []) == theirs
    assert said["finish_reason"] == ("tool_calls" if theirs else "stop")
    assert not any(spoken.calls[at].id.encode() in body for at in ours)


def test_everything_else_is_the_last_rounds() -> None:
    last = Spoken("It is 7.", usage={"prompt_tokens": 5, "completion_tokens": 1, "cost": 0.5, "kind": "x"}, id="last")
    first = Spoken("Let me see.", (REMEMBER,), reasoning="Hm.", usage={"prompt_tokens": 4, "cost": 0.25, "kind": "y"})
    _, body = play(first, last)
    assert msgspec.json.decode(body) == {
        **last.completion,
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "Let me see.\n\nIt is 7.",
                    "reasoning_content": "Hm.",
                },
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "cost": 0.75, "kind": "x"},
    }


def test_parts_of_a_content_are_put_behind_one_another() -> None:
    thought: Any = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "b"}]
    last = {"choices": [{"message": {"role": "assistant", "content": thought}, "finish_reason": "stop"}]}
    splice = WholeSplice()
    WholeRound(splice, WHOSE, Spoken("a", (REMEMBER,)).body).end_round()
    body = WholeRound(splice, WHOSE, msgspec.json.encode(last)).closing()
    said = msgspec.json.decode(body)["choices"][0]["message"]["content"]
    assert said == [{"type": "text", "text": "a"}, *thought]


@pytest.mark.parametrize("raw", [b"", b"[]", b"nonsense", b'"text"'])
def test_what_is_no_object_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        WholeRound(WholeSplice(), WHOSE, raw)


@pytest.mark.parametrize("raw", [b"{}", b'{"choices":[]}', b'{"error":{"message":"x"},"choices":[{"message":{}}]}'])
def test_what_is_no_answer_has_failed(raw: bytes) -> None:
    assert WholeRound(WholeSplice(), WHOSE, raw).failed


_texts = st.sampled_from(["", "Hello.", " a", "b "])
_spoken = st.builds(
    Spoken, _texts, st.lists(st.sampled_from([REMEMBER, KNOWN]), min_size=1, max_size=3).map(tuple), _texts
)


@given(st.lists(_spoken, max_size=3), st.builds(Spoken, _texts, st.just(()), _texts))
def test_texts_and_usage_add_up(hidden: list[Spoken], last: Spoken) -> None:
    rounds = numbered([*hidden, last])
    _, body = play(*rounds)
    answer = msgspec.json.decode(body)
    said = answer["choices"][0]["message"]
    assert (said["content"] or "") == joined([each.text for each in rounds])
    assert said.get("reasoning_content", "") == joined([each.reasoning for each in rounds])
    assert answer["usage"] == {"prompt_tokens": 10 * len(rounds), "completion_tokens": 3 * len(rounds)}
    assert not any(call.id.encode() in body for each in rounds for call in each.calls)
