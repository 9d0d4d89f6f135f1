"""What models cost, where the configuration is silent."""

from collections.abc import Mapping
from types import MappingProxyType

from proxy.types import Price

# Of the input price, for a token that the prefix cache held, where no price says more: .02 to .5 by provider and model.
UNPRICED = 0.25

# US dollars per million tokens, Moonshot's list prices. Used for the dialect `kimi` unless the file names a price.
KIMI_PRICES: Mapping[str, Price] = MappingProxyType(
    {
        "kimi-k3.1-pro": Price(input=3.00, cached=0.30, write=3.00, output=15.00),
        "kimi-k3": Price(input=3.00, cached=0.30, write=3.00, output=15.00),
        "kimi-k2.7-code": Price(input=0.95, cached=0.19, write=0.95, output=4.00),
        "kimi-k2.7-code-highspeed": Price(input=1.90, cached=0.38, write=1.90, output=8.00),
        "kimi-k2.6": Price(input=0.95, cached=0.16, write=0.95, output=4.00),
    }
)
