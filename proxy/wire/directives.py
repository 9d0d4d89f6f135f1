"""Headers by which a client steers us, or tells whose conversation a request belongs to."""

from proxy.types import Directives, Headers
from proxy.wire.headers import OURS, get

# By which known clients name the conversation, first match wins.
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
USER_HEADERS = ("x-openwebui-user-id",)
RETRIED = "x-stainless-retry-count"  # OpenAI's SDKs: how often this request was sent before

_READ = frozenset((*SESSION_HEADERS, *USER_HEADERS, "cache-control"))


def read_directives(headers: Headers) -> Directives:
    """What the client asks of us. Unknown values are ignored: a typo must not cost an answer."""
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
        client_session=next((given[name] for name in SESSION_HEADERS if given.get(name)), None),
        user=given.get("x-olvido-user") or next((said for name in USER_HEADERS if (said := get(headers, name))), None),
    )


def is_retry(headers: Headers) -> bool:
    """Has the client's SDK sent this request before?"""
    return (get(headers, RETRIED) or "0") != "0"
