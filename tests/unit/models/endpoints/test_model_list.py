"""Lists of models as servers write them: names, context lengths and prices."""

import pytest

from desktop_rag.core.domain import ListedModel
from desktop_rag.models.endpoints.client.endpoint_faults import StreamError
from desktop_rag.models.endpoints.model_list import listed_models, stated_tokens
from desktop_rag.models.endpoints.providers import ListShape, find_provider


def shape_of(name: str) -> ListShape:
    provider = find_provider(name)
    assert provider is not None
    return provider.list


OPENROUTER = {"data": [{"id": "a/b", "context_length": 131072,
                        "pricing": {"prompt": "1.5e-7", "completion": "0.0000006"}}]}  # fmt: skip
TOGETHER = [{"id": "a", "context_length": 8192, "pricing": {"input": 0.18, "output": 0.59}}]
XAI = {"models": [{"id": "g", "prompt_text_token_price": 20000,
                   "completion_text_token_price": 100000}]}  # fmt: skip
LITELLM = {"data": [{"model_name": "fast", "model_info": {
    "max_input_tokens": 200000, "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
    "id": "4f2c"}}]}  # fmt: skip
GITHUB = [{"id": "openai/x", "name": "X", "limits": {"max_input_tokens": 131072}}]


@pytest.mark.parametrize(
    ("provider", "body", "model"),
    [
        ("OpenRouter", OPENROUTER, ListedModel("a/b", 131_072, 0.15, 0.6)),
        ("Together AI", TOGETHER, ListedModel("a", 8192, 0.18, 0.59)),
        ("xAI", XAI, ListedModel("g", 0, 2.0, 10.0)),
        ("LiteLLM", LITELLM, ListedModel("fast", 200_000, 3.0, 15.0)),
        ("GitHub Models", GITHUB, ListedModel("openai/x", 131_072)),
        ("Groq", {"data": [{"id": "m", "context_window": 4096}]}, ListedModel("m", 4096)),
        ("Mistral", {"data": [{"id": "m", "max_context_length": 9}]}, ListedModel("m", 9)),
        ("llama.cpp", {"data": [{"id": "m", "meta": {"n_ctx_train": 9}}]}, ListedModel("m", 9)),
    ],
)
def test_what_each_provider_lists(provider: str, body: object, model: ListedModel) -> None:
    assert listed_models(body, shape_of(provider)) == (model,)
    assert stated_tokens(body, model.name, shape_of(provider)) == model.context_tokens


@pytest.mark.parametrize(
    ("price", "stated"),
    [("0", 0.0), (0, 0.0), ("-1", None), ("free", None), (None, None), ("inf", None), ([], None)],
)
def test_a_price_is_stated_or_unknown(price: object, stated: float | None) -> None:
    [model] = listed_models([{"id": "m", "pricing": {"input": price}}], shape_of("Together AI"))
    assert model.price_in == stated
    assert model.price_out is None


def test_a_usual_list_in_place_of_the_described_one_is_read_as_well() -> None:
    assert listed_models({"data": [{"id": "m"}]}, shape_of("LiteLLM")) == (ListedModel("m"),)


def test_prices_of_unknown_servers_are_not_guessed() -> None:
    assert listed_models(OPENROUTER) == (ListedModel("a/b", 131_072),)


@pytest.mark.parametrize("body", [{"data": [{"id": "m", "context_length": value}]}
                                  for value in (True, -5, "9", None, 1.5, {})])  # fmt: skip
def test_a_context_length_is_a_count(body: object) -> None:
    assert stated_tokens(body, "m") == 0


def test_what_is_no_list_is_an_error() -> None:
    with pytest.raises(StreamError):
        listed_models({"object": "list"})
