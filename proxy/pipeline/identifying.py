"""The identity of a request, and the history that its client left out. Where neither can be looked up the request goes
on, and only what surely belongs to its conversation is kept of it."""

from dataclasses import replace
from functools import partial

from proxy.conversation import identify, names, resuming
from proxy.pipeline import RequestContext
from proxy.protocol.chains import chain_of
from proxy.types import ChatRequest, Identity

DEADLINE = 2.0  # seconds
RESUME_DEADLINE = 2.0


async def identified(context: RequestContext) -> Identity:
    """Returns the scope and session of a request, and the links of its messages."""
    incoming, request = context.incoming, context.request
    private = context.services.config.tenancy == "personal"
    work = identify.identify(
        incoming,
        request,
        context.directives,
        private=private,
        is_answered=context.services.answered.has,
        sessions=context.services.storage.sessions,
        chains=context.services.chains,
        offload=context.offload,
    )
    identity = await context.attempts.run("identify", work, fallback=None, deadline=DEADLINE)
    if identity is not None:
        return identity
    # Nothing could be looked up, so nothing is remembered in this request. What it says is kept.
    scope = names.scope_of(incoming, request, context.directives)
    chain = await context.offload(lambda: chain_of(scope.id, request.messages))
    unseen = identify.identify_unseen(incoming, request, context.directives, chain, private=private)
    if not unseen.private and unseen.session_source == "new":
        _leave_no_trace(context)
    return unseen


async def resumed(context: RequestContext) -> tuple[ChatRequest, Identity]:
    """Returns the request with the history that the client left out, where the archive has it, and its identity."""
    found: tuple[ChatRequest, Identity] | None = None
    if "identify" not in context.attempts.failed:
        found = await _from_archive(context)
    if found is not None:
        return found
    identity = resuming.apart(context.incoming, context.request, context.identity)
    if identity is not context.identity and not identity.private:
        _leave_no_trace(context)
    return context.request, identity


async def _from_archive(context: RequestContext) -> tuple[ChatRequest, Identity] | None:
    services, request, identity = context.services, context.request, context.identity
    histories = resuming.Histories(
        services.library.archive,
        services.shared.open_turns,
        services.learner.settled,
        late=partial(services.metrics.failed_open, "resume", "late"),
    )
    work = resuming.resume(context.incoming, request, identity, histories, services.chains, context.offload)
    return await context.attempts.run("resume", work, fallback=None, deadline=RESUME_DEADLINE)


def _leave_no_trace(context: RequestContext) -> None:
    """Lets nothing be kept of a request whose conversation, and with it its memory, could not be looked up: the next
    request brings the history to where it belongs."""
    context.directives = replace(context.directives, mode="off", store=False, remember=False)
