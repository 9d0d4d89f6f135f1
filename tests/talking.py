"""Clients of the three APIs that hold one and the same conversation, each with its history in its own form."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import httpx

Json = Any
PARAMETERS = {"type": "object", "properties": {"q": {"type": "string"}}}


class Client:
    """A client that sends all of its history with each request, and answers calls of its tool."""

    path = "/v1/chat/completions"
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, http: httpx.Client, key: str, *, tools: bool = True, **fields: Json) -> None:
        self._http = http
        self._key = key
        self._fields = fields
        self._tools = tools
        self.history: list[Json] = []
        self.last: httpx.Response

    def say(self, text: str) -> str:
        """Says something; returns the answer after all calls of tools."""
        self.history.append({"role": "user", "content": text})
        while calls := self._ask():
            self._answer([(each, f"result of {each}: {'found ' * 30}") for each in calls])
        return self.text

    text = ""

    def _ask(self) -> list[str]:
        headers = {"authorization": f"Bearer {self._key}", **self.headers}
        self.last = self._http.post(self.path, json=self._body(), headers=headers, timeout=120)
        assert self.last.status_code == 200, self.last.text
        return self._took(self.last.json())

    def _body(self) -> Json:
        function = {"name": "look", "description": "Looks", "parameters": PARAMETERS}
        tools = {"tools": [{"type": "function", "function": function}]} if self._tools else {}
        system = {"role": "system", "content": "Be brief."}
        return {"model": "m", "messages": [system, *self.history], **tools, **self._fields}

    def _took(self, answer: Json) -> list[str]:
        message = answer["choices"][0]["message"]
        self.history.append(message)
        self.text = message["content"] or ""
        return [call["id"] for call in message.get("tool_calls") or ()]

    def _answer(self, results: list[tuple[str, str]]) -> None:
        self.history += [{"role": "tool", "tool_call_id": id_, "content": text} for id_, text in results]


class ResponsesClient(Client):
    path = "/v1/responses"

    def _body(self) -> Json:
        tool = {"type": "function", "name": "look", "description": "Looks", "parameters": PARAMETERS}
        tools = {"tools": [tool]} if self._tools else {}
        whole = {"model": "m", "input": self.history, "instructions": "Be brief.", "store": False}
        return {**whole, **tools, **self._fields}

    def _took(self, answer: Json) -> list[str]:
        self.history += answer["output"]
        messages = [item for item in answer["output"] if item["type"] == "message"]
        self.text = "".join(part["text"] for item in messages for part in item["content"])
        return [item["call_id"] for item in answer["output"] if item["type"] == "function_call"]

    def _answer(self, results: list[tuple[str, str]]) -> None:
        kind = "function_call_output"
        self.history += [{"type": kind, "call_id": id_, "output": text} for id_, text in results]


class MessagesClient(Client):
    path = "/v1/messages"
    headers = MappingProxyType({"anthropic-version": "2023-06-01"})

    def _body(self) -> Json:
        tool = {"name": "look", "description": "Looks", "input_schema": PARAMETERS}
        tools = {"tools": [tool]} if self._tools else {}
        whole = {"model": "m", "max_tokens": 500, "system": "Be brief.", "messages": self.history}
        return {**whole, **tools, **self._fields}

    def _took(self, answer: Json) -> list[str]:
        self.history.append({"role": "assistant", "content": answer["content"]})
        self.text = "".join(block["text"] for block in answer["content"] if block["type"] == "text")
        return [block["id"] for block in answer["content"] if block["type"] == "tool_use"]

    def _answer(self, results: list[tuple[str, str]]) -> None:
        blocks = [{"type": "tool_result", "tool_use_id": id_, "content": text} for id_, text in results]
        self.history.append({"role": "user", "content": blocks})


CLIENTS: dict[str, type[Client]] = {"chat": Client, "responses": ResponsesClient, "messages": MessagesClient}


def said(messages: Json) -> str:
    """Messages as text, to compare prompts."""
    return json.dumps(messages, sort_keys=True)
