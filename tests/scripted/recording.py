"""What the upstream received, and what became of it: how tests score the prompt that arrives."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec


@dataclass(slots=True)
class Received:
    """One request. Everything above the line is as it arrived; below it the delivery writes as it goes."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]  # lower-case names, in the order received
    body: bytes
    arrived: float  # by the server's clock, seconds

    status: int = 0
    fault: str = ""
    chunks_sent: int = 0
    closed_early: bool = False  # the client left before the end
    finished: bool = False  # the last byte was handed over

    def header(self, name: str, default: str = "") -> str:
        return next((value for key, value in self.headers if key == name), default)

    @property
    def api_key(self) -> str:
        scheme, _, key = self.header("authorization").partition(" ")
        return key.strip() if scheme.lower() == "bearer" else ""

    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    def as_json(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "headers": [list(header) for header in self.headers],
            "body": base64.b64encode(self.body).decode(),
            "arrived": self.arrived,
            "status": self.status,
            "fault": self.fault,
            "chunks_sent": self.chunks_sent,
            "closed_early": self.closed_early,
            "finished": self.finished,
        }


@dataclass(slots=True)
class Recorder:
    """Requests in the order of arrival, if `enabled`; the counters always."""

    enabled: bool
    received: int = 0
    closed_early: int = 0
    in_flight: int = 0
    _requests: list[Received] = field(default_factory=list)

    @property
    def requests(self) -> Sequence[Received]:
        return tuple(self._requests)

    def arrived(self, request: Received) -> None:
        self.received += 1
        self.in_flight += 1
        if self.enabled:
            self._requests.append(request)

    def done(self, request: Received) -> None:
        self.in_flight -= 1
        self.closed_early += request.closed_early

    def clear(self) -> None:
        """Forget what has been recorded; what is under way stays counted."""
        self._requests.clear()
        self.received = self.closed_early = 0
