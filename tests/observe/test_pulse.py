import asyncio
from time import perf_counter

from proxy.observe.pulse import Pulse

INTERVAL = 0.005
HELD_UP = 0.05


class Beats:
    def __init__(self) -> None:
        self.late: list[float] = []
        self.next: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __call__(self, late: float) -> None:
        self.late.append(late)
        heard, self.next = self.next, asyncio.get_running_loop().create_future()
        heard.set_result(None)


async def test_it_goes_on_until_it_is_stopped() -> None:
    beats = Beats()
    pulse = Pulse(beats, INTERVAL)
    pulse.start()
    for _ in range(3):
        await beats.next
    pulse.stop()
    pulse.stop()
    count = len(beats.late)
    await asyncio.sleep(3 * INTERVAL)
    assert len(beats.late) == count >= 3
    assert min(beats.late) >= 0


async def test_whatever_holds_the_loop_up_makes_it_late_by_as_much() -> None:
    beats = Beats()
    pulse = Pulse(beats, INTERVAL)
    pulse.start()
    until = perf_counter() + HELD_UP
    while perf_counter() < until:
        pass
    await beats.next
    pulse.stop()
    assert beats.late[0] >= HELD_UP - 2 * INTERVAL
