"""Records as Redis has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.storage.redis.records import Codec, Told, decode_news, encode_news
from proxy.types import StoredAnswer
from tests.builders import stored

CODEC = Codec(StoredAnswer)


@given(scope=st.text(st.characters(exclude_categories=["Cs"])), other=st.text(st.characters(exclude_categories=["Cs"])))
def test_a_record_is_its_own_scopes_alone(scope: str, other: str) -> None:
    packed = CODEC.pack(scope, stored())
    assert CODEC.unpack(scope, packed) == stored()
    assert CODEC.unpack(other, packed) == (stored() if other == scope else None)


@given(st.binary(max_size=60))
def test_what_is_no_record_is_absent(planted: bytes) -> None:
    assert CODEC.unpack("a", planted) is None
    assert decode_news(planted) is None or isinstance(decode_news(planted), Told)


@pytest.mark.parametrize("packed", [None, b"", Codec(int).pack("a", 1)])
def test_nor_is_one_of_another_kind(packed: bytes) -> None:
    assert CODEC.unpack("a", packed) is None


def test_news_come_as_they_were() -> None:
    assert decode_news(encode_news("p", "breaker", ("up", "failure"))) == Told("p", "breaker", ["up", "failure"])
