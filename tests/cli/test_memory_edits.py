"""`olvido memory add`, `edit` and `confirm`: facts as a person writes them in a terminal, with a proxy or without."""

import json
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any

import httpx
import pytest

from proxy.config import Config
from proxy.files.names import folder_of
from tests.builders import TENANT
from tests.cli.test_memory import ANA, BETO, DAY, KEY, Olvido, fact, olvido
from tests.servers import eventually, run_proxy

__all__ = ["olvido"]  # a fixture

CARLA = f"{TENANT}/carla"
SECRET = "la clave del wifi es gatito77"


def holding(olvido: Olvido, scope: str) -> dict[str, str]:
    return {each.key: each.value for each in olvido.facts(scope) if each.superseded_by is None}


# --- add -------------------------------------------------------------------------------------------------------------


def test_what_is_added_has_its_place_from_its_words_and_takes_that_of_what_it_contradicts(olvido: Olvido) -> None:
    olvido.known(ANA, fact(1, key="residence", value="vivo en Rosario"), fact(2, key="perro", value="tengo un perro"))
    status, told, complaint = olvido("add", "vivo", "en", "Salta")
    assert (status, complaint) == (0, "")
    added, ended = told.split("It took the place of:\n")
    assert "vivo en Salta" in added
    assert fact(1).id in ended
    assert holding(olvido, ANA) == {"residence": "vivo en Salta", "perro": "tengo un perro"}
    (new,) = (each for each in olvido.facts(ANA) if each.value == "vivo en Salta")
    assert (new.source, new.turn, new.confidence, new.domain) == ("api", 0, "high", "personal")


def test_the_place_of_a_fact_can_be_named(olvido: Olvido) -> None:
    olvido.known(ANA, fact())
    named = ("--domain", "hogar", "--fact-key", "El Perro", "--confidence", "low", "--pinned")
    made = json.loads(olvido("add", "tengo un perro", *named, "--json")[1])
    told = {name: made["fact"][name] for name in ("domain", "key", "confidence", "pinned", "scope")}
    assert told == {"domain": "hogar", "key": "el-perro", "confidence": "low", "pinned": True, "scope": ANA}
    assert made["replaced"] == []


def test_the_same_again_is_confirmed_and_no_second_fact(olvido: Olvido) -> None:
    long_ago = time() - 100 * DAY
    known = fact(key="residence", value="vivo en Salta", created_at=long_ago, last_confirmed_at=long_ago)
    olvido.known(ANA, known)
    assert olvido("add", "vivo en Salta")[0] == 0
    (confirmed,) = olvido.facts(ANA)
    assert (confirmed.id, confirmed.last_confirmed_at > long_ago) == (known.id, True)


def test_somebody_new_is_named_by_a_key_or_by_a_name_under_the_only_key(olvido: Olvido) -> None:
    status, _, complaint = olvido("add", "tengo un perro")
    assert (status, "--key" in complaint) == (2, True)
    assert olvido("add", "tengo un perro", "--user", "carla")[0] == 2
    assert json.loads(olvido("add", "tengo un gato", "--key", KEY, "--json")[1])["fact"]["scope"].endswith("/")
    olvido("forget", "--all", "--yes")
    olvido.known(ANA, fact())
    assert olvido("add", "tengo un perro", "--user", "carla")[0] == 0
    assert list(holding(olvido, CARLA).values()) == ["tengo un perro"]
    olvido.known(f"{TENANT[::-1]}/ana", fact(2))
    status, _, complaint = olvido("add", "tengo un perro", "--user", "dora")
    assert (status, "--key" in complaint) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["add", SECRET], "is never kept"),
        (["add", "  "], "say what it is"),
        (["add", "x" * 2_001], "2000"),
        (["add", "tengo un perro", "--fact-key", " "], "$.key"),
        (["edit", fact().id, SECRET], "is never kept"),
        (["edit", fact().id], "say what shall be otherwise"),
        (["edit", fact().id, "--domain", "d" * 129], "128"),
    ],
)
def test_what_the_api_refuses_is_refused(arguments: list[str], told: str, olvido: Olvido) -> None:
    olvido.known(ANA, fact())
    before = olvido.facts(ANA)
    status, said, complaint = olvido(*arguments)
    assert (status, said, told in complaint) == (2, "", True)
    assert "gatito77" not in complaint
    assert olvido.facts(ANA) == before


def test_where_no_facts_are_kept_none_is_added(olvido: Olvido) -> None:
    olvido.known(ANA, fact())
    settings = Path(olvido.file).read_text(encoding="utf-8")
    olvido.configured(settings + "memory: {facts: false}\n")
    assert olvido("add", "tengo un perro") == (2, "", "olvido memory: no facts are kept: memory.facts is false\n")


# --- edit ------------------------------------------------------------------------------------------------------------


def test_another_text_takes_the_place_of_the_old_one_which_stays_as_history(olvido: Olvido) -> None:
    olvido.known(ANA, fact())
    olvido.known(BETO, fact(9))
    made = json.loads(olvido("edit", fact().id, "vivo en Salta", "--json")[1])
    assert (made["fact"]["value"], made["fact"]["key"], made["fact"]["source"]) == ("vivo en Salta", "ciudad", "api")
    assert [each["id"] for each in made["replaced"]] == [fact().id]
    assert holding(olvido, ANA) == {"ciudad": "vivo en Salta"}
    assert "vivo en Rosario" in olvido("show", made["fact"]["id"])[1].split("It took the place of:")[1]
    assert holding(olvido, BETO) == {"ciudad": "vivo en Rosario"}


@pytest.mark.parametrize(
    ("options", "differing"),
    [
        (["--pinned"], {"pinned": True}),
        (["--domain", "work"], {"domain": "work"}),
        (["--fact-key", "Home Town"], {"key": "home-town"}),
        (["--confidence", "high"], {"confidence": "high"}),
        (["vivo en Rosario", "--no-pinned"], {}),
    ],
)
def test_all_else_of_a_fact_is_changed_and_it_stays_the_same_fact(
    options: list[str], differing: dict[str, Any], olvido: Olvido
) -> None:
    known = fact(confidence="medium")
    olvido.known(ANA, known)
    assert olvido("edit", fact().id, *options)[0] == 0
    assert olvido.facts(ANA) == [replace(known, **differing)]


@pytest.mark.parametrize("command", [["edit", fact(1).id, "vivo en Salta"], ["confirm", fact(1).id]])
def test_history_is_neither_changed_nor_confirmed(command: list[str], olvido: Olvido) -> None:
    olvido.known(ANA, fact(1, superseded_by=fact(2).id), fact(2))
    status, _, complaint = olvido(*command)
    assert status == 1
    assert fact(2).id in complaint
    olvido.known(ANA, fact(1, superseded_by=fact(1).id))
    assert f"olvido memory restore {fact(1).id}" in olvido(*command)[2]


# --- confirm ---------------------------------------------------------------------------------------------------------


@pytest.mark.note("1.1/12")
def test_a_confirmed_fact_is_active_again(olvido: Olvido) -> None:
    old = fact(created_at=time() - 200 * DAY, last_confirmed_at=time() - 200 * DAY, links=(b"l",))
    olvido.known(ANA, old)
    now = time()
    status, told, _ = olvido("confirm", old.id)
    assert status == 0
    assert "active" in told
    (confirmed,) = olvido.facts(ANA)
    assert now <= confirmed.last_confirmed_at <= time()
    assert replace(confirmed, last_confirmed_at=old.last_confirmed_at) == old


# --- what others see of it -------------------------------------------------------------------------------------------


def test_the_files_of_memory_have_it_at_once(olvido: Olvido) -> None:
    settings = Path(olvido.file).read_text(encoding="utf-8")
    olvido.configured(settings + f"memory: {{files: {{path: {olvido.folder / 'files'}}}}}\n")
    olvido.known(ANA, fact())
    assert olvido("add", "tengo un perro")[0] == 0
    folder = olvido.folder / "files" / folder_of(ANA)
    assert "tengo un perro" in (folder / "MEMORY.md").read_text(encoding="utf-8")
    assert olvido("edit", fact().id, "vivo en Salta")[0] == 0
    written = (folder / "MEMORY.md").read_text(encoding="utf-8")
    assert ("vivo en Salta" in written, "vivo en Rosario" in written) == (True, False)
    logs = "".join(file.read_text(encoding="utf-8") for file in folder.rglob("20*.md"))
    assert "vivo en Salta" in logs


def test_a_proxy_that_serves_has_it_in_its_next_answer(olvido: Olvido) -> None:
    olvido.known(ANA, fact())
    settings = Config.model_validate({"storage": {"path": str(olvido.path.parent)}, "server": {"port": 0}})
    with run_proxy(settings) as address, httpx.Client(base_url=address, timeout=60, trust_env=False) as http:
        assert olvido("add", "tengo un perro")[0] == 0
        assert olvido("edit", fact().id, "vivo en Salta")[0] == 0

        def told() -> set[str]:
            found = http.get("/admin/api/facts", params={"scope": ANA, "status": "active"}).json()["facts"]
            return {each["value"] for each in found}

        eventually(lambda: told() == {"tengo un perro", "vivo en Salta"})
