"""Events that were added up are told at every look, once."""

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Histogram

from proxy.observe.tally import Tally

BOUNDS = (0.5, 1.0, 2.0)


class Book:
    """A tally with a counter and a histogram of each kind, and the same that count every event at once."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.tally = Tally(self.registry, lambda metric, *labels: metric.labels(*labels))
        self.plain = Counter("plain", "-", registry=self.registry)
        self.labelled = Counter("labelled", "-", ["kind"], registry=self.registry)
        self.seconds = Histogram("seconds", "-", ["kind"], registry=self.registry, buckets=BOUNDS)
        self.sizes = Histogram("sizes", "-", registry=self.registry, buckets=BOUNDS)

    def value(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, labels)


def test_counts_are_there_at_every_look() -> None:
    book = Book()
    for _ in range(2):
        book.tally.add(book.plain, 1)
        book.tally.add(book.labelled, 3, "a")
        book.tally.add(book.labelled, 0.5, "b")
        book.registry.get_sample_value("plain_total")
    assert book.value("plain_total") == 2
    assert book.value("labelled_total", kind="a") == 6
    assert book.value("labelled_total", kind="b") == 1


@given(st.lists(st.floats(0, 4)))
def test_observations_fall_where_the_client_would_put_them(values: list[float]) -> None:
    book, at_once = Book(), Histogram("seconds", "-", registry=(registry := CollectorRegistry()), buckets=BOUNDS)
    for value in values:
        book.tally.observe(book.seconds, value, "a")
        book.tally.observe(book.sizes, value)
        at_once.observe(value)
    if not values:
        return
    for bound in ("0.5", "1.0", "2.0", "+Inf"):
        expected = registry.get_sample_value("seconds_bucket", {"le": bound})
        assert book.value("seconds_bucket", kind="a", le=bound) == expected
        assert book.value("sizes_bucket", le=bound) == expected
    assert abs((book.value("seconds_sum", kind="a") or 0) - sum(values)) < 1e-6


def test_no_thread_loses_an_event() -> None:
    book = Book()

    def count() -> None:
        for number in range(2_000):
            book.tally.add(book.plain, 1)
            book.tally.observe(book.sizes, number % 3)
            if number % 100 == 0:
                book.tally.tell()

    with ThreadPoolExecutor(4) as threads:
        for each in [threads.submit(count) for _ in range(4)]:
            each.result()
    assert book.value("plain_total") == book.value("sizes_count") == 8_000
