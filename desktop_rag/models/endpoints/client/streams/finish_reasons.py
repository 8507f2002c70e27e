"""Why an answer ended: the reasons that servers give, and the fault that each one means. Pure.

Only a reason known to be good counts as the end of a whole answer. One that nobody has heard of is
told to the person, because an answer that was cut must never look complete.

The names come from the references of OpenAI, Anthropic, Google (Gemini), Mistral, Cohere, DeepSeek,
Zhipu, Tencent, Baidu, IBM watsonx and Amazon Bedrock, and from the sources of vLLM, SGLang, TGI,
llama.cpp, Ollama and LM Studio.
"""

import re

from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError

DONE = "done"
_KINDS = {
    "whole": (
        "stop done end eos eos_token eos_found eod eot stop_sequence stop_token end_turn"
        " end_of_text end_of_sequence complete completed finish finished success normal"
    ),
    "too long": (
        "length max_tokens max_token max_length max_new_tokens max_output_tokens model_length"
        " length_limit error_limit token_limit token_limit_reached context_length"
        " context_length_exceeded context_length_reached context_window_exceeded"
        " max_predicted_tokens_reached model_context_window_exceeded incomplete limit"
        " max_completion_tokens"
    ),
    "withheld": (
        "content_filter content_filtered content_policy safety image_safety recitation blocklist"
        " prohibited_content spii error_toxic toxic refusal sensitive guardrail guardrails"
        " guardrail_intervened moderation policy language blocked harmful"
    ),
    "tools": (
        "tool_calls tool_call tool_use function_call function_calls unexpected_tool_call"
        " malformed_function_call too_many_tool_calls pause_turn"
    ),
    "broken": (
        "error abort aborted cancel cancelled canceled user_cancel user_stopped timeout time_limit"
        " insufficient_system_resource network_error server_error internal_error overloaded"
        " preempted not_finished failed model_error disconnect"
    ),
}
_WHOLE = frozenset(_KINDS["whole"].split())
_TOO_LONG = frozenset(_KINDS["too long"].split())
_WITHHELD = frozenset(_KINDS["withheld"].split())
_TOOLS = frozenset(_KINDS["tools"].split())
_BROKEN = frozenset(_KINDS["broken"].split())
# What some servers send in every event while there is no reason yet.
_NO_REASON = frozenset({"null", "none", "unspecified", "not_finished_yet"})
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST_SHOWN_CHARS = 60


def reason_in(written: str) -> str:
    """The reason in one spelling: `MAX_TOKENS`, `max-tokens` and `maxTokens` are `max_tokens`.

    Empty for what only says that the answer goes on.
    """
    plain = _HUMP.sub("_", written.strip()).replace("-", "_").replace(" ", "_").lower()
    plain = plain.removeprefix("finish_reason_").removeprefix("stop_reason_")
    return "" if plain in _NO_REASON else plain


def check_ending(reason: str, *, has_answer: bool) -> None:
    """Return if an answer that ended with this reason is whole.

    Raises:
        StreamError: when it is not, or when that can't be told.
    """
    if not reason:
        raise StreamError(Fault.CUT)
    if reason in _WITHHELD:
        raise StreamError(Fault.FILTERED)
    if reason in _TOO_LONG:
        raise StreamError(Fault.UNFINISHED)
    shown = reason[:_LONGEST_SHOWN_CHARS]
    if reason in _BROKEN:
        raise StreamError(Fault.BROKEN_OFF, shown)
    if not has_answer:
        said = "It tries to use a tool." if reason in _TOOLS else ""
        raise StreamError(Fault.EMPTY, said)
    if reason not in _WHOLE:
        raise StreamError(Fault.ODD_ENDING, shown)


def is_whole(reason: str) -> bool:
    """True for a reason that ends a whole answer."""
    return reason in _WHOLE
