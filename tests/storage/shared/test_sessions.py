"""What one process knows of sessions is bounded."""

from proxy.conversation.turns import open_turn
from proxy.storage.shared.learnt import MOST_SESSIONS, LocalLastServed, LocalOpenTurns
from proxy.types import ReuseEntry, Served
from tests.builders import NOW, calling, messages, user

# --- open turns -------------------------------------------------------------------------------------------------------


async def test_of_open_turns_the_newest_are_kept_as_far_as_there_is_room() -> None:
    turn = open_turn(messages(user("q"), calling("c")), [b"q", b"c"])
    assert turn is not None
    for held in (LocalOpenTurns(most=2), LocalOpenTurns(most_bytes=2 * turn.size)):
        for session in ("1", "2", "2", "3"):
            held.put("s", session, turn)
        assert [await held.get("s", session) for session in "123"] == [None, turn, turn]
        held.put("s", "2", None)
        held.put("s", "1", turn)
        assert [await held.get("s", session) for session in "123"] == [turn, None, turn]


# --- second thoughts --------------------------------------------------------------------------------------------------


async def test_of_too_many_sessions_those_served_longest_ago_are_forgotten() -> None:
    last, served = LocalLastServed(), Served(ReuseEntry("r-1", "p", "how?", (), "key", NOW, NOW + 60), 0.9, NOW)
    for number in range(MOST_SESSIONS):
        last.note("a/", str(number), served)
    last.note("a/", "0", served)
    last.note("a/", "one more", served)
    assert await last.take("a/", "1") is None
    assert [await last.take("a/", name) for name in ("0", "2", "one more")] == [served] * 3
