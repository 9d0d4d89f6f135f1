"""What of the conversation the upstream shall see. For now: all of it, counted."""

from concurrent.futures import Executor

from proxy.offload import Offload
from proxy.tokens import Calibration, RoughCounter, TokenCounter
from proxy.types import ChatRequest, Identity, Plan

_rough = RoughCounter()

# Nobody needs to know within a few per cent what a larger request costs, and its tokens take seconds to count: half a
# second a MiB, if it is made for that.
MOST_COUNTED = 2 * 2**20


async def plan(
    request: ChatRequest,
    identity: Identity,
    *,
    upstream: str,
    counter: TokenCounter,
    calibration: Calibration,
    executor: Executor,
) -> Plan:
    """The request as it is, with the tokens it is expected to cost at this upstream."""
    size = len(request.raw)
    rough = await Offload(executor, size)(lambda: _rough.request(request))
    factor = calibration.factor(upstream, request.model)
    if factor is None and size <= MOST_COUNTED:
        tokens = await counter.request(request, identity.chain, executor)
    else:
        tokens = round(rough * (factor or 1.0))
    return Plan("untouched", tokens_original=tokens, tokens_sent=tokens, rough=rough)
