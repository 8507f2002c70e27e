"""Each parameter of OpenAI's APIs is used, named as without effect, or refused by its name."""

import base64
import json
from functools import partial
from typing import Any

import openai
import pytest

from tests.integration.serving.conftest import Serve, Server, local_client
from tests.servers.chat_server import ChatServer
from tests.servers.model_dialects import Dialect

pytestmark = pytest.mark.usefixtures("one_library")

QUESTION = "When is the lamp of the lighthouse lit?"
MESSAGES = [{"role": "user", "content": QUESTION}]
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n a picture").decode()
WITH_IMAGE = [
    {"type": "text", "text": QUESTION},
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
]


def ask(client: openai.OpenAI, **more: Any) -> Any:
    given: Any = {"model": "desktop-rag", "messages": MESSAGES} | more
    return client.chat.completions.create(**given)


@pytest.mark.slow
@pytest.mark.parametrize(
    "without_effect",
    [{"store": True}, {"metadata": {"a": "b"}}, {"stop": ["\n"]}, {"max_tokens": 5}, {"seed": 1},
     {"max_completion_tokens": 5}, {"top_p": 0.1}, {"presence_penalty": 1.0}, {"user": "u"}],
)  # fmt: skip
def test_what_has_no_effect_is_named(client: openai.OpenAI, without_effect: Any) -> None:
    assert ask(client, **without_effect).desktop_rag["ignored"] == list(without_effect)


@pytest.mark.slow
@pytest.mark.parametrize(
    "refused",
    [{"n": 2}, {"logprobs": True}, {"response_format": {"type": "json_object"}},
     {"tools": [{"type": "function", "function": {"name": "rm"}}]}, {"logit_bias": {"5": 1}},
     {"modalities": ["audio"]}, {"extra_body": {"frobnicate": 1}}],
)  # fmt: skip
def test_what_would_change_the_answer_is_refused(client: openai.OpenAI, refused: Any) -> None:
    with pytest.raises(openai.BadRequestError) as raised:
        ask(client, **refused)
    [(name, value)] = refused.items()
    assert raised.value.param == (next(iter(value)) if name == "extra_body" else name)


@pytest.mark.slow
def test_a_format_is_passed_on_to_a_model_that_takes_it(serve: Serve, endpoint: ChatServer) -> None:
    server = serve(exposes_models=True)
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
    asked = {"model": "test-model", "messages": MESSAGES, "response_format": {
        "type": "json_schema", "json_schema": {"name": "a", "schema": schema, "strict": True},
    }}  # fmt: skip
    endpoint.dialect = Dialect(counts_usage=False, has_json=False)
    with server.client() as client:
        # What nobody has found out yet is found out now.
        refused = client.post("/v1/chat/completions", json=asked).json()["error"]
        assert (refused["param"], "schema" in refused["message"]) == ("response_format", True)
        endpoint.dialect = Dialect(counts_usage=False)
        server.services.chat.models.examine(endpoint.endpoint())
        before = len(endpoint.chats)
        answer = client.post("/v1/chat/completions", json=asked).json()
        as_text = {"format": {"type": "json_schema", "name": "a", "schema": schema}}
        asked = {"model": "test-model", "input": QUESTION, "text": as_text}
        response = client.post("/v1/responses", json=asked).json()
    # What this model writes when it is given a schema.
    assert json.loads(answer["choices"][0]["message"]["content"]) == {"ok": True}
    assert json.loads(response["output"][0]["content"][0]["text"]) == {"ok": True}
    for sent in endpoint.chats[before:]:
        assert sent["response_format"]["json_schema"]["schema"] == schema


FUNCTION: dict[str, Any] = {
    "name": "weather", "description": "Tells it.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
}  # fmt: skip
TOOL = {"type": "function", "function": FUNCTION}


@pytest.mark.slow
def test_tools_are_passed_on_and_their_results_answered(serve: Serve, endpoint: ChatServer) -> None:
    server = serve(exposes_models=True)
    endpoint.turns_with_calls = [[("weather", {"place": "Oslo"})]] * 2
    asked: Any = {"model": "test-model", "tools": [TOOL], "messages": [
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it warm?"},
    ]}  # fmt: skip
    endpoint.answer = "It is warm."
    with local_client() as raw, openai.OpenAI(
        base_url=f"{server.address}/v1", api_key=server.token(), http_client=raw, max_retries=0
    ) as client:  # fmt: skip
        before = len(endpoint.chats)
        create: Any = client.chat.completions.create
        whole = create(**asked, tool_choice="required")
        called = whole.choices[0]
        assert called.finish_reason == "tool_calls"
        assert json.loads(called.message.tool_calls[0].function.arguments) == {"place": "Oslo"}
        chunks = list(create(**asked, stream=True))
        [streamed] = [c for chunk in chunks for c in chunk.choices[0].delta.tool_calls or ()]
        assert streamed.function.name == "weather"
        assert chunks[-1].choices[0].finish_reason == "tool_calls"
        result = {"role": "tool", "tool_call_id": called.message.tool_calls[0].id, "content": "20"}
        again = [*asked["messages"], called.message.model_dump(exclude_none=True), result]
        answer = create(**asked | {"messages": again})
        assert answer.choices[0].message.content == "It is warm."
        with pytest.raises(openai.BadRequestError) as raised:
            create(**asked | {"model": "desktop-rag"})
        assert raised.value.param == "tools"
    first, _, last = endpoint.chats[before:]
    assert [tool["function"] for tool in first["tools"]] == [TOOL["function"]]
    assert first["tool_choice"] == {"type": "function", "function": {"name": "weather"}}
    assert [turn["role"] for turn in last["messages"]] == ["system", "user", "assistant", "tool"]
    assert last["messages"][2]["tool_calls"][0]["function"]["name"] == "weather"
    assert last["messages"][3]["content"] == "20"


@pytest.mark.slow
def test_tools_are_passed_on_in_responses(serve: Serve, endpoint: ChatServer) -> None:
    server = serve(exposes_models=True)
    oslo, rome = ("weather", {"place": "Oslo"}), ("weather", {"place": "Rome"})
    endpoint.turns_with_calls = [[oslo, rome]]
    endpoint.answer = "It is warm."
    tool: Any = {"type": "function"} | FUNCTION
    with local_client() as raw, openai.OpenAI(
        base_url=f"{server.address}/v1", api_key=server.token(), http_client=raw, max_retries=0
    ) as client:  # fmt: skip
        before = len(endpoint.chats)
        respond: Any = client.responses.create
        create = partial(respond, model="test-model", tools=[tool])
        asked: list[Any] = [{"role": "user", "content": "Is it warm?"}]
        whole = create(input=asked, tool_choice={"type": "function", "name": "weather"})
        calls = [each for each in whole.output if each.type == "function_call"]
        assert [json.loads(each.arguments) for each in calls] == [oslo[1], rome[1]]
        assert whole.tools[0].name == "weather"
        results = [
            {"type": "function_call_output", "call_id": each.call_id, "output": "20"}
            for each in calls
        ]
        given_back = [{"type": "reasoning", "summary": []}, *whole.output]
        assert create(input=[*asked, *given_back, *results]).output_text == "It is warm."
        # The same is known by the id of the response.
        continued = create(input=results, previous_response_id=whole.id)
        assert continued.output_text == "It is warm."
        endpoint.turns_with_calls = [[oslo]]
        events = list(create(input=asked, stream=True))
        done = {e.output_index: e.item for e in events if e.type == "response.output_item.done"}
        assert list(done.values()) == events[-1].response.output
        [delta] = [e for e in events if e.type == "response.function_call_arguments.delta"]
        assert json.loads(delta.delta) == oslo[1]
        with pytest.raises(openai.BadRequestError) as raised:
            create(input=asked, model="desktop-rag")
        assert raised.value.param == "tools"
    first, second, third, _ = endpoint.chats[before:]
    assert [each["function"] for each in first["tools"]] == [TOOL["function"]]
    assert first["tool_choice"] == {"type": "function", "function": {"name": "weather"}}
    assert [turn["role"] for turn in second["messages"]] == ["user", "assistant", "tool", "tool"]
    assert len(second["messages"][1]["tool_calls"]) == 2
    assert third["messages"] == second["messages"]


@pytest.mark.slow
def test_null_and_neutral_values_ask_for_nothing(client: openai.OpenAI) -> None:
    neutral = {"n": 1, "tools": [], "response_format": {"type": "text"}, "store": False,
               "logit_bias": {}, "temperature": None, "tool_choice": "auto"}  # fmt: skip
    assert ask(client, **neutral).desktop_rag["ignored"] == []


@pytest.mark.slow
def test_usage_has_integers_in_each_mode_of_each_api(client: openai.OpenAI) -> None:
    whole = ask(client).usage
    assert whole.prompt_tokens > 5
    assert whole.completion_tokens > 5
    assert whole.total_tokens == whole.prompt_tokens + whole.completion_tokens
    *_, last = ask(client, stream=True, stream_options={"include_usage": True})
    assert last.choices == []
    assert last.usage == whole
    assert all(chunk.usage is None for chunk in ask(client, stream=True))
    response = client.responses.create(model="desktop-rag", input=QUESTION)
    assert response.usage
    assert response.usage.input_tokens == whole.prompt_tokens
    assert response.usage.total_tokens == whole.total_tokens
    *_, done = client.responses.create(model="desktop-rag", input=QUESTION, stream=True)
    assert done.response.usage == response.usage  # type: ignore[union-attr]


@pytest.mark.slow
def test_responses_that_are_to_be_stored_say_that_they_are_not(client: openai.OpenAI) -> None:
    response: Any = client.responses.create(model="desktop-rag", input=QUESTION, store=True)
    assert response.desktop_rag["ignored"] == ["store"]
    assert response.store is False
    with pytest.raises(openai.BadRequestError) as raised:
        client.responses.create(model="desktop-rag", input="More?", previous_response_id="resp_1")
    assert raised.value.param == "previous_response_id"


@pytest.mark.slow
def test_an_image_reaches_the_model_and_is_kept_nowhere(
    client: openai.OpenAI, server: Server, endpoint: ChatServer
) -> None:
    answer = ask(client, messages=[{"role": "user", "content": WITH_IMAGE}])
    assert answer.choices[0].message.content
    assert sum(PIXEL in json.dumps(chat) for chat in endpoint.chats) == 1
    for place in server.services.home.root.rglob("*"):
        assert not place.is_file() or b"a picture" not in place.read_bytes(), place
    response = client.responses.create(
        model="desktop-rag",
        input=[{"role": "user", "content": [
            {"type": "input_text", "text": QUESTION},
            {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}",
             "detail": "auto"}]}],
    )  # fmt: skip
    assert response.output_text
    assert sum(PIXEL in json.dumps(chat) for chat in endpoint.chats) == 2


@pytest.mark.slow
def test_images_of_earlier_messages_are_named_as_not_sent(
    client: openai.OpenAI, endpoint: ChatServer
) -> None:
    messages = [
        {"role": "user", "content": WITH_IMAGE},
        {"role": "assistant", "content": "At dusk."},
        *MESSAGES,
    ]
    answer = ask(client, messages=messages)
    assert answer.desktop_rag["ignored"] == ["images of earlier messages"]
    assert PIXEL not in json.dumps(endpoint.chats)


@pytest.mark.slow
@pytest.mark.parametrize(
    "address", ["https://evil.example/a.png", "file:///etc/passwd", "data:image/png;base64,?", 5]
)
def test_an_image_elsewhere_is_not_fetched(client: openai.OpenAI, address: object) -> None:
    part = {"type": "image_url", "image_url": {"url": address}}
    with pytest.raises(openai.BadRequestError):
        ask(client, messages=[{"role": "user", "content": [WITH_IMAGE[0], part]}])
