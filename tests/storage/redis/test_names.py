import pytest

from proxy.storage.redis.names import Names

HERE, THERE = Names(b"s" * 32), Names(b"t" * 32)


def test_two_deployments_on_one_redis_never_meet() -> None:
    assert HERE.key("answer", "k") != THERE.key("answer", "k")
    assert HERE.news != THERE.news
    assert HERE.inbox("p") != THERE.inbox("p")


def test_the_processes_of_one_deployment_name_things_alike() -> None:
    again = Names(b"s" * 32)
    assert (again.key("answer", "k"), again.news, again.inbox("p")) == (
        HERE.key("answer", "k"),
        HERE.news,
        HERE.inbox("p"),
    )


def test_every_name_begins_with_that_of_its_deployment() -> None:
    for name in (HERE.key("stopped"), HERE.key("answer", "k"), HERE.news, HERE.inbox("p")):
        assert name.startswith(HERE.prefix)


@pytest.mark.parametrize(("one", "other"), [(("ab", "c"), ("a", "bc")), (("a",), ("a", "")), (("\ud800",), ("?",))])
def test_what_is_named_otherwise_has_another_key(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert HERE.key("k", *one) != HERE.key("k", *other)
