"""What the load sends goes on as a client would send it: the answers in a history are those that the upstream gave."""

from itertools import pairwise

import msgspec

from proxy.bench.bodies import TURNS, answer_to, asked, workload


def test_a_long_conversation_sends_back_the_answers_that_it_got() -> None:
    found = workload("long-en", requests=8, lanes=2, seed=1, stream=False)
    for lane, (first, *_) in zip(found.measured, found.warm_up, strict=True):
        for before, after in pairwise((first, *lane)):
            said = msgspec.json.decode(after)["messages"]
            assert said[-2] == {"role": "assistant", "content": answer_to(asked(before), "en")}
            assert said[:-2] == msgspec.json.decode(before)["messages"]
        assert len(msgspec.json.decode(first)["messages"]) == 2 * TURNS


def test_the_newest_question_is_found_whatever_is_recalled_beside_it() -> None:
    body = (
        b'{"messages":[{"role":"user","content":"<recalled>\\n1: Why (7-99)?\\n</recalled>\\nWhy (7-4)? How (7-5)?"}]}'
    )
    assert asked(body) == "7-5"
