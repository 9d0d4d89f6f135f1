"""The view of an index that one request has: the messages of its own path in the order they were said, optionally after
those of other sessions, with their passages; and arithmetic on arrays with one item a message, or a passage."""

from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from proxy.memory.columns import Flags, Floats, Ints

Item = TypeVar("Item", np.float32, np.bool_)


@dataclass(frozen=True, slots=True)
class View:
    """The messages in the order they were said, conversation by conversation, and their passages: arrays with one item
    per message or per passage."""

    messages: Ints  # their numbers in the index
    passages: Ints  # numbers of their passages in the index
    message_of: Ints  # position in `messages` of every passage
    first: Ints  # position in `passages` of the first one of every message
    begins: Flags  # the message is the first of its conversation
    is_user: Flags
    asks: Floats  # share of short questions in a user's message, 0 to 1; for an answer, that of the message before
    concrete: Floats  # score for figures and names, 0 to 1
    tokens: Ints  # of a message, by `estimate`
    at: Ints  # position of a message in the path; -1: it is another session's

    @property
    def is_even(self) -> bool:
        """Tells whether every message is one passage."""
        return len(self.messages) == len(self.passages)

    @property
    def nbytes(self) -> int:
        """Returns the size of the arrays, in bytes."""
        return sum(getattr(self, name).nbytes for name in _ARRAYS)


_ARRAYS = tuple(field.name for field in fields(View))


def joined(one: View, other: View, *, goes_on: bool) -> View:
    """Concatenates two views. `goes_on`: `other` continues the last conversation of `one`."""
    if not len(one.messages):
        return other
    both = {name: np.concatenate((getattr(one, name), getattr(other, name))) for name in _ARRAYS}
    both["message_of"][len(one.passages) :] += len(one.messages)
    both["first"][len(one.messages) :] += len(one.passages)
    if goes_on:
        both["begins"][len(one.messages) : len(one.messages) + 1] = False
    return View(**both)


# --- arrays of one item a message, or a passage ----------------------------------------------------------------------


def best(by_passage: Floats, view: View) -> Floats:
    """Returns the maximum over the passages of every message."""
    return by_passage if view.is_even else np.maximum.reduceat(by_passage, view.first)


def total(by_passage: Floats, view: View) -> Floats:
    """Returns the sum over the passages of every message; of each row, if there are several."""
    return by_passage if view.is_even else np.add.reduceat(by_passage, view.first, axis=-1)


def spread(by_message: npt.NDArray[Item], view: View) -> npt.NDArray[Item]:
    """Repeats the value of every message for each of its passages; in each row, if there are several."""
    return by_message if view.is_even else by_message[..., view.message_of]


def beside(by_message: Floats, view: View) -> Floats:
    """Returns, for every message, the values of the one before (first row) and the one after; 0 where there is none.
    `by_message` may have several rows."""
    found = np.zeros((2, *by_message.shape), dtype=np.float32)
    found[0, ..., 1:], found[1, ..., :-1] = by_message[..., :-1], by_message[..., 1:]
    begins = np.flatnonzero(view.begins)
    found[0][..., begins] = 0
    found[1][..., begins - 1] = 0  # -1 is the last one: it has none after it
    return found
