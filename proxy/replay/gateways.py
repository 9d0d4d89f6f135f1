"""The formats of logs that keep a request under names of their own, turned into the names that `reading` looks for:
`body`, `response` or `answer`, `at`, `session`, `user`, `key`, `model`. A format is a test and a translation, a row of
`FORMATS`; what none of them knows is read as it is.

    Helicone   `@helicone/export --include-body`, `/v1/request/query`: docs.helicone.ai/tools/export
    Langfuse   observations of the table, the API, blob storage, or of a downloaded trace:
               langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields
    LiteLLM    StandardLoggingPayload (files, buckets, callbacks) and rows of LiteLLM_SpendLogs:
               docs.litellm.ai/docs/proxy/logging_spec
    batches    input of OpenAI's batches; their output answers it, by `custom_id`
    our own    a request as the page exports it and as /admin/api/requests/{id} tells it
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

Fields = Mapping[str, msgspec.Raw]

MOST_DEPTH = 2  # of strings of JSON in strings of JSON
SESSION = "helicone-session-id"
_CHATS = frozenset({"", "completion", "acompletion", "chat_completion", "achat_completion", "text_completion"})
_OBSERVED = {"GENERATION", ""}

_object = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Unusable(ValueError):
    """The reason for which an entry is skipped, the same for all entries that have it."""


NO_OBJECT = "no JSON object"
NO_MESSAGES = "neither a body nor messages"
NO_BODY = "its body is no JSON object"
FAILED = "it failed, and was not paid for"
OTHER_CALL = "no chat completion"
NO_CONTENT = "what it said is not in the log"
ANSWER_ONLY = "an answer whose request is not in the log"


def translated(entry: Fields) -> Fields:
    """Returns the entry under the names that are looked for. Raises Unusable for one that is no chat completion that
    was paid for."""
    for is_meant, translate in FORMATS:
        if is_meant(entry):
            return translate(entry)
    return entry


def unfolded(entry: Fields) -> Iterator[Fields]:
    """The entries that one holds: a page of an API, a trace with its observations; else itself."""
    for name in () if entry.keys() & {"messages", "body"} else ("observations", "data", "requests"):
        inside = plain(entry.get(name))
        if isinstance(inside, list) and inside and isinstance(inside[0], dict):
            around = {key: entry[key] for key in ("sessionId", "userId") if key in entry}
            for each in _raws(entry[name]):
                yield {**around, **_fields(each)}
            return
    yield entry


def plain(raw: msgspec.Raw | None) -> Any:
    """Decodes a value; None for none, and for what is no JSON."""
    try:
        return None if raw is None else msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return None


def raw(value: object) -> msgspec.Raw:
    """Encodes a value."""
    return msgspec.Raw(msgspec.json.encode(value))


def _raws(value: msgspec.Raw) -> Sequence[msgspec.Raw]:
    return msgspec.json.decode(value, type=list[msgspec.Raw])


def _fields(value: msgspec.Raw | None) -> dict[str, msgspec.Raw]:
    """The fields of an object, which may be written as a string of JSON; none for anything else."""
    for _ in range(MOST_DEPTH):
        if value is None or bytes(value)[:1] != b'"':
            break
        value = msgspec.Raw(str(plain(value)).encode())
    try:
        return {} if value is None else _object.decode(value)
    except (ValueError, RecursionError):
        return {}


def _named(entry: Fields, **names: Sequence[str]) -> dict[str, msgspec.Raw]:
    """The first field that is there of those that each name may have."""
    found = {}
    for name, candidates in names.items():
        for each in candidates:
            if each in entry and bytes(entry[each]) not in (b"null", b'""'):
                found[name] = entry[each]
                break
    return found


def _refuse_failed(status: Any) -> None:
    is_error = isinstance(status, int) and not isinstance(status, bool) and (status >= 400 or status < 0)
    if is_error or (isinstance(status, str) and status.lower() in ("failure", "error", "failed")):
        raise Unusable(FAILED)


# --- Helicone ---


def _is_helicone(entry: Fields) -> bool:
    return "request_created_at" in entry or ("request_body" in entry and "response_body" in entry)


def _helicone(entry: Fields) -> Fields:
    _refuse_failed(plain(entry.get("response_status")))
    body = _fields(entry.get("request_body"))
    if not body:
        raise Unusable(f"{NO_CONTENT} (Helicone: export with --include-body)")
    if "messages" not in body:
        raise Unusable(OTHER_CALL)
    made = _named(
        entry,
        response=["response_body"],
        at=["request_created_at"],
        user=["request_user_id", "helicone_user"],
        model=["request_model", "model"],
    )
    properties = {name.lower(): value for name, value in _fields(entry.get("request_properties")).items()}
    if SESSION in properties:
        made["session"] = properties[SESSION]
    return {**made, "body": entry["request_body"]}


# --- Langfuse ---


def _is_langfuse(entry: Fields) -> bool:
    has_trace = any(name in entry for name in ("traceId", "trace_id", "modelParameters", "provided_model_name"))
    return has_trace and "input" in entry and "messages" not in entry


def _langfuse(entry: Fields) -> Fields:
    kind = plain(entry.get("type"))
    if kind is not None and str(kind).upper() not in _OBSERVED:
        raise Unusable(OTHER_CALL)
    _refuse_failed(plain(entry.get("level")))
    made = _named(
        entry,
        at=["startTime", "start_time"],
        session=["sessionId", "session_id"],
        user=["userId", "user_id"],
        model=["providedModelName", "provided_model_name", "model"],
    )
    body = _asked(entry["input"])
    settings = _fields(_named(entry, of=["modelParameters", "model_parameters"]).get("of"))
    return {**made, "model_parameters": raw(settings), "body": raw(body), **_observed_answer(entry.get("output"))}


def _asked(given: msgspec.Raw) -> Mapping[str, msgspec.Raw]:
    """The body of the request that an input is: messages, an object with messages, or a prompt, also as text."""
    value = plain(given)
    if isinstance(value, str):
        inner = msgspec.Raw(value.encode())
        if isinstance(plain(inner), list | dict):
            return _asked(inner)
        if value.strip():
            return {"messages": raw([{"role": "user", "content": value}])}
    if isinstance(value, list) and value:
        return {"messages": given}
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        return _object.decode(given)
    raise Unusable(NO_CONTENT if not value else OTHER_CALL)


def _observed_answer(given: msgspec.Raw | None) -> Fields:
    value = plain(given)
    if isinstance(value, str) and isinstance(inner := plain(msgspec.Raw(value.encode())), dict):
        value = inner
    if isinstance(value, dict) and "role" not in value and "content" in value:
        value = {"role": "assistant", **value}
    return {} if value is None else {"answer": raw(value)}


# --- LiteLLM ---


def _is_litellm(entry: Fields) -> bool:
    return "call_type" in entry and ("messages" in entry or "proxy_server_request" in entry)


def _litellm(entry: Fields) -> Fields:
    if str(plain(entry["call_type"]) or "") not in _CHATS:
        raise Unusable(OTHER_CALL)
    _refuse_failed(plain(entry.get("status")))
    made = _named(
        entry,
        response=["response"],
        at=["startTime", "start_time"],
        session=["session_id"],
        user=["end_user"],
        key=["api_key"],
        model=["model_group", "model"],
        model_parameters=["model_parameters", "optional_params"],
    )
    metadata = _fields(entry.get("metadata"))
    made.update(_named(metadata, key=["user_api_key_hash"], user=["user_api_key_end_user_id"]))
    asked = _fields(entry.get("proxy_server_request"))
    body = _fields(asked.get("body")) or asked
    if "messages" in body:
        return {**made, "body": raw(body)}
    said = entry.get("messages")
    value = plain(said)
    if isinstance(value, str):
        value = plain(msgspec.Raw(value.encode()))
    if not isinstance(value, list) or not value or said is None:
        raise Unusable(f"{NO_CONTENT} (LiteLLM: store_prompts_in_spend_logs, no redaction)")
    return {**made, "body": raw({"messages": said})}


# --- OpenAI's batches ---


def _is_batch(entry: Fields) -> bool:
    return "custom_id" in entry


def _batch(entry: Fields) -> Fields:
    if "body" not in entry:
        raise Unusable(ANSWER_ONLY if "response" in entry else NO_MESSAGES)
    url = plain(entry.get("url"))
    if isinstance(url, str) and not url.rstrip("/").endswith("/chat/completions"):
        raise Unusable(OTHER_CALL)
    return entry


# --- our own ---


def _row(entry: Fields) -> Fields:
    """The row of the ledger that an entry of ours has: in `request`, or among its own fields."""
    row = _fields(entry.get("request"))
    return row if "request_id" in row else entry


def _is_rest(entry: Fields) -> bool:
    return entry.keys() == {"exported", "without_body"}


def _rest(entry: Fields) -> Fields:
    """The last line of an export, about requests whose bodies are not kept any more."""
    raise Unusable(f"{NO_CONTENT}: {plain(entry['without_body'])} requests when it was exported")


def _is_ours(entry: Fields) -> bool:
    row = _row(entry)
    return "request_id" in row and "tokens_original" in row


def _ours(entry: Fields) -> Fields:
    row = _row(entry)
    made = _named(row, at=["at"], session=["session"], key=["scope"], model=["model"])
    status = plain(row.get("status"))
    _refuse_failed(status)
    made.update(_named(entry, answer=["answer", "response"], headers=["headers"]))
    if _fields(entry.get("body")):
        return {**made, "body": entry["body"]}
    said = plain(entry.get("messages"))
    if not isinstance(said, list) or not said:
        raise Unusable(f"{NO_CONTENT} (it is kept for storage.keep.contents)")
    if all(isinstance(each, dict) and "fate" in each for each in said):
        return {**made, "body": raw({"messages": list(_told(said))})}
    return {**made, "body": raw({"messages": entry["messages"]})}


def _told(said: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The messages of a request that are told with their fates, whose calls have lost their ids."""
    waiting: list[str] = []
    number = 0
    for each in said:
        message: dict[str, Any] = {"role": each.get("role"), "content": each.get("text") or ""}
        calls = [call for call in each.get("calls") or () if isinstance(call, dict)]
        if calls:
            ids = [f"call_{number + index}" for index in range(len(calls))]
            number += len(calls)
            waiting = list(ids)
            message["tool_calls"] = [
                {
                    "id": name,
                    "type": "function",
                    "function": {"name": call.get("name"), "arguments": call.get("arguments")},
                }
                for name, call in zip(ids, calls, strict=True)
            ]
        if each.get("role") == "tool":
            message["tool_call_id"] = waiting.pop(0) if waiting else "call"
        yield message


FORMATS: Sequence[tuple[Callable[[Fields], bool], Callable[[Fields], Fields]]] = (
    (_is_rest, _rest),
    (_is_ours, _ours),
    (_is_helicone, _helicone),
    (_is_litellm, _litellm),
    (_is_langfuse, _langfuse),
    (_is_batch, _batch),
)
