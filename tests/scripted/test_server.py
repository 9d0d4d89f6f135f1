import httpx
from starlette.types import Receive, Scope, Send

from tests.scripted.delivery import TRANSPORT
from tests.scripted.server import listen
from tests.servers import run_app


def test_listens_on_a_port_of_its_own() -> None:
    with listen() as one, listen() as other:
        assert one.getsockname()[1] != other.getsockname()[1] != 0


def test_an_application_finds_its_own_connection() -> None:
    seen: list[object] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return
        seen.append(scope["extensions"][TRANSPORT].get_extra_info("peername"))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    with run_app(app) as url:
        assert httpx.get(url).status_code == 204
    assert seen[0] is not None
