"""Responses that are kept, as the API tells of them: `GET`, `DELETE`, `cancel` and `input_items` of
`/v1/responses/{id}`; and the count of a request's tokens, `/v1/messages/count_tokens` and
`/v1/responses/input_tokens`, for upstreams that do not count."""

from urllib.parse import parse_qs

import msgspec

from proxy.conversation import names
from proxy.errors import BadRequest, Conflict
from proxy.pipeline import Services, response_chains
from proxy.protocol import apis
from proxy.protocol import headers as wire_headers
from proxy.protocol.origin import elements, opened
from proxy.protocol.responses import keeping
from proxy.tasks import Offload
from proxy.types import Answer, ApiName, Incoming
from proxy.upstream.client import Upstream

_encode = msgspec.json.Encoder().encode
MOST_LISTED = 100

_JSON = (("content-type", "application/json"),)


async def told(call: str, method: str, name: str, incoming: Incoming, services: Services) -> Answer | None:
    """Answers a request about a kept response; None if it is none of ours, or nothing that is asked of one. `call`:
    what follows its id in the path."""
    user = wire_headers.read_directives(incoming.headers).user
    scope = names.scope_named(incoming.tenant, user)
    record = await response_chains.find(services, scope, name, incoming.received_at)
    if record is None:
        return None
    asked = parse_qs(incoming.query)
    match method, call:
        case "GET", "":
            if keeping.is_own(name) and asked.get("stream", [""])[-1].lower() in ("true", "1"):
                raise BadRequest("Only responses made in the background can be streamed later.", param="stream")
            return Answer(200, _JSON, bytes(record.response))
        case "DELETE", "":
            await response_chains.drop(services, scope, name)
            if not keeping.is_own(name) and not record.previous:
                return None  # its provider has it, too
            return Answer(200, _JSON, _encode({"id": name, "object": "response", "deleted": True}))
        case "GET", "input_items":
            chain = await response_chains.find_chain(services, scope, record.previous, incoming.received_at) or []
            own = b",".join(elements(record.items))
            joined = b",".join(filter(None, (keeping.said_before(chain), own)))
            offload = Offload(services.executor, len(joined))
            page = _page(asked)
            return Answer(200, _JSON, await offload(lambda: _encode(keeping.listed(joined, page))))
        case "POST", "cancel":
            raise Conflict("Cannot cancel a response that is complete: only those made in the background can be.")
        case _:
            return None


def _page(asked: dict[str, list[str]]) -> keeping.Page:
    """Returns the page of a list that a query asks for. Raises BadRequest for a limit that is none."""
    limit = asked.get("limit", ["20"])[-1]
    if not limit.isdecimal() or not 1 <= int(limit) <= MOST_LISTED:
        raise BadRequest(f"Invalid 'limit': expected a number from 1 to {MOST_LISTED}.", param="limit")
    return keeping.Page(int(limit), asked.get("order", ["desc"])[-1] == "asc", asked.get("after", [""])[-1])


async def counted(api: ApiName, incoming: Incoming, services: Services) -> Answer | tuple[Upstream, bytes]:
    """Returns an answer with the tokens of a request; or the upstream that counts them itself, and the body that it
    gets: the client's, under the upstream's own name of the model."""
    offload = Offload(services.executor, len(incoming.body))
    request = await offload(lambda: apis.APIS[api].parse(incoming.body))
    upstream = services.router.route(request.model).upstream
    if apis.has_native(request.origin, upstream.config.spoken):
        alias = upstream.config.aliases.get(request.model)
        return upstream, await offload(lambda: apis.native_body(request, None, alias)) or incoming.body
    tokens = await services.counter.once(request, services.executor)
    kind = {"object": "response.input_tokens"} if api == "responses" else {}
    return Answer(200, _JSON, _encode({**kind, "input_tokens": tokens}))


async def addressee(incoming: Incoming, services: Services) -> Upstream:
    """Returns the upstream of a request to the Responses API that is about no response, by the model that it names.
    Raises BadRequest if that has no such API."""
    offload = Offload(services.executor, len(incoming.body))
    _, fields = await offload(lambda: opened(incoming.body))
    upstream = services.router.route(str(fields["model"])).upstream
    if "responses" not in upstream.config.spoken:
        raise BadRequest(f"Upstream {upstream.name!r} has no such API.", param="model")
    return upstream
