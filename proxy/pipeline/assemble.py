"""Assembly of the body that is sent upstream. An untouched request is the client's body itself; a changed one keeps the
bytes of every unchanged value, and is sent only if the upstream will accept the order of its messages."""

from proxy.config import Upstream as UpstreamConfig
from proxy.protocol.dialects import DIALECTS, violations
from proxy.protocol.request import with_changes
from proxy.types import ChatRequest, Plan, Prompt, PromptTokens


def assemble(request: ChatRequest, plan: Plan, upstream: UpstreamConfig) -> Prompt:
    """Returns the body to send, and the plan that it carries out. If the upstream would refuse the planned messages,
    the client's own are sent instead."""
    if not request.messages:
        return Prompt(request.raw, plan)  # what could not be read can't be written anew
    dialect = DIALECTS[upstream.dialect]
    messages = plan.messages
    if messages is not None and (found := violations(messages, dialect, len(request.tools))):
        messages = None
        plan = original(plan, f"stage=assemble;rule={found[0].rule}")
    # Usage is asked for where we rewrite anyway, or where the configuration prefers a measured ledger to a body
    # that passes byte for byte.
    ask = (
        request.stream
        and not request.wants_usage_chunk
        and dialect.include_usage
        and (messages is not None or upstream.stream_usage == "ask")
    )
    model = upstream.aliases.get(request.model, request.model)
    if messages is None and not ask and model == request.model:
        return Prompt(request.raw, plan)
    body = with_changes(
        request,
        messages=messages,
        tools=plan.tools if messages is not None else None,
        model=model if model != request.model else None,
        ask_usage=ask,
    )
    return Prompt(body, plan, strip_usage=ask)


def original(plan: Plan, why: str) -> Plan:
    """Returns the plan to send the client's own messages instead of the planned ones. It keeps neither the state nor
    the counts of `plan`, which belong to another prompt."""
    if plan.messages is None:
        return plan
    return Plan("fail-open", PromptTokens(plan.tokens.original, plan.tokens.original), why)
