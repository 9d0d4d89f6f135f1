"""An upstream that keeps responses at itself, as OpenAI does, and refuses what OpenAI refuses: a response or an item
that it does not hold, reasoning that it cannot read, a call without the reasoning that it came with."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.native import Native
from tests.other_apis import events_of, misplaced_items
from tests.servers import run_app

Json = Any
SEALED = "sealed"
_TOGETHER = ("function_call", "custom_tool_call", "message")


class Provider(Native):
    """An ASGI application."""

    def __init__(self) -> None:
        super().__init__(seals=False)
        self.kept: dict[str, list[Json]] = {}  # by response: all items up to its end
        self.responses: dict[str, Json] = {}
        self.items: dict[str, Json] = {}
        self.thoughts: dict[str, str] = {}  # by item: the reasoning that it came with

    def _answer(self, path: str, asked: Json, told: Json) -> tuple[int, bytes, bytes]:
        if path.startswith("/v1/responses/"):
            return self._about(path)
        if path != "/v1/responses":
            return super()._answer(path, asked, told)
        previous = asked.get("previous_response_id")
        if previous is not None and str(previous) not in self.kept:
            return self._refuse(404, f"Previous response with id {previous!r} not found.")
        given = asked.get("input") or []
        own = given if isinstance(given, list) else [{"type": "message", "role": "user", "content": given}]
        whole = [*self.kept.get(previous, ()), *own]
        if fault := self._fault(whole):
            return fault
        self._seals = "reasoning.encrypted_content" in (asked.get("include") or ())
        status, kind, body = super()._answer(path, {**asked, "input": whole, "include": None}, told)
        response = events_of(body)[-1]["response"] if b"event-stream" in kind else json.loads(body)
        if asked.get("store") is not False and status == 200:
            self._keep(response, whole)
        return status, kind, body

    def _keep(self, response: Json, whole: Sequence[Json]) -> None:
        self.responses[response["id"]] = response
        self.kept[response["id"]] = [*whole, *response["output"]]
        thought = ""
        for item in response["output"]:
            self.items[item["id"]] = item
            thought = item["id"] if item["type"] == "reasoning" else thought
            self.thoughts[item["id"]] = thought

    def _fault(self, whole: list[Json]) -> tuple[int, bytes, bytes] | None:
        """Puts items that are only named in place. Returns the refusal of the first that cannot be."""
        for at, item in enumerate(whole):
            if item.get("type") == "item_reference":
                if item["id"] not in self.items:
                    return self._refuse(404, f"Item with id {item['id']!r} not found.")
                whole[at] = self.items[item["id"]]
        ids = {item.get("id") for item in whole}
        for item in whole:
            name, sealed = item.get("id"), item.get("encrypted_content")
            if item.get("type") == "reasoning":
                if sealed is None and name not in self.items:
                    return self._refuse(404, f"Item with id {name!r} not found. Items are not persisted.")
                if sealed is not None and sealed != SEALED:
                    return self._refuse(400, "The encrypted content could not be verified.")
            elif item.get("type") in _TOGETHER and self.thoughts.get(name) and self.thoughts[name] not in ids:
                return self._refuse(400, f"Item {name!r} was provided without its required 'reasoning' item.")
        if faults := misplaced_items(whole):
            return self._refuse(400, faults[0])
        return None

    def _refuse(self, status: int, message: str) -> tuple[int, bytes, bytes]:
        self.faults.append(message)
        error = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}
        return status, b"application/json", json.dumps(error).encode()

    def _about(self, path: str) -> tuple[int, bytes, bytes]:
        name, _, what = path.removeprefix("/v1/responses/").partition("/")
        if self.method == "POST" and not what:  # compact, input_tokens
            return 200, b"application/json", json.dumps({"object": f"response.{name}", "input_tokens": 77}).encode()
        if name not in self.responses:
            return self._refuse(404, f"Response with id {name!r} not found.")
        told: Json = self.responses[name]
        if self.method == "DELETE":
            del self.responses[name], self.kept[name]
            told = {"id": name, "object": "response", "deleted": True}
        elif what == "input_items":
            told = {"object": "list", "data": self.kept[name][: -len(told["output"])], "has_more": False}
        return 200, b"application/json", json.dumps(told).encode()


@contextmanager
def run_provider() -> Iterator[Provider]:
    upstream = Provider()
    with run_app(upstream) as url:
        upstream.url = url
        yield upstream
