"""Which passages of a long message are recalled."""

from proxy.memory.parts import needed
from proxy.memory.passages import spans

CODE = "```\n" + "\n".join(f"value_{at} = {at}" for at in range(100)) + "\n```"
TEXT = f"This is what I run every day.\n\n{CODE}\n\nIt is slow."


def cut(text: str, *matching: str) -> list[str]:
    found = spans(text, 60)
    matched = [any(word in text[start:end] for word in matching) for start, end in found]
    return [text[found[at][0] : found[at][1]] for at in sorted(needed(text, found, matched))]


def test_fences_are_left_out_and_what_stands_around_them_is_kept() -> None:
    kept = "\n".join(cut(TEXT))
    assert "every day" in kept
    assert "slow" in kept
    assert "value_50 " not in kept


def test_a_part_of_a_fence_that_matches_is_kept() -> None:
    kept = "\n".join(cut(TEXT, "value_50 "))
    assert "value_50 " in kept
    assert "value_80 " not in kept


def test_a_short_fence_is_kept() -> None:
    text = "I run this.\n\n```\nmake all\n```\n\nIt is slow."
    assert cut(text) == [text]


def test_a_fence_that_never_ends_goes_to_the_end() -> None:
    assert "value_50 " not in "\n".join(cut(TEXT.replace("\n```\n", "\n")))


def test_of_a_long_text_its_beginning_and_end_and_what_matches() -> None:
    text = "\n\n".join(f"Paragraph {at} of the report. " + "It goes on and on. " * 10 for at in range(10))
    kept = "\n".join(cut(text, "Paragraph 5"))
    assert [at for at in range(10) if f"Paragraph {at} " in kept] == [0, 5, 9]
