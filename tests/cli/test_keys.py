"""`olvido keys`: keys are created, shown once, listed with what they spent, and revoked."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from time import time

import pytest

from proxy.cli import main
from proxy.cli.keys import dollars, limits_text
from proxy.config import key_hash
from proxy.keys.making import tenant_of
from proxy.storage.folder import tenant_secret
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.tasks import Tasks
from proxy.types.keys import Limits
from tests.builders import ledger_row

CONFIG = """
storage: {{path: {folder}/storage}}
auth: {{mode: {mode}, keys: {keys}}}
upstreams: [{{name: up, base_url: "http://127.0.0.1:9", api_key: "${{UPSTREAMS_KEY}}"}}]
limits: {{keys: {{requests_per_minute: 60}}}}
"""
OWN = f"[{{name: ana, key: '{key_hash('the-key-of-ana-12345')}', team: design}}]"


@dataclass(frozen=True, slots=True)
class Olvido:
    folder: Path
    capsys: pytest.CaptureFixture[str]

    def configured(self, *, mode: str = "keys", keys: str = "[]") -> None:
        text = CONFIG.format(folder=self.folder, mode=mode, keys=keys)
        (self.folder / "olvido.yaml").write_text(text, encoding="utf-8")

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Status, standard output and standard error."""
        status = main(["keys", arguments[0], "--config", str(self.folder / "olvido.yaml"), *arguments[1:]])
        return (status, *self.capsys.readouterr())

    def listed(self, *arguments: str) -> list[dict[str, object]]:
        status, out, _ = self("list", "--json", *arguments)
        assert status == 0
        return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def olvido(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Olvido:
    monkeypatch.setenv("UPSTREAMS_KEY", "a-key-of-the-upstream")
    made = Olvido(tmp_path, capsys)
    made.configured()
    return made


def spent(olvido: Olvido, tenant: str, cost: float) -> None:
    async def spend() -> None:
        database = Database(olvido.folder / "storage" / "olvido.db", Tasks())
        SqliteLedger(database).append(ledger_row(scope=f"{tenant}/user", at=time(), cost=cost))
        await database.close()

    asyncio.run(spend())


def test_a_key_is_shown_once_alone_on_standard_output_and_kept_as_a_hash(olvido: Olvido) -> None:
    status, out, told = olvido("create", "ben", "--team", "sales", "--dollars-per-day", "2.5")
    key = out.strip()
    assert (status, out) == (0, f"{key}\n")
    assert key.startswith("sk-olvido-")
    assert key not in told
    assert "shown this once" in told
    listed = olvido.listed()
    assert [(each["name"], each["team"], each["source"]) for each in listed] == [("ben", "sales", "created")]
    assert listed[0]["limits"] == {
        **dict.fromkeys(("tokens_per_minute", "tokens_per_day", "tokens_per_month", "dollars_per_month")),
        "requests_per_minute": 60,
        "dollars_per_day": 2.5,
    }
    stored = b"".join(path.read_bytes() for path in (olvido.folder / "storage").rglob("*") if path.is_file())
    assert key.encode() not in stored
    assert key.removeprefix("sk-olvido-").encode() not in stored


def test_a_name_whose_key_holds_is_refused_and_free_once_it_is_revoked(olvido: Olvido) -> None:
    olvido.configured(keys=OWN)
    assert olvido("create", "ana")[0] == 1
    assert olvido("create", "ben")[0] == 0
    status, _, told = olvido("create", "ben")
    assert (status, "exists already" in told) == (1, True)
    assert olvido("revoke", "ben", "--yes")[0] == 0
    assert olvido("revoke", "ben", "--yes")[0] == 1
    status, _, told = olvido("create", "ben")
    assert (status, "has its memory and sums" in told) == (0, True)
    assert len(olvido.listed()) == 2
    assert len(olvido.listed("--all")) == 3


def test_a_key_of_the_configuration_is_listed_and_not_revoked(olvido: Olvido) -> None:
    olvido.configured(keys=OWN)
    assert [(each["name"], each["source"]) for each in olvido.listed()] == [("ana", "configured")]
    status, _, told = olvido("revoke", "ana", "--yes")
    assert (status, "in the configuration" in told) == (1, True)


def test_the_list_tells_what_each_has_spent_today(olvido: Olvido) -> None:
    olvido("create", "ben", "--team", "sales")
    folder = olvido.folder / "storage"
    spent(olvido, tenant_of("name", "ben", tenant_secret(folder)), 1.25)
    assert olvido.listed()[0]["today"]["dollars"] == 1.25  # type: ignore[index]  # JSON
    status, out, _ = olvido("list")
    head, row = out.splitlines()
    assert status == 0
    assert head.split()[:3] == ["NAME", "TEAM", "TODAY"]
    assert row.split()[:4] == ["ben", "sales", "$1.25", "$1.25"]
    assert "60 requests/min" in row


@pytest.mark.parametrize("name", ["", "two words", "a/b", "x" * 65, "-x", "ñ"])
def test_what_is_no_name_is_refused(olvido: Olvido, name: str) -> None:
    status, out, told = olvido("create", "--", name)
    assert (status, out) == (2, "")
    assert "is no name" in told


@pytest.mark.parametrize("value", ["-1", "many", "1e99"])
def test_what_is_no_limit_is_refused(olvido: Olvido, value: str) -> None:
    with pytest.raises(SystemExit):
        olvido("create", "ben", f"--dollars-per-day={value}")


def test_where_the_upstream_judges_keys_it_says_so(olvido: Olvido) -> None:
    olvido.configured(mode="passthrough")
    for arguments in (("create", "ben"), ("revoke", "ben", "--yes")):
        status, out, told = olvido(*arguments)
        assert (status, out) == (1, "")
        assert "auth.mode is passthrough" in told
        assert "nothing is done" in told


def test_keys_of_clients_are_listed_by_their_hash_with_what_they_have_spent(olvido: Olvido) -> None:
    olvido("create", "ben")
    spent(olvido, "c" * 32, 0.25)
    _, out, _ = olvido("list")
    assert [line.split()[:4] for line in out.splitlines()[1:]] == [
        ["ben", "-", "$0.00", "$0.00"],
        ["c" * 32, "-", "$0.2500", "$0.2500"],
    ]
    olvido.configured(mode="passthrough")
    status, out, told = olvido("list")
    assert (status, "auth.mode: passthrough" in told) == (0, True)
    assert out.splitlines()[-1].split()[:4] == ["c" * 32, "-", "$0.2500", "$0.2500"]
    last = olvido.listed()[-1]
    assert (last["tenant"], last["source"], last["name"]) == ("c" * 32, "client", "")


def test_one_key_is_asked_for_by_itself(olvido: Olvido) -> None:
    key = olvido("create", "ben")[1].strip()
    olvido("create", "eva")
    assert [each["name"] for each in olvido.listed("--key", key)] == ["ben"]
    status, out, told = olvido("list", "--key", "sk-of-nobody")
    assert (status, out, told) == (1, "", "That is no key of this proxy.\n")
    olvido.configured(mode="passthrough")
    tenant = tenant_of("key", "sk-of-a-client", tenant_secret(olvido.folder / "storage"))
    spent(olvido, tenant, 0.25)
    spent(olvido, "c" * 32, 1.0)
    (row,) = olvido("list", "--key", "sk-of-a-client")[1].splitlines()[1:]
    assert row.split()[:4] == [tenant, "-", "$0.2500", "$0.2500"]
    (unused,) = olvido.listed("--key", "sk-unused")
    assert unused["today"]["dollars"] == 0  # type: ignore[index]  # JSON


def test_where_clients_keys_have_spent_nothing_that_is_said(olvido: Olvido) -> None:
    olvido("create", "ben")
    olvido("revoke", "ben", "--yes")
    olvido.configured(mode="passthrough")
    status, out, told = olvido("list")
    assert (status, out) == (0, "")
    assert "auth.mode: passthrough" in told
    assert "Nobody has spent anything this month" in told


def test_where_nothing_was_kept_nothing_is_made_for_a_list(olvido: Olvido) -> None:
    olvido.configured(mode="passthrough")
    status, out, told = olvido("list")
    assert (status, out) == (1, "")
    assert "no proxy has kept anything here" in told
    assert not (olvido.folder / "storage").exists()


@pytest.mark.parametrize(
    ("amount", "text"), [(0.0, "$0.00"), (0.00012, "$0.0001"), (0.5, "$0.5000"), (1234.5, "$1,234.50")]
)
def test_dollars_have_more_digits_where_they_are_few(amount: float, text: str) -> None:
    assert dollars(amount) == text


def test_limits_are_told_as_people_write_them() -> None:
    told = limits_text(
        Limits(requests_per_minute=60, tokens_per_day=1_000_000, dollars_per_month=12.5, tokens_per_minute=0)
    )
    assert told == "60 requests/min, 1,000,000 tokens/day, $12.5/month"
