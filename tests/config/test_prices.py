"""What models cost, where the configuration is silent."""

import pytest

from proxy.config.prices import KIMI_PRICES, UNPRICED


@pytest.mark.parametrize("model", KIMI_PRICES)
def test_a_cached_token_costs_a_part_of_a_new_one(model: str) -> None:
    price = KIMI_PRICES[model]
    assert 0 < price.cached < price.input <= price.write < price.output
    assert price.cached / price.input <= UNPRICED
