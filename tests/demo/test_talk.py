"""The long conversation: written by hand, so what a slip of the pen would spoil is held here."""

from itertools import combinations

from proxy.demo.chat import Chat
from proxy.demo.config import DemoConfig
from proxy.demo.conversation import SYSTEM, Ask
from proxy.demo.talk import answers, read, talk
from tests.demo.test_conversation import answered

_FEW = 7  # words in a row that two answers may share


def test_a_record_is_a_turn_and_a_line_may_go_on() -> None:
    assert list(read("> One\nand two.\n< Yes.\n\n> How much?\n= 200\n~ 100\n")) == [
        Ask("One\nand two.", answer="Yes."),
        Ask("How much?", expects="200", outdated="100"),
    ]


def test_every_turn_is_answered_or_asks_for_what_was_said_and_none_comes_twice() -> None:
    assert len({ask.text for ask in talk()}) == len(talk()) == 200
    assert all(bool(ask.answer) != bool(ask.expects) for ask in talk())
    assert len(set(answers().values())) == len(answers())


def test_no_two_answers_share_a_sentence() -> None:
    runs = []
    for answer in answers().values():
        words = answer.lower().split()
        runs.append({tuple(words[at : at + _FEW]) for at in range(len(words) - _FEW + 1)})
    assert not any(one & other for one, other in combinations(runs, 2))


def test_with_the_whole_history_everything_that_was_told_is_remembered() -> None:
    chat, lost = Chat(DemoConfig()), []
    history = [{"role": "system", "content": SYSTEM}]
    for ask in talk():
        history.append({"role": "user", "content": ask.text})
        message = answered(chat, history)
        history.append({"role": "assistant", "content": message["content"]})
        if ask.expects not in message["content"] or (ask.outdated and ask.outdated in message["content"]):
            lost.append(ask.text)
    assert lost == []
