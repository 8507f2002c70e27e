"""How servers say why an answer ended, in their own words. Only a known good reason is a whole one.

The names are those of the providers' references.
"""

from tests.dialects.row import ANSWER, DONE, JSON, Reply, Row, delta, event, streamed, whole

_WHOLE = {
    "openai": "stop",
    "anthropic, translated by halves": "end_turn",
    "gemini behind a thin proxy": "STOP",
    "gemini, with its prefix": "FINISH_REASON_STOP",
    "cohere": "COMPLETE",
    "text-generation-inference": "eos_token",
    "text-generation-inference, stop word": "stop_sequence",
    "together": "eos",
    "baidu": "normal",
    "lm studio's own": "eosFound",
}
_CUT = {
    "openai": "length",
    "mistral": "model_length",
    "gemini behind a thin proxy": "MAX_TOKENS",
    "anthropic, translated by halves": "max_tokens",
    "anthropic, window full": "model_context_window_exceeded",
    "cohere": "ERROR_LIMIT",
    "watsonx": "token_limit",
    "lm studio's own": "maxPredictedTokensReached",
    "vercel's spelling": "max-tokens",
}
_WITHHELD = {
    "azure": "content_filter",
    "gemini behind a thin proxy": "SAFETY",
    "gemini, recitation": "RECITATION",
    "gemini, prohibited": "PROHIBITED_CONTENT",
    "zhipu": "sensitive",
    "anthropic": "refusal",
    "bedrock": "guardrail_intervened",
    "cohere": "ERROR_TOXIC",
    "vercel's spelling": "content-filter",
}
_BROKEN = {
    "openrouter": "error",
    "deepseek": "insufficient_system_resource",
    "vllm": "abort",
    "zhipu": "network_error",
    "cohere": "TIMEOUT",
    "watsonx": "cancelled",
}
_ODD = {
    "a tool that was not offered": "tool_calls",
    "gemini behind a thin proxy": "OTHER",
    "nobody has heard of it": "sunset",
}


def _rows(reasons: dict[str, str], told: str, says: str = "") -> list[Row]:
    return [
        Row(
            f"ends with {reason}: {name}",
            (streamed(finish_reason=reason),),
            told,
            says=says and reason.lower(),
            text=ANSWER,
        )
        for name, reason in reasons.items()
    ]


_PLACES = (
    Row(
        "the reason in finish_details",
        (
            streamed(
                ANSWER,
                event({"choices": [{"delta": {}, "finish_details": {"type": "max_tokens"}}]}),
                DONE,
            ),
        ),
        "not complete",
        text=ANSWER,
    ),
    Row(
        "the reason only in native_finish_reason",
        (
            streamed(
                ANSWER,
                event({"choices": [{"delta": {}, "native_finish_reason": "SAFETY"}]}),
                DONE,
            ),
        ),
        "withheld",
        text=ANSWER,
    ),
    Row(
        "“null” as a word while the answer goes on",
        (
            Reply(
                (
                    delta(ANSWER[:9], finish_reason="null"),
                    delta(ANSWER[9:], finish_reason="null"),
                    delta(finish_reason="stop"),
                    DONE,
                )
            ),
        ),
    ),
    Row(
        "“null” as a word, then the connection ends",
        (Reply((delta(ANSWER[:9], finish_reason="null"),), breaks=True),),
        "cut off",
        text=ANSWER[:9],
    ),
    Row("a whole answer without a reason", (Reply((whole(finish_reason=""),), kind=JSON),)),
    Row(
        "a whole answer that was cut",
        (Reply((whole(finish_reason="model_length"),), kind=JSON),),
        "not complete",
        text=ANSWER,
    ),
    Row(
        "an error in the place of a choice",
        (
            streamed(
                ANSWER,
                event({
                    "choices": [{
                        "delta": {"content": ""},
                        "finish_reason": "error",
                        "error": {"code": 502, "message": "Upstream connection lost"},
                    }]
                }),
                DONE,
            ),
        ),
        "failed",
        says="Upstream connection lost",
        text=ANSWER,
    ),
)  # fmt: skip

ROWS = (
    *_rows(_WHOLE, ""),
    *_rows(_CUT, "not complete"),
    *_rows(_WITHHELD, "withheld"),
    *_rows(_BROKEN, "broken off", says="reason"),
    *_rows(_ODD, "may not be complete", says="reason"),
    *_PLACES,
)
