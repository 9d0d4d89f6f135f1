"""The Compose file of a cluster: what it mounts is there, what it starts is confined, what it names is one thing
everywhere."""

import re
import shutil
import socket
import subprocess
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.cli import main
from proxy.config import Config, load
from tests.deploy.cluster import ENVIRONMENT, needs_shared, pool_of
from tests.deploy.nginx import CONF
from tests.grafana.prometheus import RULES, needs_prometheus
from tests.servers import eventually

ROOT = Path(__file__).parents[2]
CLUSTER = ROOT / "deploy" / "cluster"
COMPOSE: dict[str, Any] = yaml.safe_load((CLUSTER / "compose.yaml").read_text())
BASE: dict[str, Any] = yaml.safe_load((CLUSTER.parent / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OWN = {name: service for name, service in SERVICES.items() if "extends" not in service}
PROXIES = sorted(name for name in SERVICES if name.startswith("olvido-"))
NAMED = re.compile(r"\$\{(\w+):\?set it in \.env\}")
DRAIN = Config().server.drain


def test_there_are_three_proxies_and_all_who_need_them_know_them() -> None:
    assert len(PROXIES) == 3
    assert sorted(re.findall(r"server (olvido-\d):8484 resolve", CONF.read_text())) == PROXIES
    (job,) = yaml.safe_load((CLUSTER / "prometheus.yml").read_text())["scrape_configs"]
    assert sorted(job["static_configs"][0]["targets"]) == [f"{name}:8484" for name in PROXIES]
    assert sorted(SERVICES["nginx"]["depends_on"]) == PROXIES
    (folder,) = SERVICES["nginx"]["volumes"]
    read = SERVICES["nginx"]["command"][2]
    assert folder == f"./{CONF.parent.name}:{Path(read).parent}:ro"
    assert f" -c {read} -s reload" in (CLUSTER / "update.sh").read_text()


def test_they_differ_in_their_volume_alone() -> None:
    told = [
        {**SERVICES[name], "volumes": [each.replace(name, "olvido-N") for each in SERVICES[name]["volumes"]]}
        for name in PROXIES
    ]
    assert told[0] == told[1] == told[2]
    assert "olvido-N:/var/lib/olvido" in told[0]["volumes"]


def test_every_mounted_path_is_there_and_every_named_volume_declared() -> None:
    mounted = [volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", ())]
    assert [path for path in mounted if path.startswith(".") and not (CLUSTER / path).exists()] == []
    extended = [
        BASE["services"][service["extends"]["service"]] for service in SERVICES.values() if "extends" in service
    ]
    mounted += [volume.split(":")[0] for service in extended for volume in service["volumes"]]
    assert {path for path in mounted if not path.startswith(".")} == set(COMPOSE["volumes"])


def test_what_is_taken_over_needs_nothing_that_is_not_here() -> None:
    for service in SERVICES.values():
        if "extends" in service:
            assert (CLUSTER / service["extends"]["file"]).resolve() == CLUSTER.parent / "compose.yaml"
            assert set(BASE["services"][service["extends"]["service"]].get("depends_on", ())) <= set(SERVICES)


def test_every_image_is_pinned_and_ours_is_this_version() -> None:
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    for name, service in OWN.items():
        assert re.fullmatch(r"[\w./-]+:v?\d+\.\d+\.\d+(-pg\d+)?", service["image"]), name
        if name in (*PROXIES, "migrate"):
            assert service["image"] == f"olvido:{ours}"
            assert (CLUSTER / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


def test_only_nginx_and_grafana_are_reached_and_from_this_machine_alone() -> None:
    published = {name: service["ports"] for name, service in OWN.items() if "ports" in service}
    assert published == {"nginx": ["127.0.0.1:8484:8484"]}
    assert SERVICES["grafana"] == {"extends": {"file": "../compose.yaml", "service": "grafana"}}


@pytest.mark.parametrize("name", OWN)
def test_a_service_is_confined_and_tells_its_health(name: str) -> None:
    service = OWN[name]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["cap_drop"] == ["ALL"]
    assert service["read_only"] is True
    assert service["mem_limit"]
    ours = service["image"].startswith("olvido:")  # its image brings user and health check
    assert ours or int(service["user"].partition(":")[0]) > 0
    assert ours or service["healthcheck"]["test"]


def test_nothing_starts_before_what_it_needs() -> None:
    for name in PROXIES:
        needed = {each: how["condition"] for each, how in SERVICES[name]["depends_on"].items()}
        assert needed == {"migrate": "service_completed_successfully", "redis": "service_started"}
    assert SERVICES["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert SERVICES["migrate"]["restart"] == "no"


def test_the_migration_is_a_command_that_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    with suppress(SystemExit):
        main(["--help"])
    if not re.search(r"\bdb\b", capsys.readouterr().out):
        pytest.skip("needs `olvido db upgrade`")
    with pytest.raises(SystemExit) as ended:
        main([*SERVICES["migrate"]["command"], "--help"])
    assert ended.value.code == 0


def test_an_update_takes_one_proxy_out_at_a_time_and_all_in_again(tmp_path: Path) -> None:
    """Up to what docker does: that is written down, with the proxies that nginx asks meanwhile."""
    shutil.copytree(CLUSTER, tmp_path / "cluster")
    docker = tmp_path / "docker"
    asked_now = r"sed -n 's/.*server olvido-\([0-9]\):8484 resolve max.*/\1/p' nginx/nginx.conf | tr -d '\n'"
    docker.write_text(f"#!/bin/sh\n{{ printf '%s|' \"$*\"; {asked_now}; echo; }} >> {tmp_path}/said\n")
    pause = tmp_path / "sleep"
    pause.write_text("#!/bin/sh\n")
    for each in (docker, pause):
        each.chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    subprocess.run([tmp_path / "cluster" / "update.sh"], check=True, env={"PATH": path})
    said = [line.split("|") for line in (tmp_path / "said").read_text().splitlines()]
    assert [line[0] for line in said[:2]] == ["compose build", "compose run --rm migrate"]
    replaced = [(what.split()[-1], asked) for what, asked in said if " up " in what]
    assert replaced == [("olvido-1", "23"), ("olvido-2", "13"), ("olvido-3", "12")]
    reloaded = [asked for what, asked in said if what.endswith("-s reload")]
    assert reloaded == ["23", "123", "13", "123", "12", "123", "123"]
    assert (tmp_path / "cluster" / "nginx" / "nginx.conf").read_text() == CONF.read_text()


def test_proxies_get_time_to_stop_and_no_secret_but_their_own() -> None:
    for name in PROXIES:
        service = SERVICES[name]
        assert float(service["stop_grace_period"].removesuffix("s")) >= 2 * DRAIN + 10
        assert service["env_file"] == ".env"
        emptied = {key for key, value in service["environment"].items() if not value}
        assert emptied == {"GRAFANA_ADMIN_PASSWORD", "POSTGRES_PASSWORD", "REDIS_PASSWORD"}
    # An answer may take longer, but not nginx's own stop: its streams end with the proxies'.
    assert float(SERVICES["nginx"]["stop_grace_period"].removesuffix("s")) >= DRAIN


def test_every_secret_is_asked_for_and_none_is_given() -> None:
    given = re.findall(r"^#?(\w+)=(.*)$", (CLUSTER / ".env.example").read_text(), re.MULTILINE)
    assert [name for name, value in given if value] == []
    files = ("compose.yaml", "../compose.yaml", "olvido.yaml")
    asked = {name for file in files for name in NAMED.findall((CLUSTER / file).read_text())}
    asked |= set(re.findall(r"\$\{(\w+)\}", (CLUSTER / "olvido.yaml").read_text()))
    assert asked - set(SERVICES["olvido-1"]["environment"]) <= {name for name, _ in given}


def test_the_database_has_room_for_all_of_their_connections() -> None:
    (most,) = re.findall(r"max_connections=(\d+)", " ".join(SERVICES["postgres"]["command"]))
    settings = yaml.safe_load((CLUSTER / "olvido.yaml").read_text())
    # While they are replaced there may be twice as many; some are left to backups and people.
    assert 2 * len(PROXIES) * pool_of(settings) + 10 <= int(most)


@needs_shared
def test_the_configuration_is_one_that_may_be_reached_by_others() -> None:
    settings = load(CLUSTER / "olvido.yaml", ENVIRONMENT, host="0.0.0.0")
    assert settings.storage.kind == "postgres"


def test_prometheus_asks_as_it_does_of_one_proxy() -> None:
    ours = yaml.safe_load((CLUSTER / "prometheus.yml").read_text())
    alone = yaml.safe_load((RULES / "prometheus.yml").read_text())
    for each in (ours, alone):
        del each["scrape_configs"][0]["static_configs"]
    assert ours == alone
    assert SERVICES["prometheus"]["volumes"] == ["./prometheus.yml:/etc/prometheus/prometheus.yml:ro"]


@needs_prometheus
def test_promtool_agrees(tmp_path: Path) -> None:
    shutil.copytree(RULES, tmp_path, dirs_exist_ok=True)
    shutil.copy(CLUSTER / "prometheus.yml", tmp_path)
    command = ["promtool", "check", "config", "--syntax-only", "prometheus.yml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs redis-server on the PATH")
def test_redis_starts_with_a_password_and_makes_room_by_itself(tmp_path: Path) -> None:
    service = SERVICES["redis"]
    shell, flag, script, zeroth = service["entrypoint"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    here = [part.replace("$$", "$").replace("/run/olvido", str(tmp_path)) for part in (script, *service["command"])]
    process = subprocess.Popen(
        [shell, flag, here[0], zeroth, *here[1:], "--port", str(port), "--bind", "127.0.0.1"],
        env={"REDIS_PASSWORD": "0123456789abcdef", "PATH": "/usr/local/bin:/usr/bin:/bin"},
        stdout=subprocess.DEVNULL,
    )

    def told(*command: str, password: str = "") -> str:
        """As the health check asks."""
        asked = subprocess.run(
            ["redis-cli", "-p", str(port), *command],
            env={"REDISCLI_AUTH": password, "PATH": "/usr/local/bin:/usr/bin:/bin"} if password else None,
            capture_output=True,
            text=True,
            check=False,
        )
        return asked.stdout

    try:
        eventually(lambda: "PONG" in told("ping", password="0123456789abcdef"))
        assert "NOAUTH" in told("ping")
        for name, value in {"maxmemory": str(256 * 2**20), "maxmemory-policy": "volatile-lru", "save": ""}.items():
            assert told("config", "get", name, password="0123456789abcdef").split("\n")[1] == value
        assert (tmp_path / "redis.conf").stat().st_mode & 0o077 == 0
    finally:
        process.terminate()
        process.wait(timeout=120)
