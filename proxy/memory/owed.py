"""The turns of a scope that have no vectors yet. Those of a stored shelf are made from the index when one is used: most
never are.
"""

from collections.abc import Iterable, Iterator, MutableMapping, Sequence

from proxy.memory.turn_index import TurnIndex
from proxy.types import ArchivedTurn, Utterance


class Owed(MutableMapping[bytes, ArchivedTurn]):
    """Turns by link, in the order they came; and by the links of their messages."""

    def __init__(self, index: TurnIndex | None = None, packed: Sequence[tuple[bytes, list[bytes]]] = ()) -> None:
        """`packed`: links of turns, each with those of its messages, which `index` has if they are still there."""
        self._index = index
        here = {link: links for link, links in packed if index is not None and index.has_any(links)}
        self._turns: dict[bytes, ArchivedTurn | list[bytes]] = {**here}
        self._of = {each: link for link, links in here.items() for each in links}  # by link of a message

    def __getitem__(self, link: bytes) -> ArchivedTurn:
        found = self._turns[link]
        if isinstance(found, ArchivedTurn):
            return found
        assert self._index is not None
        said = [message for each in found if (message := self._index.find(each)) is not None]
        if not said:
            raise KeyError(link)  # forgotten, and about to leave
        utterances = tuple(Utterance(message.role, message.text, message.link) for message in said)
        # Its messages' bytes are in the archive alone.
        made = ArchivedTurn(link, b"", said[0].session, said[0].turn, said[0].at, b"", utterances)
        if link in self._turns:  # the event loop may just have removed it
            self._turns[link] = made
        return made

    def __setitem__(self, link: bytes, turn: ArchivedTurn) -> None:
        self._turns[link] = turn
        self._of.update((said.link, link) for said in turn.utterances)

    def __delitem__(self, link: bytes) -> None:
        for each in _links(self._turns.pop(link)):
            self._of.pop(each, None)

    def __contains__(self, link: object) -> bool:
        return link in self._turns

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._turns)

    def __len__(self) -> int:
        return len(self._turns)

    def saying(self, link: bytes) -> ArchivedTurn | None:
        """Returns the turn that has the message with this link; None if it is not among them."""
        turn = self._of.get(link)
        return None if turn is None else self.get(turn)

    def leave(self, links: Iterable[bytes]) -> None:
        """Removes the turns with these links, or with a message that has one."""
        for link in links:
            self.pop(self._of.get(link, link), None)

    def newest(self, most: int) -> list[ArchivedTurn]:
        """Returns the turns that came last, the newest first."""
        links = list(self._turns)[: -most - 1 : -1]  # in one step: the event loop may be removing one
        return [turn for link in links if (turn := self.get(link)) is not None]

    def packed(self) -> list[tuple[bytes, list[bytes]]]:
        """Returns the links of all turns, each with those of its messages."""
        return [(link, _links(turn)) for link, turn in list(self._turns.items())]


def _links(turn: ArchivedTurn | list[bytes]) -> list[bytes]:
    return [said.link for said in turn.utterances] if isinstance(turn, ArchivedTurn) else turn
