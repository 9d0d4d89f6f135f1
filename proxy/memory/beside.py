"""Turns on a shelf that are not in the archive: they are read from files, found like all others, and replaced when the
files change. Nothing stores them.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from time import monotonic

from proxy.memory.shelf import Shelf
from proxy.types import ArchivedTurn, Utterance

EVERY = 10.0  # seconds between two looks at the files of a scope
AT_ONCE = 20  # messages that come or go while the shelf is locked


def is_due(shelf: Shelf) -> bool:
    """Tells whether it is time to look for turns beside the archive."""
    return monotonic() - shelf.beside_at >= EVERY


def knows(shelf: Shelf, link: bytes) -> bool:
    """Tells whether a message, or a forgotten value by its mark, is known: none with that link is to be put beside."""
    return link in shelf.forgotten or (link in shelf.index and link not in shelf.beside)


def place(shelf: Shelf, turns: Sequence[ArchivedTurn]) -> None:
    """Makes these the turns that are beside the archive, in a worker thread: those that are there and not among them
    go. Refused is what was forgotten, and what a wipe covers."""
    wanted = {said.link: _digest(turn, said) for turn in turns for said in turn.utterances}
    gone = [link for link, digest in tuple(shelf.beside.items()) if wanted.get(link) != digest]
    for start in range(0, len(gone), AT_ONCE):
        with shelf.lock:
            shelf.leave_beside(gone[start : start + AT_ONCE])
    for turn in turns:
        with shelf.lock:
            shelf.settle()
            new = tuple(said for said in turn.utterances if said.link not in shelf.index and said.text.strip())
            if new and shelf.may_keep(turn):
                left = replace(turn, link=new[-1].link, utterances=new)
                shelf.index.add(left)
                shelf.owed[left.link] = left
                shelf.beside.update((said.link, wanted[said.link]) for said in new)


def _digest(turn: ArchivedTurn, said: Utterance) -> bytes:
    told = f"{turn.session}\0{turn.number}\0{turn.at}\0{said.role}\0{said.text}"
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).digest()
