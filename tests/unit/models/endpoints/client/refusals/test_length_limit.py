import pytest

from desktop_rag.models.endpoints.client.refusals.refusal_kinds import limit_in


@pytest.mark.parametrize(
    ("said", "tokens"),
    [
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4096),
        ("This model's maximum context length is 128,000 tokens. However, you sent 131000", 128000),
        ("the model is loaded with context length of only 2048 tokens", 2048),
        ("prompt is too long: 208310 tokens > 200000 maximum", 200000),
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context", 32768),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
         1048576),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", 4096),
        ("Please reduce the length of the messages.", 0),
        ("context length 7", 0),
        ("", 0),
    ],
)  # fmt: skip
def test_limits_in_words(said: str, tokens: int) -> None:
    assert limit_in(said) == tokens


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        ({"error": {"n_prompt_tokens": 9000, "n_ctx": 8192}}, 8192),
        ({"n_ctx": 8192, "message": "too long"}, 8192),
        ({"n_ctx": True}, 0),
        ({"n_ctx": -4}, 0),
        ("text", 0),
        (None, 0),
    ],
)
def test_limits_in_fields(body: object, tokens: int) -> None:
    assert limit_in("too long", body) == tokens
