"""The openai client asks the library: both modes, the three layers of sources, failures."""

import json
from typing import Any

import openai
import pytest

from desktop_rag.core.conversation import Role
from desktop_rag.features.server import answer_run
from desktop_rag.features.server.services import ServerSwitch
from desktop_rag.features.server.values.access_values import TokenWish
from tests.asking import answer_of
from tests.integration.serving.conftest import Server
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.usefixtures("one_library")

QUESTION = [{"role": "user", "content": "When is the lamp of the lighthouse lit?"}]


def ask(client: openai.OpenAI, messages: Any = QUESTION, **more: Any) -> Any:
    return client.chat.completions.create(model="desktop-rag", messages=messages, **more)


@pytest.mark.slow
def test_a_whole_answer_has_its_sources_as_annotations_and_in_the_extension(
    client: openai.OpenAI, server: Server
) -> None:
    answer = ask(client)
    message = answer.choices[0].message
    assert message.content == "The lamp is lit at dusk [1]."
    assert answer.choices[0].finish_reason == "stop"
    cited = message.annotations[0].url_citation
    assert message.content[cited.start_index : cited.end_index] == "[1]"
    assert cited.title == "The lamp"
    extra = answer.desktop_rag
    assert extra["sources"][0]["id"] == server.services.library.documents.all()[-1].document_id
    assert (
        extra["sources"][0]["quote"] in "The lamp of the lighthouse is lit at dusk by the keeper."
    )
    assert extra["sources"][0]["verdict"] == extra["claims"][0]["verdict"] != ""
    assert extra["claims"][0]["text"].startswith("The lamp is lit at dusk")


@pytest.mark.slow
def test_a_stream_ends_with_annotations_then_the_reason_and_the_extension(
    client: openai.OpenAI,
) -> None:
    chunks = list(ask(client, stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == "The lamp is lit at dusk [1]."
    *_, annotated, last = chunks
    found = annotated.choices[0].delta.model_extra["annotations"][0]["url_citation"]
    assert text[found["start_index"] : found["end_index"]] == "[1]"
    assert last.choices[0].finish_reason == "stop"
    assert last.model_extra["desktop_rag"]["sources"][0]["n"] == 1
    assert sum("desktop_rag" in (chunk.model_extra or {}) for chunk in chunks) == 1


@pytest.mark.slow
def test_a_stream_is_kept_alive_while_the_model_thinks(
    server: Server, endpoint: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_run, "_SILENCE_S", 0.1)
    endpoint.answer = f"<think>{'Well, ' * 30}</think>At dusk [1]."
    endpoint.pause_s = 0.02
    with server.client() as client:
        said = client.post(
            "/v1/chat/completions",
            json={"model": "desktop-rag", "messages": QUESTION, "stream": True},
        ).text
    before, _, _ = said.partition("At")
    assert before.count(": waiting") > 3


@pytest.mark.slow
def test_a_prompt_is_answered_as_a_question(client: openai.OpenAI) -> None:
    prompt = "When is the lamp of the lighthouse lit?"
    whole: Any = client.completions.create(model="desktop-rag", prompt=prompt, max_tokens=9)
    assert (whole.object, whole.choices[0].finish_reason) == ("text_completion", "stop")
    assert whole.choices[0].text == "The lamp is lit at dusk [1]."
    assert whole.desktop_rag["ignored"] == ["max_tokens"]
    assert whole.desktop_rag["sources"][0]["n"] == 1
    chunks = list(client.completions.create(model="desktop-rag", prompt=[prompt], stream=True))
    assert "".join(chunk.choices[0].text for chunk in chunks) == whole.choices[0].text
    with pytest.raises(openai.BadRequestError, match="One prompt"):
        client.completions.create(model="desktop-rag", prompt=[prompt, prompt])


@pytest.mark.slow
def test_the_address_of_a_source_shows_the_marked_passage(
    client: openai.OpenAI, server: Server
) -> None:
    url = ask(client).choices[0].message.annotations[0].url_citation.url
    assert url.startswith(server.address)
    with server.client("") as browser:
        page = browser.get(url)
        assert page.status_code == 200
        assert "<mark>" in page.text
        assert "lit at dusk" in page.text
        assert "script" not in page.headers["content-security-policy"]
        assert browser.get(url[:-2]).status_code == 404
        assert browser.get(url.replace("/source/", "/source/x")).status_code == 404


@pytest.mark.everyday
def test_a_list_of_the_sources_is_appended_on_request(client: openai.OpenAI) -> None:
    for is_streamed in (False, True):
        answer = ask(client, stream=is_streamed, extra_headers={"X-Desktop-Rag-Sources": "list"})
        if is_streamed:
            text = "".join(chunk.choices[0].delta.content or "" for chunk in answer)
        else:
            text = answer.choices[0].message.content
        assert "**Sources**\n\n- [1] [The lamp](http://127.0.0.1" in text


@pytest.mark.slow
def test_a_token_may_want_the_list_of_the_sources_with_every_answer(server: Server) -> None:
    wish = TokenWish("Notepad", ("ask",), lists_sources=True)
    secret = server.services.wing(ServerSwitch).records.add_token(wish)
    for said, is_listed in (("", True), ("none", False)):
        headers = {"X-Desktop-Rag-Sources": said} if said else {}
        with server.client(secret, **headers) as client:
            body = {"model": "desktop-rag", "messages": QUESTION}
            answer = client.post("/v1/chat/completions", json=body).json()
            answers = client.post("/v1/responses", json={"model": "desktop-rag", "input": "lamp"})
        text = answer["choices"][0]["message"]["content"]
        assert ("**Sources**" in text, "**Sources**" in answers.text) == (is_listed, is_listed)


@pytest.mark.slow
def test_the_history_is_that_of_the_caller_and_nothing_is_stored(
    client: openai.OpenAI, server: Server, endpoint: ChatServer
) -> None:
    messages = [
        {"role": "system", "content": "Answer like a sailor."},
        {"role": "user", "content": "When does the ferry leave?"},
        {"role": "assistant", "content": "At noon."},
        *QUESTION,
    ]
    ask(client, messages)
    told = json.dumps([chat["messages"] for chat in endpoint.chats])
    assert "Answer like a sailor." in told
    assert "At noon." in told
    assert server.services.chat.history.all() == []


@pytest.mark.slow
def test_an_answer_equals_that_of_the_window(client: openai.OpenAI, server: Server) -> None:
    chat = server.services.chat
    question = ask(client)
    from desktop_rag.features.server.access.callers import message_of

    asked = [message_of(Role.USER, QUESTION[0]["content"])]
    import threading

    events = list(chat.answer(asked, chat.set_up(), cancel=threading.Event()))
    message = answer_of(events)
    sent = question.desktop_rag["sources"]
    assert [(s.n, s.document_id, s.quote) for s in message.sources] == [
        (s["n"], s["id"], s["quote"]) for s in sent
    ]


@pytest.mark.slow
@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_failing_endpoint_is_told_with_its_reason(
    client: openai.OpenAI, endpoint: ChatServer, is_streamed: bool
) -> None:
    endpoint.mode, endpoint.status = "status", 401
    endpoint.error = {"error": {"message": "Incorrect key."}}
    with pytest.raises(openai.APIError, match="key"):
        list(ask(client, stream=is_streamed))


@pytest.mark.slow
def test_parameters_are_used_or_named_or_refused(client: openai.OpenAI) -> None:
    answer = ask(client, temperature=0.2, max_tokens=10, n=1, tools=[])
    assert sorted(answer.desktop_rag["ignored"]) == ["max_tokens", "temperature"]
    for wrong in ({"n": 2}, {"extra_body": {"frobnicate": 1}}, {"logprobs": True}):
        with pytest.raises(openai.BadRequestError) as refused:
            ask(client, **wrong)
        assert refused.value.param in ("n", "frobnicate", "logprobs")


@pytest.mark.slow
@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "assistant", "content": "Hello."}],
        [{"role": "user", "content": "  "}],
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x"}}]}],
        [{"role": "owl", "content": "Hello."}],
    ],
)
def test_messages_without_a_question_are_refused(client: openai.OpenAI, messages: Any) -> None:
    with pytest.raises(openai.BadRequestError):
        ask(client, messages)


@pytest.mark.slow
def test_an_unknown_model_is_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="no model"):
        client.chat.completions.create(model="gpt-4o", messages=QUESTION)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_client_that_leaves_cancels_the_answer(
    client: openai.OpenAI, endpoint: ChatServer
) -> None:
    endpoint.mode = "stall"
    stream = ask(client, stream=True)
    next(chunk for chunk in stream if chunk.choices[0].delta.content)
    stream.close()
    assert endpoint.has_lost_client.wait(10)


@pytest.mark.slow
def test_an_answer_that_is_restated_loses_nothing(
    client: openai.OpenAI, endpoint: ChatServer
) -> None:
    endpoint.mode = "think_end"
    chunks = list(ask(client, stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text.endswith("The lamp is lit at dusk [1].")
    assert chunks[-1].model_extra["desktop_rag"]["text"] == "The lamp is lit at dusk [1]."


@pytest.mark.slow
def test_citations_of_another_form_are_whole_in_a_stream(
    client: openai.OpenAI, endpoint: ChatServer
) -> None:
    endpoint.answer = "The lamp 【1】 is lit, says (source 1), at dusk [9] ^1 by the keeper."
    chunks = list(ask(client, stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == chunks[-1].model_extra["desktop_rag"]["text"]
