from proxy.context.counted import Counted


def test_a_text_is_counted_once() -> None:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text)

    counted = Counted(count)
    assert [counted(text) for text in ("boat", "", "boat", "", "harbour")] == [4, 0, 4, 0, 7]
    assert asked == ["boat", "", "harbour"]


def test_half_a_character_counts_as_any_other_text() -> None:
    assert Counted(len)("\ud83d") == 1


def test_it_holds_no_text_and_no_more_counts_than_it_may() -> None:
    counted = Counted(len, most=20)
    for number in range(100):
        assert counted(f"marigold {number}") == len(f"marigold {number}")
        assert len(vars(counted)["_known"]) <= 20
    assert "marigold" not in repr(vars(counted))
