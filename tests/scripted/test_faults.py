import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scripted.faults import FRAMINGS, NAMES, Fault, FaultCounter, parse, reframe

EVENT = b'data: {"id":"x","n":1}\n\n'


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("429", Fault("429")),
        ("429x2", Fault("429", times=2)),
        ("429=0.25x2", Fault("429", 0.25, 2)),
        ("slow-first-byte=3", Fault("slow-first-byte", 3.0)),
        (" cut=3 ", Fault("cut", 3.0)),
        ("error-eventx1", Fault("error-event", times=1)),
        ("oversized=1000000", Fault("oversized", 1_000_000.0)),
    ],
)
def test_a_spec_names_a_fault_its_value_and_how_often(spec: str, fault: Fault) -> None:
    assert parse(spec) == fault


@pytest.mark.parametrize("spec", ["", "418", "explode", "429y2", "cut=", "cut=x", "x2", "cut=1=2"])
def test_anything_else_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match="no such fault"):
        parse(spec)


@given(st.sampled_from(sorted(NAMES)), st.none() | st.integers(0, 99), st.none() | st.integers(1, 99))
def test_every_name_can_be_written_with_every_value(name: str, value: int | None, times: int | None) -> None:
    spec = name + (f"={value}" if value is not None else "") + (f"x{times}" if times is not None else "")
    assert parse(spec) == Fault(name, value, times)


def test_the_first_attempts_fail_each_key_for_itself_and_all_are_counted() -> None:
    counter = FaultCounter()
    attempts = [counter.next("503x2", key) is not None for key in ("a", "a", "b", "a", "b", "b")]
    assert attempts == [True, True, True, False, True, False]
    assert counter.happened == {"503": 4}
    assert counter.next("", "a") is None
    counter.clear()
    assert counter.next("503x2", "a") is not None


@pytest.mark.parametrize(
    ("framing", "written"),
    [
        ("crlf", b'data: {"id":"x","n":1}\r\n\r\n'),
        ("no-space", b'data:{"id":"x","n":1}\n\n'),
        ("multiline", b'data: {\ndata: "id":"x","n":1}\n\n'),
        ("comments", b': keep-alive\n\ndata: {"id":"x","n":1}\n: between\nretry: 3000\n\n'),
        ("odd", b': keep-alive\r\n\r\ndata:{\r\ndata:"id":"x","n":1}\r\n: between\r\nretry: 3000\r\n\r\n'),
        ("split", EVENT),
    ],
)
def test_the_same_event_in_other_words(framing: str, written: bytes) -> None:
    assert framing in FRAMINGS
    assert reframe(EVENT, framing) == written
