"""Documents as the model's tools write them: by version, within limits, merged with what a person has changed."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.config.memory import DeskSections
from proxy.desk.merging import merged
from proxy.pipeline.desk_documents import Documents, Unwritten
from proxy.storage.desk import DeskStore
from proxy.types.desk import DeskEvent, Document, Edit, EditedBy
from tests import stores

SCOPE, NAME = "tenant/ann", "agent_notes.md"
SINCE, AT = 100.0, 200.0


def documents(store: DeskStore | None = None) -> Documents:
    return Documents(store or stores.storage().desks, SCOPE, "", DeskSections(), SINCE, AT, "s")


def tells(before: str, after: str, version: int) -> list[DeskEvent]:
    return [DeskEvent(AT, "r", Edit("edit_section", NAME, before, after, version=version))]


async def put(made: Documents, text: str | None, at: float, by: EditedBy, name: str = NAME) -> Document:
    before = await made.store.document(SCOPE, name)
    wrote = await made.store.put(SCOPE, name, text, version=before.version if before else 0, at=at, by=by)
    assert wrote is not None
    return wrote


async def as_now(made: Documents) -> Documents:
    """As a request that begins now has them."""
    return replace(made, versions={each.name: each.version for each in await made.store.documents(SCOPE)})


async def write(made: Documents, text: str, own_last: str | None = None) -> str | None:
    wrote = await made.write(NAME, text, 1, own_last, merged, tells)
    return None if wrote is None else wrote.document.text


async def test_a_document_is_written_and_the_text_before_is_known() -> None:
    made = documents()
    assert await write(made, "one") == "one"
    assert await write(made, "one") is None
    wrote = await made.write(NAME, "two", 1, "one", merged, tells)
    assert wrote is not None
    assert (wrote.before, wrote.document.version) == ("one", 2)
    told = [each.payload for each in await made.store.events(SCOPE, "s")]
    assert [(each.before, each.after, each.version) for each in told if isinstance(each, Edit)] == [
        ("one", "two", 2),
        ("", "one", 1),
    ]


@pytest.mark.parametrize(
    ("changed_at", "by", "own_last", "after"),
    [
        (50.0, "person", None, "model"),  # the model has seen it
        (150.0, "person", None, "model\nperson"),
        (150.0, "model", None, "model"),  # another session's: the newest counts
        (150.0, "person", "a\nperson", "model"),  # the session has written it itself since
    ],
)
async def test_a_persons_change_since_the_session_began_is_merged(
    changed_at: float, by: EditedBy, own_last: str | None, after: str
) -> None:
    made = documents()
    await put(made, "a", 10.0, "model")
    await put(made, "a\nperson", changed_at, by)
    assert await write(await as_now(made), "model", own_last) == after


@pytest.mark.parametrize("by", ["person", "model"])
@pytest.mark.parametrize(
    ("before", "own_last", "content", "theirs", "after"),
    [
        (None, None, "mine", "theirs", "theirs\nmine"),
        ("a\nb\nc", None, "a\nb\nmine", "theirs\nb\nc", "theirs\nb\nmine"),
        ("a\nb\nc", "a\nb\nc", "a\nb\nmine", "theirs\nb\nc", "theirs\nb\nmine"),
        ("a\nb\nc", "a\nb\nc", "a\nb", "a\nb\nc\ntheirs", "a\nb\ntheirs"),
    ],
    ids=["both begin it", "both change it", "after an own one", "one removes a line"],
)
@pytest.mark.parametrize("at", [SINCE, AT, AT + 1])
async def test_what_others_write_while_a_request_is_under_way_stays(
    before: str | None, own_last: str | None, content: str, theirs: str, after: str, at: float, by: EditedBy
) -> None:
    made = documents()
    if before is not None:
        await put(made, before, 150.0, "model")
    made = await as_now(made)
    await put(made, theirs, at, by)
    assert await write(made, content, own_last) == after


async def test_a_line_that_the_model_removed_in_earlier_requests_does_not_come_back() -> None:
    made = documents()
    await put(made, "a\nb\nc", 10.0, "model")
    await put(made, "a\nc", 150.0, "model")
    made = await as_now(made)
    await put(made, "a\nc\ntheirs", AT, "model")
    assert await write(made, "a\nmine") == "a\nmine\ntheirs"


async def test_a_removed_document_is_not_found_and_is_written_anew() -> None:
    made = documents()
    await put(made, "a", 10.0, "model")
    await put(made, None, 20.0, "person")
    assert await made.found(NAME) is None
    assert (await made.text(NAME), await made.names()) == ("", [])
    assert await write(made, "b") == "b"


async def test_a_document_that_always_changes_is_told_as_it_reads_now() -> None:
    class Busy:
        """Somebody else is always faster."""

        def __init__(self, store: DeskStore) -> None:
            self._store = store

        def __getattr__(self, name: str) -> Any:
            return getattr(self._store, name)

        async def put(self, *_: object, **__: object) -> None:
            return None

    made = documents()
    await put(made, "theirs", 150.0, "person")
    busy = replace(made, store=Busy(made.store))
    with pytest.raises(Unwritten, match="changed") as unwritten:
        await busy.write(NAME, "mine", 1, None, merged, tells)
    assert unwritten.value.values == {"name": NAME, "text": "theirs"}


@pytest.mark.note("SMMA 2/9", "SMMA 5/6", "SMMA 9/4")
@pytest.mark.parametrize(
    ("name", "tokens", "reason"),
    [(NAME, 2_001, "too-large"), ("current_task-x.md", 1, "reserved"), ("user_profile.md", 1_501, "too-large")],
)
async def test_sections_have_limits_and_a_file_each(name: str, tokens: int, reason: str) -> None:
    with pytest.raises(Unwritten, match=reason):
        await documents().write(name, "x", tokens, None, merged, tells)


@pytest.mark.note("SMMA 3.4/1")
def test_sections_of_a_project_are_its_own() -> None:
    made = replace(documents(), project="atlas")
    assert made.file_of("current_task") == "current_task-atlas.md"
    assert made.file_of("project_context") == "project_context-atlas.md"
    assert made.file_of("user_profile") == "user_profile.md"
