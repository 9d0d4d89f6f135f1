"""Which fields of a request can make a difference to its answer."""

from typing import Any

import msgspec
import pytest
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsBase,
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)

from proxy.protocol.fields import UNKEYED, canonical
from proxy.protocol.request import parse

# Every request field that is known to exist and is part of the key. A field that an SDK adds belongs here or, with its
# reason, in UNKEYED.
KEYED_OPENAI = """
    audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages
    modalities model moderation n parallel_tool_calls prediction presence_penalty reasoning_effort response_format
    seed service_tier stop store temperature tool_choice tools top_logprobs top_p verbosity web_search_options
"""
KEYED_ELSEWHERE = """
    thinking enable_thinking reasoning safe_prompt random_seed prompt_mode top_k min_p repetition_penalty
    length_penalty stop_token_ids include_stop_str_in_output ignore_eos min_tokens skip_special_tokens
    spaces_between_special_tokens truncate_prompt_tokens prompt_logprobs allowed_token_ids bad_words best_of
    use_beam_search echo add_generation_prompt continue_final_message add_special_tokens documents chat_template
    chat_template_kwargs mm_processor_kwargs guided_json guided_regex guided_choice guided_grammar structural_tag
    guided_decoding_backend guided_whitespace_pattern structured_outputs priority logits_processors
    return_tokens_as_token_ids return_token_ids cache_salt kv_transfer_params vllm_xargs include_reasoning
    enable_search search_options search_parameters plugins provider models route transforms
"""
KEYED = {*KEYED_OPENAI.split(), *KEYED_ELSEWHERE.split()}

BODY: dict[str, Any] = {"model": "kimi-k2", "messages": [{"role": "user", "content": "hello"}]}


def form(body: dict[str, Any]) -> bytes:
    found, is_ambiguous = canonical(parse(msgspec.json.encode(body)))
    assert not is_ambiguous
    return found


def test_every_field_of_the_sdk_is_classified() -> None:
    known = {
        *CompletionCreateParamsBase.__annotations__,
        *CompletionCreateParamsStreaming.__annotations__,
        *CompletionCreateParamsNonStreaming.__annotations__,
    }
    assert known - KEYED - UNKEYED.keys() == set()


def test_no_field_is_both_keyed_and_unkeyed() -> None:
    assert KEYED & UNKEYED.keys() == set()


def test_every_unkeyed_field_has_its_reason() -> None:
    assert all(len(reason) > 10 for reason in UNKEYED.values())


@pytest.mark.parametrize("name", sorted(UNKEYED))
def test_an_unkeyed_field_makes_no_difference(name: str) -> None:
    value = True if name == "stream" else {"a": "b"}
    assert form({**BODY, name: value}) == form(BODY)


@pytest.mark.parametrize("name", [*sorted(KEYED - BODY.keys()), "a_field_of_next_year"])
def test_any_other_field_makes_a_difference(name: str) -> None:
    forms = {form(BODY), form({**BODY, name: None}), form({**BODY, name: 1}), form({**BODY, name: {"a": 1}})}
    assert len(forms) == 4
