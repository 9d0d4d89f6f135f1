"""Responses that are kept, as the API tells of them: `GET`, `DELETE`, `cancel` and `input_items` of
`/v1/responses/{id}`; and the count of a message's tokens, `/v1/messages/count_tokens`, for upstreams that do not
count."""

import msgspec

from proxy.conversation import identify
from proxy.errors import Conflict
from proxy.pipeline import Services, other_apis
from proxy.protocol import apis
from proxy.protocol import headers as wire_headers
from proxy.protocol.origin import elements
from proxy.protocol.responses import keeping
from proxy.tasks import Offload
from proxy.types import Answer, Incoming, Scope
from proxy.upstream.client import Upstream

_encode = msgspec.json.Encoder().encode
_JSON = (("content-type", "application/json"),)


async def told(call: str, method: str, name: str, incoming: Incoming, services: Services) -> Answer | None:
    """Answers a request about a kept response; None if it is none of ours, or nothing that is asked of one. `call`:
    what follows its id in the path."""
    user = wire_headers.read_directives(incoming.headers).user
    scope = Scope(incoming.tenant, identify.end_user(user) if user else "")
    record = await other_apis.find(services, scope, name, incoming.received_at)
    if record is None:
        return None
    match method, call:
        case "GET", "":
            return Answer(200, _JSON, bytes(record.response))
        case "DELETE", "":
            await other_apis.drop(services, scope, name)
            return Answer(200, _JSON, _encode({"id": name, "object": "response", "deleted": True}))
        case "GET", "input_items":
            chain = await other_apis.chain(services, scope, record.previous, incoming.received_at) or []
            own = b",".join(elements(record.items))
            joined = b",".join(filter(None, (keeping.before(chain), own)))
            return Answer(200, _JSON, _encode(keeping.listed(joined)))
        case "POST", "cancel":
            raise Conflict("Cannot cancel a response that is complete: only those made in the background can be.")
        case _:
            return None


async def counted(incoming: Incoming, services: Services) -> Answer | Upstream:
    """Returns an answer with the tokens of a message's request, or the upstream that counts them itself."""
    offload = Offload(services.executor, len(incoming.body))
    request = await offload(lambda: apis.APIS["messages"].parse(incoming.body))
    upstream = services.router.route(request.model).upstream
    if apis.has_native(request.origin, upstream.config.spoken):
        return upstream
    tokens = await services.counter.once(request, services.executor)
    return Answer(200, _JSON, _encode({"input_tokens": tokens}))
