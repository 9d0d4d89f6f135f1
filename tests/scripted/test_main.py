import httpx

from tests.servers import run_command


def test_runs_in_its_own_process_and_prints_its_port() -> None:
    with run_command("-m", "tests.scripted", "--port", "0", "--dialect", "kimi", "--record") as (url, process):
        models = httpx.get(f"{url}/v1/models", headers={"authorization": "Bearer k"}).json()
        assert "kimi-k2.6" in [model["id"] for model in models["data"]]
        assert httpx.get(f"{url}/__demo/requests").json()["received"] == 1
    assert process.returncode is not None
