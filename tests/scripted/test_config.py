from hypothesis import given
from hypothesis import strategies as st

from proxy.demo.app import THINKING_MODELS
from tests.scripted.config import ScriptedConfig, four_bytes_a_token


@given(st.text(max_size=200))
def test_the_estimate_is_a_token_for_every_four_bytes_begun(text: str) -> None:
    assert len(four_bytes_a_token(text)) == -(-len(text.encode()) // 4)


@given(st.text(max_size=50), st.text(max_size=50))
def test_equal_beginnings_have_equal_tokens(start: str, rest: str) -> None:
    whole = len(start.encode()) // 4
    assert list(four_bytes_a_token(start + rest))[:whole] == list(four_bytes_a_token(start))[:whole]


def test_lone_surrogates_are_counted_and_not_refused() -> None:
    assert len(four_bytes_a_token("\ud800")) == 1


def test_every_model_that_thinks_is_offered() -> None:
    assert set(ScriptedConfig().models) >= THINKING_MODELS
