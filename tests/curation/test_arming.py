"""Jobs are armed a while after the last request, when turns leave the prompt, and when a conversation is ended by
name; rows, that survive the process."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from proxy.curation.arming import Arming
from proxy.types import Directives, Exchange, Fold, PathState, Plan, PromptTokens, ReuseMiss
from proxy.types.curation import Job
from proxy.types.desk import DeskPlan
from tests import stores
from tests.builders import NOW, chat, identity, incoming, user
from tests.curation.builders import SCOPE
from tests.curation.house import settings

IDLE = 600.0
STATE = PathState(3, NOW, 0, 0, 9, 9, 9, 9.0, 9.0)


class House:
    def __init__(self, *when: str) -> None:
        self.now = NOW
        self.store = stores.jobs()
        self.due = 0
        self.settings = settings(idle=IDLE, **({"when": when} if when else {}))
        self.arming = self.another()
        self.arming.on_due = self._on_due

    def another(self, *, has_desks: bool = True) -> Arming:
        """That of another process."""
        return Arming(self.settings, self.store, lambda: self.now, project="shop", has_desks=has_desks)

    def _on_due(self) -> None:
        self.due += 1

    async def armed(self) -> Sequence[Job]:
        return await self.store.jobs()

    async def conclusions(self) -> list[tuple[str, float]]:
        """Subjects, and the seconds until each is due."""
        return [(job.subject, job.due_at - self.now) for job in await self.armed() if job.kind == "conclude"]

    async def due_in(self) -> list[float]:
        return [job.due_at - self.now for job in await self.armed()]


@pytest.mark.note("Rumi Sesión/1", "Rumi ADR/3")
@pytest.mark.parametrize(
    ("why", "is_read"),
    [("header", True), ("api", True), ("clear", True), ("shutdown", True), ("idle", False)],
)
async def test_a_conversation_that_was_ended_by_name_is_read_at_once(why: str, is_read: bool) -> None:
    house = House()
    house.arming.heard(SCOPE, "s")
    await house.arming.ended(SCOPE, "s", why)
    assert await house.due_in() == [0.0 if is_read else IDLE]
    assert house.due == is_read


@pytest.mark.parametrize(("when", "due"), [(("idle",), [IDLE]), (("fold",), [0.0]), (("close",), [0.0])])
async def test_only_what_is_configured_arms(when: tuple[str, ...], due: list[float]) -> None:
    house = House(*when)
    for arm in (house.arming.heard, house.arming.folded):
        arm(SCOPE, "s")
    await house.arming.ended(SCOPE, "s", "api")
    assert await house.due_in() == due


async def test_each_request_puts_the_reading_off() -> None:
    house = House()
    house.arming.heard(SCOPE, "s")
    house.now += 100
    house.arming.heard(SCOPE, "s")
    assert await house.due_in() == [IDLE]


async def test_what_is_to_be_read_at_once_is_not_put_off_by_the_next_request() -> None:
    house = House()
    house.arming.folded(SCOPE, "s")
    house.now += 1
    house.arming.heard(SCOPE, "s")
    assert await house.due_in() == [-1.0]


@pytest.mark.note("Flush/1")
@pytest.mark.parametrize(
    ("fold", "due"),
    [(None, IDLE), (Fold(4, turn=2), IDLE), (Fold(4, turn=3), 0.0)],
    ids=["none", "before", "in this request"],
)
async def test_a_fold_is_that_of_the_request_that_made_it(fold: Fold | None, due: float) -> None:
    house, request = House(), chat(user("hi"))
    plan = Plan("managed", PromptTokens(9, 9), state=replace(STATE, fold=fold))
    exchange = Exchange(
        incoming(), request, identity(request, person="ana"), Directives(), ReuseMiss("absent"), plan, "up", started=0.0
    )
    house.arming.learnt(exchange)
    (job,) = await house.armed()
    assert (job.scope, job.kind, job.subject, job.due_at - NOW) == (SCOPE, "extract", "s", due)


# --- sessions at the desk ---------------------------------------------------------------------------------------------


def at_the_desk(project: str | None, *, has_desk: bool) -> Exchange:
    request = chat(user("hi"))
    plan = Plan("managed", PromptTokens(9, 9), state=STATE, desk=DeskPlan() if has_desk else None)
    told = Directives(project=project)
    return Exchange(
        incoming(), request, identity(request, person="ana"), told, ReuseMiss("absent"), plan, "up", started=0.0
    )


@pytest.mark.parametrize(
    ("project", "has_desk", "subjects"),
    [(None, True, ["shop/s"]), ("My Farm", True, ["my-farm/s"]), (None, False, [])],
)
async def test_a_session_is_concluded_where_it_has_a_desk(
    project: str | None, has_desk: bool, subjects: list[str]
) -> None:
    house = House()
    house.arming.learnt(at_the_desk(project, has_desk=has_desk))
    assert await house.conclusions() == [(subject, IDLE) for subject in subjects]


async def test_each_request_puts_the_conclusion_off_and_a_fold_is_no_end() -> None:
    house = House()
    house.arming.worked(SCOPE, "s", "")
    house.arming.folded(SCOPE, "s")
    house.now += 100
    house.arming.worked(SCOPE, "s", "")
    assert await house.conclusions() == [("/s", IDLE)]


@pytest.mark.parametrize(("why", "due"), [("api", 0.0), ("shutdown", 0.0), ("idle", IDLE)])
@pytest.mark.parametrize("is_another", [False, True])
async def test_a_session_that_was_ended_by_name_is_concluded_at_once_by_whichever_process(
    why: str, due: float, is_another: bool
) -> None:
    house = House()
    house.arming.worked(SCOPE, "s", "farm")
    house.arming.worked(SCOPE, "other", "")
    await (house.another() if is_another else house.arming).ended(SCOPE, "s", why)
    assert sorted(await house.conclusions()) == [("/other", IDLE), ("farm/s", due)]


@pytest.mark.parametrize(("when", "due"), [(("idle",), [IDLE]), (("fold",), []), (("close",), [0.0])])
async def test_a_session_is_concluded_only_when_that_is_configured(when: tuple[str, ...], due: list[float]) -> None:
    house = House(*when)
    house.arming.worked(SCOPE, "s", "")
    house.arming.folded(SCOPE, "s")
    await house.arming.ended(SCOPE, "s", "api")
    assert [seconds for _, seconds in await house.conclusions()] == due


async def test_a_session_without_a_desk_is_read_for_facts_alone() -> None:
    house = House()
    await house.arming.ended(SCOPE, "s", "api")
    await house.another(has_desks=False).ended(SCOPE, "s", "api")
    assert [job.kind for job in await house.armed()] == ["extract"]


async def test_of_a_scope_that_was_erased_no_desk_is_known() -> None:
    house = House("close")
    house.arming.worked(f"{SCOPE}~s", "s", "")
    house.arming.drop(SCOPE)
    await house.arming.ended(f"{SCOPE}~s", "s", "api")
    assert await house.conclusions() == []
