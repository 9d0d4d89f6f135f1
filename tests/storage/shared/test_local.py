"""Wrong admin tokens are remembered up to a bound."""

from proxy.storage.shared.local import MOST_ADDRESSES, MOST_WRONG, WRONG_SECONDS, LocalThrottle
from tests.builders import NOW


async def test_addresses_that_guess_are_remembered_up_to_a_bound_the_latest_ones() -> None:
    throttle = LocalThrottle()
    for address in range(MOST_ADDRESSES + 1):
        for _ in range(MOST_WRONG):
            await throttle.note(str(address), NOW)
    assert await throttle.wait("0", NOW) == 0.0
    assert await throttle.wait("1", NOW) == await throttle.wait(str(MOST_ADDRESSES), NOW) == WRONG_SECONDS
