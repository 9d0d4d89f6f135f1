"""HTTP headers: filtered towards the upstream and the client, and read for a client's directives, session and user.
Unknown headers pass."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from proxy.types import Directives, Headers

# Hop-by-hop headers: RFC 9110 §7.6.1, and their older names.
HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"}
    | {"te", "trailer", "trailers", "transfer-encoding", "upgrade"}
)
OURS = "x-olvido-"
# Headers that carry an API key: OpenAI's, Azure's, Anthropic's, Google's, Azure API Management's.
KEYS = frozenset({"authorization", "api-key", "x-api-key", "x-goog-api-key", "ocp-apim-subscription-key"})

# CORS headers are set by the proxy, never passed on from the upstream.
CORS = "access-control-"
_SET_BY_US = (OURS, CORS)

# Written by the HTTP client that sends the message on. The client's Accept-Encoding is not passed on where we read the
# answer: a compressed stream would have to be unpacked and packed again.
_REQUEST_REWRITTEN = HOP_BY_HOP | {"host", "content-length", "expect"}
_RESPONSE_REWRITTEN = HOP_BY_HOP | {"content-length"}

# Headers by which known clients name the conversation; the first match counts.
SESSION_HEADERS = (
    "x-openwebui-chat-id",  # Open WebUI, ENABLE_FORWARD_USER_INFO_HEADERS
    "session-id",  # Codex CLI
    "session_id",
    "x-session-id",
    "x-session-affinity",  # opencode
    "x-claude-code-session-id",
    "helicone-session-id",
    "x-conversation-id",
    "x-litellm-session-id",
)
AGENT_HEADER = "x-claude-code-agent-id"  # of a subagent, whose conversation is its own
USER_HEADERS = ("x-openwebui-user-id",)
RETRIED = "x-stainless-retry-count"  # OpenAI's SDKs: how often this request was sent before

_TRUE = ("1", "true", "on")
_READ = frozenset((*SESSION_HEADERS, AGENT_HEADER, *USER_HEADERS, "cache-control"))


def decode(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Decodes ASGI's header list to text; names are in lower case already."""
    return tuple([(_name(name), value.decode("latin-1")) for name, value in headers])


@lru_cache(1_000)
def _name(name: bytes) -> str:
    return name.decode("latin-1")


def get(headers: Headers, name: str) -> str | None:
    """The first value of the header `name` (lower case); None if absent."""
    for key, value in headers:
        if key == name:
            return value
    return None


def coding(headers: Headers) -> str:
    """The content coding; "identity" if there is none."""
    return get(headers, "content-encoding") or "identity"


def is_event_stream(headers: Headers) -> bool:
    """True if the body is a stream of server-sent events."""
    return (get(headers, "content-type") or "").strip().lower().startswith("text/event-stream")


def for_chat(headers: Headers) -> Headers:
    """The headers of a request that came in the Messages API, for an upstream of chat completions: the key as a bearer
    token, and without what only that API's provider knows."""
    key = get(headers, "x-api-key")
    kept = tuple([each for each in headers if each[0] != "x-api-key" and not each[0].startswith("anthropic-")])
    if key is None or get(headers, "authorization") is not None:
        return kept
    return (*kept, ("authorization", f"Bearer {key}"))


def to_upstream(
    headers: Headers,
    *,
    authorization: str | None,
    managed: bool,
    plain: bool = False,
    key_header: str = "authorization",
) -> list[tuple[str, str]]:
    """The client's headers as the upstream gets them. `authorization` replaces the client's own if given, in the header
    `key_header`. Managed requests are sent whole. `plain`: we read the answer, as of all that is managed: it is asked
    for without a content coding."""
    dropped, plain = _REQUEST_REWRITTEN | named_by_connection(headers), plain or managed
    if plain:
        dropped |= {"accept-encoding"}
    if not managed:
        dropped -= {"content-length"}
    if authorization is not None:
        dropped |= KEYS | {"cookie"}  # the client's credentials are not for an upstream with a key of its own
    kept = [(name, value) for name, value in headers if name not in dropped and not name.startswith(OURS)]
    if plain:
        kept.append(("accept-encoding", "identity"))
    if authorization is not None:
        kept.append((key_header, authorization))
    return kept


def to_client(headers: Iterable[tuple[str, str]], *, length: bool) -> Headers:
    """The upstream's headers as the client gets them; `length` keeps Content-Length (the body passes as it is)."""
    listed = tuple([(name.lower(), value) for name, value in headers])
    dropped = _RESPONSE_REWRITTEN | named_by_connection(listed)
    if length:
        dropped -= {"content-length"}
    return tuple([each for each in listed if each[0] not in dropped and not each[0].startswith(_SET_BY_US)])


def named_by_connection(headers: Headers) -> frozenset[str]:
    """The headers that a Connection header, of which there may be several, declares hop-by-hop."""
    named = [token for name, value in headers if name == "connection" for token in value.split(",")]
    return frozenset([token.strip().lower() for token in named])


def read_directives(headers: Headers) -> Directives:
    """Reads the client's directives: mode, cache use, session and its end, user. Unknown values are ignored: a typo
    must not cost an answer."""
    given = {name: value for name, value in headers if name in _READ or name.startswith(OURS)}
    if not given:
        return Directives()
    control = ",".join([value for name, value in headers if name == "cache-control"]).lower()  # there may be several
    wish = given.get("x-olvido-cache", "").lower()
    mode = given.get("x-olvido-mode", "").lower()
    off = wish == "off" or "no-store" in control or mode == "off"
    return Directives(
        mode="meter" if mode == "meter" else "off" if mode == "off" else "on",
        lookup=not off and wish != "refresh" and "no-cache" not in control,
        store=not off,
        remember=mode != "off" and "no-store" not in control,
        opted_in=wish in ("on", "refresh"),
        session=given.get("x-olvido-session") or None,
        client_session=_client_session(given),
        ends=given.get("x-olvido-session-end", "").lower() in _TRUE,
        tools={"on": True, "off": False}.get(given.get("x-olvido-tools", "").lower()),
        project=given.get("x-olvido-project") or None,
        pins=given.get("x-olvido-pin", "").lower() in _TRUE,
        user=given.get("x-olvido-user") or next((said for name in USER_HEADERS if (said := get(headers, name))), None),
    )


def _client_session(given: Mapping[str, str]) -> str | None:
    named = next((given[name] for name in SESSION_HEADERS if given.get(name)), None)
    agent = given.get(AGENT_HEADER)
    return f"{named}/{agent}" if named and agent else named


def is_retry(headers: Headers) -> bool:
    """True if the client's SDK sends this request again."""
    return (get(headers, RETRIED) or "0") != "0"
