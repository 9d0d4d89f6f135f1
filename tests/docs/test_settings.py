"""The settings in deploy/docs/configuration.md are those of the configuration's model, all of them."""

import pytest

from proxy.config import Config, json_schema
from tests.docs.settings import DOCUMENT, HEADING, Reader, Setting, numbers, written


def known() -> dict[str, Setting]:
    return {each.path: each for _, settings in Reader(json_schema()).sections() for each in settings}


def test_the_document_is_up_to_date() -> None:
    told = DOCUMENT.read_text(encoding="utf-8")
    assert told == written(told), "make config-docs"


def test_what_is_written_by_hand_above_stays() -> None:
    assert written(f"# Mine\n\nText.\n\n{HEADING}old").startswith(f"# Mine\n\nText.\n\n{HEADING}\nMade from")


@pytest.mark.parametrize(
    ("path", "type_", "default"),
    [
        ("server.port", "whole number, ≤ 65,535", "`8484`"),
        ("server.drain", "duration", "`20s`"),
        ("tenancy", "`personal` \\| `shared`", "`personal`"),
        ("upstreams[].api_key", "secret", "absent"),
        ("upstreams[].prices.<name>.output", "number", "required"),
        ("profiles.<name>.window.turns", "whole number, ≥ 1, ≤ 10,000", "of its `base`"),
        ("memory.model", "section", "absent"),
        ("memory.model.when", "list of `idle` \\| `fold` \\| `close`", "`idle` `fold` `close`"),
        ("memory.archive_ttl", "duration", "`90d`"),
        ("storage.path", "path", "`~/.local/share/olvido`"),
    ],
)
def test_a_setting_is_told_with_its_type_and_default(path: str, type_: str, default: str) -> None:
    told = known()[path]
    assert (told.type, told.default) == (type_, default)


def test_every_key_of_the_file_is_told_and_every_setting_says_what_it_is_for() -> None:
    told = known()
    assert {path.partition(".")[0].partition("[")[0] for path in told} == set(Config.model_fields)
    assert [path for path, each in told.items() if not each.what] == []


def test_numbers_of_a_profile_are_told_by_their_paths() -> None:
    assert dict(numbers({"budget": 1, "window": {"turns": 2}})) == {"budget": 1, "window.turns": 2}
