"""What a process knows of erasures: whom it drops, and which writes it refuses."""

from contextvars import ContextVar

import pytest

from proxy.storage.erasures import Erasures, base_of, mark_of, of_base
from proxy.storage.pending import TURNS, Write

ANA, BETO = "t/ana", "t/beto"


def nothing(_connection: object, _what: object) -> None: ...


def write(scope: str, begun: int | None) -> Write:
    return Write(1, nothing, kind=TURNS, scope=scope, begun=begun)


@pytest.fixture
def begun() -> ContextVar[int | None]:
    return ContextVar("begun of a test", default=None)


def test_a_conversation_of_an_unnamed_person_belongs_to_their_scope() -> None:
    assert base_of("t/~c-1") == "t/"
    assert mark_of("t/~c-1") == mark_of("t/")
    assert of_base(["t/", "t/~c-1", ANA], "t/") == ["t/", "t/~c-1"]


def test_a_mark_says_no_name() -> None:
    assert b"ana" not in mark_of(ANA)
    assert mark_of(ANA) != mark_of(BETO)


@pytest.mark.parametrize(
    ("scope", "began", "is_allowed"),
    [
        (ANA, 6, False),  # before the erasure
        (ANA, 7, True),  # after it
        (f"{ANA}~c-1", 6, False),
        (BETO, 6, True),
        ("", 6, True),  # nobody's
        (ANA, None, True),
    ],
)
@pytest.mark.parametrize("is_learnt", [True, False])
def test_what_was_said_before_an_erasure_is_refused(
    scope: str, began: int | None, is_allowed: bool, is_learnt: bool
) -> None:
    erasures, found = Erasures(), [(7, mark_of(ANA))]
    if is_learnt:
        erasures.learn(found)
    queued = [write(scope, began)]
    assert erasures.allowed(queued, () if is_learnt else found) == (queued if is_allowed else [])


def test_an_erased_scope_is_dropped_once_before_it_is_used() -> None:
    erasures = Erasures()
    dropped: list[str] = []
    erasures.on_erased(dropped.append)
    assert not erasures.settle(ANA)
    erasures.learn([(7, mark_of(ANA))])
    assert not erasures.settle(BETO)
    assert erasures.settle(f"{ANA}~c-1")
    assert not erasures.settle(ANA)
    erasures.learn([(9, mark_of(ANA))])
    assert erasures.settle(ANA)
    assert dropped == [ANA, ANA]


def test_a_request_is_over_when_its_scope_was_erased_since_it_began(begun: ContextVar[int | None]) -> None:
    erasures = Erasures(begun)
    erasures.start(5)
    erasures.begin()
    assert not erasures.is_over(ANA)
    erasures.learn([(6, mark_of(ANA))])
    assert erasures.is_over(ANA)
    assert not erasures.is_over(BETO)
    erasures.begin()  # it has begun
    assert erasures.is_over(ANA)
    begun.set(None)  # the next request
    erasures.begin()
    assert not erasures.is_over(ANA)
