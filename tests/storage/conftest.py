import pytest

from proxy.types import LedgerRow


@pytest.fixture
def row() -> LedgerRow:
    return LedgerRow(
        request_id="r1",
        at=1000.0,
        scope="a/",
        session="s",
        model="m",
        upstream="u",
        source="upstream",
        status=200,
        outcome="complete",
        stream=False,
        plan="untouched",
        plan_reason="",
        reuse_reason="off",
        tokens_original=1,
        tokens_sent=1,
        tokens_cached=0,
        tokens_billed=1,
        tokens_completion=1,
        measured=True,
        cost=0.0,
        cost_saved=0.0,
        total_seconds=0.1,
        upstream_seconds=0.1,
    )
