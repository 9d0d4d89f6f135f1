"""A snapshot that is the only copy of a conversation is recalled in the prompt that goes upstream."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.files import snapshot_files, snapshots
from proxy.files.folder import Folder
from proxy.files.last_turns import last_turns
from proxy.files.remembering import Remembering
from proxy.memory.library import Library
from proxy.pipeline import Services
from tests import proxied
from tests.builders import NOW, assistant, body, user
from tests.files.held import talk
from tests.proxied import KEY, Upstream, in_front_of, run_upstream

ANA = (("x-olvido-user", "ana"),)
QUESTION = "What did I say my boat is called?"
AT = NOW - 90_000
BOAT = talk("My boat is called Marigold.", "A fine name for a boat.", number=4, at=AT)
OTHERS = [
    talk(f"How do I prune {tree} trees? " * 8, "Cut what crosses. " * 12, number=at, at=AT)
    for at, tree in ((5, "fig"), (6, "plum"))
]
# Longer than the budget: what is recalled is paid with what is left out.
LONG = [
    said
    for month in range(40)
    for said in (user(f"What do I sow in month {month}? " * 4), assistant(f"In month {month} sow beans. " * 8))
]


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with run_upstream() as running:
        yield running


def with_files(built: Services, root: Path) -> tuple[Remembering, Library]:
    keeper = Remembering(
        root,
        lambda scope, session: last_turns(library, built.executor, scope, session),
        built.tasks,
        built.metrics.failed_open,
    )
    library = Library(
        built.storage.facts,
        built.storage.archive,
        built.storage.states,
        built.storage.wipes,
        built.executor,
        built.tasks,
        watch=keeper,
        beside=keeper.beside,
    )
    return keeper, library


async def test_a_question_about_a_snapshot_gets_its_words_until_they_are_forgotten(
    upstream: Upstream, tmp_path: Path
) -> None:
    settings = in_front_of(
        upstream, memory={"archive_ttl": 0}, context={"profile": "lean"}, profiles={"lean": {"budget": 1_500}}
    )
    async with proxied.build_services(settings) as built:
        keeper, library = with_files(built, tmp_path)
        services = proxied.composed(built, library=library)
        scope = f"{services.authenticator.tenant((('authorization', f'Bearer {KEY}'),))}/ana"
        folder = Folder(tmp_path, scope)
        snapshot_files.write(folder, snapshots.taken([BOAT, *OTHERS], "old", "idle"))

        await proxied.ask(services, body(*LONG, user(QUESTION)), headers=ANA)
        (sent,) = upstream.bodies()
        assert b"Marigold" in sent

        keeper.forgotten(scope, [], [each.link for each in BOAT.utterances], [])
        (await library.shelf(scope)).forget(frozenset(each.link for each in BOAT.utterances), NOW)
        await proxied.ask(services, body(*LONG, user(f"{QUESTION} Tell me.")), headers=ANA)
        (sent,) = upstream.bodies()
        assert b"Marigold" not in sent
        await keeper.work.settled(scope)
        assert all(b"Marigold" not in (folder.read(name) or b"") for name in folder.every())

        await proxied.ask(services, body(*LONG, user(QUESTION)), headers=(("x-olvido-user", "bob"),))
        (sent,) = upstream.bodies()
        assert b"Marigold" not in sent
        keeper.work.close()
