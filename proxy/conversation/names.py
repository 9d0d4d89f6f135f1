"""Names of people and sessions, as clients give them, and the scope that a request belongs to: tenant and end user."""

import re
from hashlib import blake2b

from proxy.types import ChatRequest, Directives, Incoming, Scope, SessionSource

MAX_NAME = 128
_HASHED = "h-"
_SAFE_NAME = re.compile(rf"[A-Za-z0-9._:@+/=-]{{1,{MAX_NAME}}}")
_SCOPE = re.compile(rf"[0-9a-f]{{32}}/(?:~?{_SAFE_NAME.pattern})?")


def scope_of(incoming: Incoming, request: ChatRequest, directives: Directives) -> Scope:
    """Returns the scope of a request, tenant and end user, without any lookup."""
    return scope_named(incoming.tenant, directives.user or request.user_hint)


def scope_named(tenant: str, user: str | None) -> Scope:
    """Returns the scope of a tenant's end user, by the client's own name of them; without a name it is the tenant's."""
    return Scope(tenant, end_user(user) if user else "")


def is_private(scope: Scope, *, personal: bool) -> bool:
    """True if the scope belongs to one person."""
    return personal or scope.user != ""


def end_user(name: str) -> str:
    """Returns the end user of a scope from the client's own `name`."""
    # A name that looks like a hash is hashed: it could be another name's.
    return _hashed(name) if name.startswith(_HASHED) else _name(name)


def session_named(name: str) -> str:
    """Returns the session that a client means by `name`, with whatever header or field it says it."""
    return _name(name)


def session_of(request: ChatRequest, directives: Directives) -> tuple[str | None, SessionSource]:
    """Returns the session that a request names, and where; None if it names none."""
    if directives.session:
        return _name(directives.session), "header"
    if directives.client_session:
        return _name(directives.client_session), "client"
    if (hint := request.session_hint) is not None:
        name, source = hint
        return _name(name), source
    return None, "new"


def is_scope(name: str) -> bool:
    """True if `name` could be the id of a scope; no request has any other."""
    return _SCOPE.fullmatch(name) is not None


def _name(value: str) -> str:
    """Returns a client's own name if headers, tables and labels can hold it, else a hash of it."""
    return value if _SAFE_NAME.fullmatch(value) else _hashed(value)


def _hashed(value: str) -> str:
    return _HASHED + blake2b(value.encode("utf-8", "replace"), digest_size=16).hexdigest()
