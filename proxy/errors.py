"""Errors that the client gets, in OpenAI's error shape: `{"error": {message, type, param, code}}`.

    OlvidoError                    status, type, code
    ├── BadRequest                 400  invalid_request_error
    │   ├── InvalidJson            400  …/invalid_json
    │   ├── MissingParameter       400  …/missing_required_parameter
    │   ├── Unauthorized           401  …/invalid_api_key
    │   ├── Forbidden              403  …/forbidden
    │   │   ├── ForeignHost        403  …/foreign_host
    │   │   ├── ForeignOrigin      403  …/foreign_origin
    │   │   └── UnknownPrice       403  …/price_unknown
    │   ├── UnknownModel           404  …/model_not_found
    │   ├── UnknownRoute           404  …/unknown_url
    │   ├── UnknownResponse        404  …/previous_response_not_found
    │   ├── UnknownSession         404  …/session_not_found
    │   ├── MethodNotAllowed       405  …/method_not_allowed
    │   ├── RequestTimeout         408  …/request_timeout
    │   ├── Conflict               409  …/conflict
    │   ├── TooLarge               413  …/request_too_large
    │   ├── TooMany                429  …/rate_limit_exceeded
    │   └── HeaderTooLarge         431  …/header_too_large
    ├── OutOfQuota                 429  insufficient_quota
    ├── ShuttingDown               503  …/shutting_down
    ├── ContextUnavailable         503  …/context_unavailable
    ├── StorageUnavailable         503  …/storage_unavailable
    └── UpstreamError              502  upstream_error
        ├── UpstreamUnreachable    502  …/upstream_unreachable
        ├── UpstreamBroken         502  …/upstream_broken
        ├── BreakerOpen            503  …/upstream_unavailable
        └── UpstreamTimeout        504  …/upstream_timeout

Foreign errors are mapped in one place, `from_transport`. An error that the upstream itself answers is never one of
these: it goes back to the client as it came.
"""

import os

import aiohttp
import msgspec

from proxy.types import Answer, Headers

FAILED = "The proxy failed to handle this request."  # the message for a bug of ours


class OlvidoError(Exception):
    """An error answer of our own, with its status, type and code."""

    status = 500
    type = "server_error"
    code: str | None = "internal_error"

    def __init__(self, message: str, *, param: str | None = None, headers: Headers = ()) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.headers = headers

    def body(self) -> bytes:
        """Returns the error as JSON."""
        error = {"message": self.message, "type": self.type, "param": self.param, "code": self.code}
        return msgspec.json.encode({"error": error})

    def answer(self) -> Answer:
        """Returns the error as an answer."""
        return Answer(self.status, (("content-type", "application/json"), *self.headers), self.body())


class BadRequest(OlvidoError):
    """The request is invalid."""

    status = 400
    type = "invalid_request_error"
    code: str | None = None


class InvalidJson(BadRequest):
    """The body is no JSON."""

    code = "invalid_json"


class MissingParameter(BadRequest):
    """A required parameter is missing."""

    code = "missing_required_parameter"


class Unauthorized(BadRequest):
    """The API key is missing or wrong."""

    status = 401
    code = "invalid_api_key"


class Forbidden(BadRequest):
    """The request is not allowed."""

    status = 403
    code = "forbidden"


class UnknownPrice(Forbidden):
    """A budget in dollars could not be kept: nobody knows what the model costs."""

    code = "price_unknown"


class ForeignHost(Forbidden):
    """The Host header names no host of this proxy."""

    code = "foreign_host"


class ForeignOrigin(Forbidden):
    """A page of another site sent the request."""

    code = "foreign_origin"


class UnknownModel(BadRequest):
    """No upstream serves the model."""

    status = 404
    code = "model_not_found"


class UnknownRoute(BadRequest):
    """No route has this URL."""

    status = 404
    code = "unknown_url"


class UnknownResponse(BadRequest):
    """No response of this id is kept, or not any more."""

    status = 404
    code = "previous_response_not_found"


class UnknownSession(BadRequest):
    """No session has this name."""

    status = 404
    code = "session_not_found"


class MethodNotAllowed(BadRequest):
    """The route does not have this method."""

    status = 405
    code = "method_not_allowed"


class RequestTimeout(BadRequest):
    """The request did not arrive in time."""

    status = 408
    code = "request_timeout"


class Conflict(BadRequest):
    """The request contradicts the present state."""

    status = 409
    code = "conflict"


class TooLarge(BadRequest):
    """The body exceeds the limit."""

    status = 413
    code = "request_too_large"


class TooMany(BadRequest):
    """The client sends too many requests. `kind`: what it uses too much of; OpenAI makes it the type of the error."""

    status = 429
    code = "rate_limit_exceeded"

    def __init__(self, message: str, *, kind: str = "", param: str | None = None, headers: Headers = ()) -> None:
        super().__init__(message, param=param, headers=headers)
        self.type = kind or self.type


class OutOfQuota(OlvidoError):
    """The key or the end user has spent its budget."""

    status = 429
    type = "insufficient_quota"
    code = "insufficient_quota"


class HeaderTooLarge(BadRequest):
    """The head of the request exceeds the limit."""

    status = 431
    code = "header_too_large"


class ShuttingDown(OlvidoError):
    """The server stops before the answer is complete."""

    status = 503
    code = "shutting_down"


class ContextUnavailable(OlvidoError):
    """The storage of conversations can't be read."""

    status = 503
    code = "context_unavailable"


class StorageUnavailable(OlvidoError):
    """The storage can't be read or written."""

    status = 503
    code = "storage_unavailable"


class UpstreamError(OlvidoError):
    """No upstream gave a usable answer."""

    status = 502
    type = "upstream_error"
    code: str | None = "upstream_error"


class UpstreamUnreachable(UpstreamError):
    """No connection to the upstream could be made."""

    code = "upstream_unreachable"


class UpstreamBroken(UpstreamError):
    """The connection to the upstream broke."""

    code = "upstream_broken"


class BreakerOpen(UpstreamError):
    """The upstream failed repeatedly and is not called for a while."""

    status = 503
    code = "upstream_unavailable"


class UpstreamTimeout(UpstreamError):
    """The upstream did not answer in time."""

    status = 504
    code = "upstream_timeout"


class ImpossibleStatus(aiohttp.ClientError):
    """Raised for an answer with a status that HTTP does not have."""


def from_transport(error: Exception, upstream: str) -> UpstreamError:
    """Returns our error for one of the HTTP client's. Its text names the upstream and the kind of failure; never the
    URL, whose query could hold a key."""
    kind = type(error).__name__
    match error:
        case ImpossibleStatus():
            return UpstreamBroken(f"upstream {upstream!r} answered with status {error}, which is none of HTTP's")
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError() | aiohttp.ClientHttpProxyError():
            return UpstreamUnreachable(f"upstream {upstream!r} could not be reached{_why(error)} ({kind})")
        case TimeoutError():
            return UpstreamTimeout(f"upstream {upstream!r} did not answer in time ({kind})")
        case _:
            return UpstreamBroken(f"the connection to upstream {upstream!r} broke ({kind})")


def _why(error: Exception) -> str:
    """Returns why there was no connection, as the end of a sentence; "" if nothing but the kind of the error tells."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return ": its certificate is not trusted"
        case aiohttp.ClientConnectorDNSError():
            return ": its name cannot be resolved"
        case aiohttp.ClientSSLError():
            return ": no TLS could be agreed on"
        case aiohttp.ConnectionTimeoutError():
            return ": no connection in time"
        case _:
            number = getattr(getattr(error, "os_error", None), "errno", None)  # its text may have the address
            return f": {os.strerror(number).lower()}" if number else ""
