import pytest

from proxy.memory.agreeing import Pairs
from proxy.memory.claim_order import turned
from proxy.memory.claims import claim


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("works at Ikea", "works at Ikea", ""),
        ("moved from Lima to Quito", "moved from Quito to Lima", "direction"),
        ("is divorced", "is divorcing", "tense"),
        ("prefers tea to coffee", "prefers coffee to tea", "comparison"),
    ],
)
def test_the_same_words_in_another_order_may_say_something_else(one: str, other: str, reason: str) -> None:
    first, second = claim(one, "en"), claim(other, "en")
    pairs: Pairs = [(here, there, "root") for here in first.terms for there in second.terms if here.root == there.root]
    assert turned(first, second, pairs) == reason
