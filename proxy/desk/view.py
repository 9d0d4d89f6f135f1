"""The view of a request: the client's messages, with what the client never saw put back where it was.

Hidden exchanges stand between a request's last message and its answer, in place of that answer and behind it;
dashboards stand in the message that they were sent with. What was put back once is put back in every later request, by
the same bytes: a later request's view begins with an earlier one's.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from proxy.desk.planned import View
from proxy.desk.state import DeskState, HiddenExchange, key_of
from proxy.protocol.chains import links_after
from proxy.protocol.message import prefixed, suffixed
from proxy.types import ApiName, Message

Count: TypeAlias = Callable[[Message, bytes], int]  # tokens of a message, remembered by a key

CARRIERS = ("user", "tool", "function")  # roles of messages in which a dashboard may stand


def viewed(
    messages: Sequence[Message], chain: Sequence[bytes], state: DeskState, count: Count, api: ApiName = "chat"
) -> View:
    """Returns the view of the client's `messages`, whose links are `chain`, in an API."""
    made = _View(state, count)
    for index, (said, link) in enumerate(zip(messages, chain, strict=True)):
        exchange = _exchange(said, link, state, chain[index - 1]) if index else None
        if exchange is not None:
            exchange = exchange.within(api)
            made.hide(exchange.before, exchange.links, exchange.keys)
        made.take(said, link, instead=exchange.instead if exchange is not None else None)
        if exchange is not None:
            links = links_after(link, exchange.after)
            made.hide(exchange.after, links, tuple(map(key_of, links, exchange.after)))
    return made.whole()


def with_board(said: Message, text: str) -> Message:
    """Returns the message with a dashboard: before a user's text, behind any other."""
    return prefixed(said, text) if said.role == "user" else suffixed(said, text)


def numbered(view: View, state: DeskState) -> tuple[int, ...]:
    """Returns the ids of a view's messages; 0 for those that have none."""
    return tuple([line.id if (line := state.lines.get(link)) is not None else 0 for link in view.chain])


class _View:
    """A view in the making."""

    def __init__(self, state: DeskState, count: Count) -> None:
        self._state, self._count = state, count
        self._messages: list[Message] = []
        self._chain: list[bytes] = []
        self._keys: list[bytes] = []
        self._ours: list[int] = []
        self._own: list[int] = []
        self._hidden: list[int] = []

    def take(self, own: Message, link: bytes, *, instead: Message | None) -> None:
        """Adds a message of the client's, as the upstream gets it."""
        said = own if instead is None else instead
        if (board := self._state.boards.get(link)) is not None and said.role in CARRIERS:
            said = with_board(said, board.text)
        self._own.append(len(self._messages))
        if said is own:
            self._add(said, link, link, 0)
            return
        key = key_of(link, said)
        self._add(said, link, key, max(0, self._count(said, key) - self._count(own, link)))

    def hide(self, messages: Sequence[Message], links: Sequence[bytes], keys: Sequence[bytes]) -> None:
        """Adds messages that the client never saw."""
        for said, link, key in zip(messages, links, keys, strict=True):
            self._hidden.append(len(self._messages))
            self._add(said, link, key, self._count(said, key))

    def _add(self, said: Message, link: bytes, key: bytes, ours: int) -> None:
        self._messages.append(said)
        self._chain.append(link)
        self._keys.append(key)
        self._ours.append(ours)

    def whole(self) -> View:
        view = View(
            messages=tuple(self._messages),
            chain=tuple(self._chain),
            keys=tuple(self._keys),
            hidden=frozenset(self._hidden),
            own=tuple(self._own),
            ours=tuple(self._ours),
        )
        return replace(view, ids=numbered(view, self._state))


def _exchange(said: Message, link: bytes, state: DeskState, before: bytes) -> HiddenExchange | None:
    """Returns what the client did not see of this answer to the message with the link `before`."""
    known = state.hidden.get(before, ())
    if not known or said.role != "assistant":
        return None
    calls = tuple(call.id for call in said.tool_calls)
    fits: Sequence[Callable[[HiddenExchange], bool]] = (
        lambda each: each.answer == link,
        lambda each: bool(calls) and each.calls == calls,
        lambda each: not calls and not each.calls and _has_words_of(said, each.instead),
    )
    candidates = _until(known, link, state)
    return next((each for fit in fits for each in reversed(candidates) if fit(each)), None)


def _until(known: Sequence[HiddenExchange], link: bytes, state: DeskState) -> Sequence[HiddenExchange]:
    """Returns the exchanges that are older than the first request that had this answer. A client may have the answer
    made anew, with another exchange, and go on with the old one: then the old one's stays, as it was sent. An exchange
    has the time of its own request, so clocks of two machines may differ by as long as an answer takes."""
    line = state.lines.get(link)
    return known if line is None else [each for each in known if each.at <= line.at]


def _has_words_of(said: Message, given: Message | None) -> bool:
    """Tells whether an answer that a client has rewritten is the one that it was given, more or less of it. What a
    person has written in its place is their word, and stays."""
    if given is None:
        return True
    own, theirs = (" ".join(each.text.split()) for each in (said, given))
    return bool(own) and bool(theirs) and (own in theirs or theirs in own)
