"""The small model of the demonstration that helps memory."""

import msgspec
import pytest

from proxy.curation.answers import read
from proxy.demo.remembering import answer, written

CONVERSATION = """<facts>
f1 | work | trabajo | Da clases de yoga
</facts>

<conversation>
[1] user: Ceno con mi hijo Bruno, que tiene cuatro años
[1] assistant: salgo de dar clases de yoga
[2] user: salgo de dar clases de yoga,
    y me quedo con ese menú
</conversation>"""


def test_it_proposes_what_a_user_message_says_and_is_not_known() -> None:
    told = read(answer(CONVERSATION).encode())
    assert not isinstance(told, str)
    (operation,) = told.operations
    assert operation is not None
    assert (operation.op, operation.turn, operation.value) == ("add", 1, "Tiene un hijo de cuatro años, Bruno")
    assert [each.turn for each in told.events if each] == [2]


def test_facts_that_are_one_are_merged_and_entries_are_a_digest() -> None:
    one, other = written()["same"][0]["values"]
    told = msgspec.json.decode(answer(f"<facts>\nf1 | a | b | {one}\nf2 | a | c | {other}\n</facts>")[8:-4])
    assert told["operations"][0]["ids"] == ["f1", "f2"]
    told = msgspec.json.decode(answer('<entries of="day">\n- One\n- Two\n</entries>')[8:-4])
    assert told["digest"] == "One. Two."


@pytest.mark.parametrize("each", [*written()["facts"], *written()["events"]], ids=lambda each: each["quote"])
def test_each_quotation_is_in_what_is_said(each: dict[str, str]) -> None:
    said = [turn["user"] for conversation in written()["conversations"] for turn in conversation["turns"]]
    assert any(each["quote"] in text for text in said)
