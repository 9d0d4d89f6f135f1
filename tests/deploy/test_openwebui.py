"""The Compose file with Open WebUI: what it names is there, and the proxy knows the people whom Open WebUI names."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from proxy.config import load
from tests.proxied import Upstream, run_upstream
from tests.servers import eventually, run_proxy

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "openwebui"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())
BASE: dict[str, Any] = yaml.safe_load((FOLDER.parent / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
GIVEN = dict(re.findall(r"^#?(\w+)=(.*)$", (FOLDER / ".env.example").read_text(), re.MULTILINE))


def test_the_proxy_is_the_one_of_the_other_compose_file() -> None:
    ours, other = SERVICES["olvido"], BASE["services"]["olvido"]
    same = set(other) - {"build", "environment", "volumes"}
    assert {name: ours[name] for name in same} == {name: other[name] for name in same}
    assert (FOLDER / ours["build"]["context"] / ours["build"]["dockerfile"]).is_file()
    assert ours["environment"] == {"WEBUI_SECRET_KEY": ""}


def test_images_are_pinned_volumes_declared_and_ports_this_machine_s() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert SERVICES["olvido"]["image"] == f"olvido:{version}"
    assert re.fullmatch(r"[\w./-]+:v\d+\.\d+\.\d+", SERVICES["open-webui"]["image"])
    sources = [volume.split(":")[0] for service in SERVICES.values() for volume in service["volumes"]]
    assert [source for source in sources if source.startswith(".") and not (FOLDER / source).exists()] == []
    assert {source for source in sources if not source.startswith(".")} == set(COMPOSE["volumes"])
    assert [port for each in SERVICES.values() for port in each["ports"] if not port.startswith("127.0.0.1:")] == []


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_confined(name: str) -> None:
    service = SERVICES[name]
    assert (service["security_opt"], service["cap_drop"]) == (["no-new-privileges:true"], ["ALL"])
    assert service["mem_limit"]


def test_every_secret_is_asked_for_and_none_is_given() -> None:
    assert [name for name, value in GIVEN.items() if value] == []
    named = (FOLDER / "compose.yaml").read_text() + (FOLDER / "olvido.yaml").read_text()
    assert set(re.findall(r"\$\{(\w+)", named)) == set(GIVEN)


def test_open_webui_calls_the_proxy_with_the_key_that_the_proxy_knows() -> None:
    environment = SERVICES["open-webui"]["environment"]
    assert environment["OPENAI_API_BASE_URL"] == "http://olvido:8484/v1"
    assert environment["OPENAI_API_KEY"].startswith("${OPEN_WEBUI_KEY:")
    settings = load(FOLDER / "olvido.yaml", {name: f"{name}-0123456789abcdef" for name in GIVEN}, host="0.0.0.0")
    assert settings.auth.mode == "keys"
    assert settings.tenancy == "shared"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with run_upstream() as running:
        yield running


def test_its_headers_name_user_and_chat(upstream: Upstream, tmp_path: Path) -> None:
    secrets = {name: f"{name}-0123456789abcdef" for name in GIVEN}
    text = (FOLDER / "olvido.yaml").read_text().replace("https://api.moonshot.ai", upstream.url)
    (tmp_path / "olvido.yaml").write_text(f"{text}\nstorage: {{kind: memory}}\nembedding: {{enabled: false}}\n")
    # As open_webui/utils/headers.py of 0.12.4 writes them with ENABLE_FORWARD_USER_INFO_HEADERS.
    told = {
        "authorization": f"Bearer {secrets['OPEN_WEBUI_KEY']}",
        "X-OpenWebUI-User-Name": "Ana",
        "X-OpenWebUI-User-Id": "5d3c-ana",
        "X-OpenWebUI-User-Email": "ana@example.com",
        "X-OpenWebUI-User-Role": "user",
        "X-OpenWebUI-Chat-Id": "chat-7",
    }
    settings = load(tmp_path / "olvido.yaml", secrets, port=0)
    with run_proxy(settings) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as http:
        body = {"model": "kimi-k2.6", "messages": [{"role": "user", "content": "Why is the sky blue?"}]}
        answer = http.post("/v1/chat/completions", json=body, headers=told).raise_for_status()
        assert answer.headers["x-olvido-session"] == "chat-7"
        http.headers["authorization"] = f"Bearer {secrets['OLVIDO_ADMIN_TOKEN']}"
        eventually(lambda: http.get("/admin/api/requests").json()["requests"])
        (row,) = http.get("/admin/api/requests").json()["requests"]
        assert row["scope"].rpartition("/")[2] == "5d3c-ana"
