"""What is in deploy/ is run by people before they know the product, and by no other test: it must be true."""

import configparser
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from starlette.types import Receive, Scope, Send

from proxy.cli import main
from proxy.config import Config
from tests.builders import config
from tests.deploy.dockerfile import stages
from tests.servers import run_app, run_proxy

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DRAIN = Config().server.drain

_PINNED = re.compile(r"[\w./-]+:v?\d+\.\d+\.\d+")


def of_final(instruction: str) -> list[str]:
    return stages()[-1].of(instruction)


def health_command(port: int | str) -> list[str]:
    (check,) = of_final("HEALTHCHECK")
    python, *arguments = json.loads(check.partition("CMD ")[2])
    assert python == "python"
    return [sys.executable, *(argument.replace("8484", str(port)) for argument in arguments)]


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    copied = [rest.split()[:-1] for stage in stages() for rest in stage.of("COPY") if "--from" not in rest]
    sources = {source for each in copied for source in each}
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert sources
    assert [source for source in sources if not (ROOT / source).exists()] == []
    assert {line[1:] for line in ignored if line.startswith("!")} == sources
    assert "*" in ignored


def test_the_final_stage_runs_as_nobody_special_and_holds_no_secret_and_no_tools() -> None:
    user, _, group = of_final("USER")[-1].partition(":")
    assert int(user) > 0
    assert int(group) > 0
    ran = " ".join(of_final("RUN"))
    assert not re.search(r"\b(apt|apt-get|pip|curl|wget)\b", ran)
    assert not re.search(r"(?i)key|token|secret|password", " ".join((*of_final("ENV"), *of_final("ARG"))))
    assert of_final("STOPSIGNAL") == ["SIGTERM"]


def test_nothing_that_the_image_runs_on_brings_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    builder = stages()[0]
    assert builder.of("ARG") == ["EXTRAS=cluster"]
    assert any('-c constraints.txt ".[${EXTRAS}]"' in rest for rest in builder.of("RUN"))
    declared = (*project["dependencies"], *project["optional-dependencies"]["cluster"])
    reached, waiting = set[str](), [Requirement(each).name for each in declared]
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        needed = map(Requirement, importlib.metadata.requires(name) or ())
        waiting += [each.name for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})]
    assert reached & {"torch", "transformers", "sentence-transformers"} == set()


def test_the_image_runs_a_command_that_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    command = [*json.loads(of_final("ENTRYPOINT")[0]), *json.loads(of_final("CMD")[0])]
    assert_served_by(command, capsys)
    assert command[command.index("--port") + 1] == of_final("EXPOSE")[0] == "8484"
    assert command[command.index("--host") + 1] == "0.0.0.0"


def assert_served_by(command: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
    """`command` is ours, and knows these options."""
    program, subcommand, *options = command
    (script,) = importlib.metadata.entry_points(group="console_scripts", name=Path(program).name)
    assert script.load() is main
    with pytest.raises(SystemExit) as ended:
        main([subcommand, "--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert [option for option in options if option.startswith("-") and option not in told] == []


async def ill(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 503, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def healthy() -> AbstractContextManager[str]:
    sections = {"server": {"port": 0}, "storage": {"kind": "off"}, "embedding": {"enabled": False}}
    return run_proxy(config(**sections))


@pytest.mark.parametrize(("serving", "status"), [(healthy, 0), (lambda: run_app(ill), 1)], ids=["ready", "ill"])
def test_the_health_check_tells_a_proxy_that_is_ready(serving: Any, status: int) -> None:
    with serving() as url:
        command = health_command(url.rpartition(":")[2])
        assert subprocess.run(command, capture_output=True, check=False).returncode == status
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1  # nobody there


COMPOSE: dict[str, Any] = yaml.safe_load(re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", (DEPLOY / "compose.yaml").read_text()))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def mounts() -> dict[str, dict[str, str]]:
    """Service → target → source, of folders and files that are mounted from here."""
    pairs = {name: [volume.split(":")[:2] for volume in service["volumes"]] for name, service in SERVICES.items()}
    return {name: {target: source for source, target in each if source.startswith(".")} for name, each in pairs.items()}


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))


def test_every_mounted_path_is_there_and_every_named_volume_declared() -> None:
    assert [source for each in mounts().values() for source in each.values() if not (DEPLOY / source).exists()] == []
    named = {volume.split(":")[0] for service in SERVICES.values() for volume in service["volumes"]}
    assert {name for name in named if not name.startswith(".")} == set(COMPOSE["volumes"])


def test_every_image_is_pinned_and_ours_is_this_version() -> None:
    images = [service["image"] for service in SERVICES.values()]
    assert [image for image in images if not _PINNED.fullmatch(image)] == []
    ours = SERVICES["olvido"]
    assert ours["image"] == f"olvido:{tomllib.loads((ROOT / 'pyproject.toml').read_text())['project']['version']}"
    assert (DEPLOY / ours["build"]["context"] / ours["build"]["dockerfile"]).is_file()


def test_only_the_proxy_and_grafana_are_reached_and_from_this_machine_alone() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert set(published) == {"olvido", "grafana"}
    assert [port for ports in published.values() for port in ports if not port.startswith("127.0.0.1:")] == []
    assert published["olvido"] == [f"127.0.0.1:8484:{of_final('EXPOSE')[0]}"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_confined_and_tells_its_health(name: str) -> None:
    service = SERVICES[name]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["cap_drop"] == ["ALL"]
    assert service["mem_limit"]
    assert "healthcheck" in service or name == "olvido"  # whose image brings its own
    for needed, how in service.get("depends_on", {}).items():
        assert how["condition"] in ("service_started", "service_healthy")
        assert how["condition"] == "service_started" or "healthcheck" in SERVICES[needed]


def test_the_proxy_gets_its_secrets_from_a_file_and_time_to_stop() -> None:
    proxy = SERVICES["olvido"]
    assert proxy["env_file"] == ".env"
    assert set(proxy["environment"].values()) == {""}
    assert proxy["read_only"] is True
    assert seconds(proxy["stop_grace_period"]) >= 2 * DRAIN + 10
    assert of_final("VOLUME") == ["/var/lib/olvido"]
    assert "data:/var/lib/olvido" in proxy["volumes"]


def test_prometheus_finds_the_proxy_and_its_rules() -> None:
    folder = DEPLOY / mounts()["prometheus"]["/etc/prometheus"]
    settings = yaml.safe_load((folder / "prometheus.yml").read_text())
    targets = [
        target
        for job in settings["scrape_configs"]
        for group in job.get("static_configs", ())
        for target in group["targets"]
    ]
    assert "olvido:8484" in targets
    assert settings["rule_files"]
    assert [
        name for name in settings["rule_files"] if not list(folder.glob(name.removeprefix("/etc/prometheus/")))
    ] == []


def test_grafana_finds_prometheus_and_its_dashboards() -> None:
    mounted = mounts()["grafana"]
    provisioning = DEPLOY / mounted["/etc/grafana/provisioning"]
    sources = [yaml.safe_load(path.read_text()) for path in (provisioning / "datasources").glob("*.y*ml")]
    assert "http://prometheus:9090" in [source["url"] for file in sources for source in file["datasources"]]
    files = [yaml.safe_load(path.read_text()) for path in (provisioning / "dashboards").glob("*.y*ml")]
    folders = [provider["options"]["path"] for file in files for provider in file["providers"]]
    assert folders
    assert [folder for folder in folders if not list((DEPLOY / mounted[folder]).glob("*.json"))] == []


def unit() -> configparser.SectionProxy:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names have capitals
    parser.read(DEPLOY / "olvido.service")
    return parser["Service"]


def test_the_unit_starts_a_command_that_there_is_and_lets_it_end(capsys: pytest.CaptureFixture[str]) -> None:
    service = unit()
    assert_served_by(service["ExecStart"].split(), capsys)
    assert float(service["TimeoutStopSec"]) >= 2 * DRAIN + 10
    assert service["Restart"] == "on-failure"
    assert service["RestartPreventExitStatus"] == "2"  # a wrong configuration: tests/cli/test_main.py


def test_the_unit_is_nobody_special_and_keeps_all_in_its_own_folder() -> None:
    service = unit()
    assert service["User"] == "olvido"
    assert service["Environment"] == f"HOME=/var/lib/{service['StateDirectory']}"
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == ""
    assert service["EnvironmentFile"] == "-/etc/olvido/olvido.env"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    text = re.sub(r"(Exec\w+)=/opt/\S+", rf"\1={sys.executable}", (DEPLOY / "olvido.service").read_text())
    (tmp_path / "olvido.service").write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / "olvido.service")]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    assert [line for line in said.splitlines() if "olvido.service" in line] == []


def test_prometheus_gets_the_token_that_the_proxy_asks_for() -> None:
    prometheus = SERVICES["prometheus"]
    assert set(prometheus["environment"]) == {"OLVIDO_METRICS_TOKEN"}
    settings = yaml.safe_load((ROOT / "grafana" / "prometheus" / "prometheus.yml").read_text())
    file = settings["scrape_configs"][0]["authorization"]["credentials_file"]
    assert f'"$$OLVIDO_METRICS_TOKEN" > {file} && exec /bin/prometheus "$$@"' in prometheus["entrypoint"][2]
    assert prometheus["tmpfs"][0].startswith(f"{Path(file).parent}:")
    for name in ("container.yaml", "examples/team.yaml"):
        admin = yaml.safe_load((DEPLOY / name).read_text())["admin"]
        assert admin["metrics_token"] == "${OLVIDO_METRICS_TOKEN:-}"
    assert "\nOLVIDO_METRICS_TOKEN=" in (DEPLOY / ".env.example").read_text()
