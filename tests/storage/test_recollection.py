from proxy.storage.recollection import links_of
from proxy.types import ArchivedTurn, Utterance


def test_a_turn_has_its_own_link_and_those_of_its_messages_once() -> None:
    said = (Utterance("user", "hi", b"u-1"), Utterance("assistant", "", b"t-1"))
    assert links_of(ArchivedTurn(b"t-1", b"", "s", 1, 10.0, b"[]", said)) == (b"t-1", b"u-1")
    assert links_of(ArchivedTurn(b"t-2", b"", "s", 2, 10.0, b"[]", ())) == (b"t-2",)
