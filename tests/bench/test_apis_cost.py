"""A conversation through the Messages API of an upstream that bills as Anthropic does."""

import pytest

from tests.bench import apis_cost
from tests.bench.apis_cost import EXACT, WHOLE, WORST
from tests.bench.context_data import Conversation

# With long instructions, which a fold leaves as they are.
MESSAGES = [{"role": "system", "content": "Be brief, and kind to everybody who asks you something. " * 60}]
for _number in range(24):
    MESSAGES += [
        {"role": "user", "content": f"What of thing {_number}? " + f"I have seen {_number} of them. " * 12},
        {"role": "assistant", "content": f"Thing {_number} is well. " + f"It has {_number} parts. " * 12},
    ]
TALK = Conversation("talk", "talk", "en", tuple(MESSAGES))


@pytest.mark.parametrize("way", [way for way in apis_cost.WAYS if way.is_anthropic], ids=lambda way: way.marks)
def test_a_managed_conversation_is_never_dearer_and_the_ledger_tells_the_bill_to_the_cent(
    way: apis_cost.Way,
) -> None:
    with apis_cost.proxied(way) as (upstream, http):
        course = apis_cost.played(way, TALK, upstream, http)
        assert course.managed > 5
        assert upstream.refused == 0
        assert course.whole <= WHOLE
        assert course.worst <= WORST
        assert apis_cost.told_by_the_ledger(http) == pytest.approx(upstream.dollars, abs=EXACT)
