"""Orders to memory in a request, carried out before anything is answered from memory: a command that is a whole
message, and words that order something to be forgotten."""

from proxy.conversation import whole_commands
from proxy.memory import commands
from proxy.memory.commands import Order
from proxy.pipeline import RequestContext, commanding
from proxy.pipeline.commanding import Given
from proxy.protocol.answers import answer_of
from proxy.protocol.request import with_messages
from proxy.reuse import exact
from proxy.types import Answer, Identity, Plan, PromptTokens, ReuseMiss

OBEY_DEADLINE = 2.0  # seconds; after that the order is carried out in the background


async def commanded(context: RequestContext, named: Identity) -> Answer | None:
    """Returns the system's answer to a command, or to a request of which commands leave nothing to be answered. Leaves
    earlier commands, their answers and what was cleared out of every other request. `named`: as for `obeyed`."""
    commander = context.services.commander
    if commander is None:
        return None
    attempts, offload, messages = context.attempts, context.offload, context.request.messages
    read = await offload(lambda: attempts.call("command", lambda: whole_commands.reading(messages), fallback=None))
    if read is None:
        return None
    whole = context.identity
    if read.command is None and read.is_answerable:
        context.request = await offload(lambda: with_messages(context.request, [messages[at] for at in read.kept]))
        context.identity, context.own = whole_commands.without_commands(whole, read), whole
        return None
    spoken = commanding.spoken(messages, read.command.words if read.command else "")
    said = commanding.text(spoken, "no_question")
    clears = False
    if read.command is not None:
        may_keep, at = context.directives.remember, context.incoming.received_at
        given = Given(read.command, messages, whole, named, read, spoken, at, may_keep)
        unreached = commanding.text(spoken, commanding.UNREACHED)
        said = unreached
        if _has_memory(context, given):
            work = commander.carry_out(given)
            said = await attempts.run("command", work, fallback=unreached, deadline=commanding.DEADLINE)
        clears = read.command.name == "clear" and said != unreached
    return _answered(context, said, clears=clears)


async def obeyed(context: RequestContext, named: Identity) -> Order | None:
    """Returns the order to forget in this request, once it is durable, or hidden here until then; None if there is
    none. A scope that no upstream has answered holds nothing to forget. `named`: the identity as it was found first,
    whose memory is meant, also where its history could not be looked up."""
    request, identity, at = context.request, context.identity, context.incoming.received_at
    order = context.attempts.call("obey", lambda: commands.ordered(request, identity, at), fallback=None)
    if order is None:
        return None
    if "identify" in context.attempts.failed:
        # The memory needs no lookup if it is one person's, or a named session's.
        if not named.private and named.session_source == "new":
            return order
    elif not identity.is_answered:
        return order
    work = context.services.obedience.obey(named.memory, order)
    await context.attempts.run("obey", work, fallback=None, deadline=OBEY_DEADLINE)
    return order


def _has_memory(context: RequestContext, given: Given) -> bool:
    """Tells whether it is known what a command is about, also where its conversation could not be looked up: the memory
    of one person, or of a named session; a conversation that is cleared has to be in the request."""
    if not {"identify", "resume"} & context.attempts.failed.keys():
        return True
    if given.command.name == "clear":
        return any(said.role == "assistant" for said in given.messages)
    return given.named.private or given.named.session_source != "new"


def _answered(context: RequestContext, said: str, *, clears: bool) -> Answer:
    request, incoming = context.request, context.incoming
    completion = answer_of(said, name=incoming.request_id, model=request.model, at=incoming.received_at)
    planned = Plan("untouched", PromptTokens(0, 0))
    exchange = context.exchange(ReuseMiss("command"), planned, context.route.upstream.name)
    context.services.recorder.commanded(exchange, completion, context.attempts, clears=clears)
    return context.labelled(exact.told(completion, request, "command"), exchange)
