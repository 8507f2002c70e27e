"""The openai client with the newer API, the embeddings and the list of models."""

import base64
from typing import Any

import numpy as np
import openai
import pytest

from desktop_rag.core.assistant import Assistant
from tests.integration.serving.conftest import Server
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.usefixtures("one_library")

QUESTION = "When is the lamp of the lighthouse lit?"


@pytest.mark.slow
def test_a_whole_response(client: openai.OpenAI) -> None:
    response = client.responses.create(model="desktop-rag", input=QUESTION)
    assert response.output_text == "The lamp is lit at dusk [1]."
    content = response.output[0].content[0]  # type: ignore[union-attr]
    cited = content.annotations[0]  # type: ignore[union-attr]
    assert cited.type == "url_citation"
    assert response.output_text[cited.start_index : cited.end_index] == "[1]"
    assert response.model_extra["desktop_rag"]["sources"][0]["n"] == 1  # type: ignore[index]
    assert response.status == "completed"


@pytest.mark.slow
def test_a_streamed_response(client: openai.OpenAI) -> None:
    events = list(
        client.responses.create(
            model="desktop-rag",
            instructions="Be brief.",
            input=[{"role": "user", "content": QUESTION}],
            stream=True,
        )
    )
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = list(dict.fromkeys(event.type for event in events))
    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.annotation.added",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    assert text == events[-1].response.output_text == "The lamp is lit at dusk [1]."  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_failure_is_an_event_of_a_stream(client: openai.OpenAI, endpoint: ChatServer) -> None:
    endpoint.mode, endpoint.status = "status", 401
    *_, last = client.responses.create(model="desktop-rag", input=QUESTION, stream=True)
    assert last.type == "response.failed"
    assert "key" in last.response.error.message  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_response_is_not_continued_by_its_id(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="previous_response_id"):
        client.responses.create(model="desktop-rag", input=QUESTION, previous_response_id="resp_1")


@pytest.mark.slow
def test_the_models_are_everything_assistants_and_collections(
    client: openai.OpenAI, server: Server
) -> None:
    chat, library = server.services.chat, server.services.library
    chat.assistants.add(Assistant("", "Ship's Cook", instructions="Answer like a cook."))
    library.collections.add("Harbour rules")
    listed = [model.id for model in client.models.list()]
    assert listed[:2] == ["desktop-rag", "ship-s-cook"]
    assert "collection:Harbour rules" in listed
    assert client.models.retrieve("ship-s-cook").model_extra["name"] == "Ship's Cook"  # type: ignore[index]
    answer = client.chat.completions.create(
        model="ship-s-cook", messages=[{"role": "user", "content": QUESTION}]
    )
    assert answer.choices[0].message.content


@pytest.mark.slow
def test_a_collection_without_documents_finds_nothing(
    client: openai.OpenAI, server: Server, endpoint: ChatServer
) -> None:
    server.services.library.collections.add("Empty")
    answer = client.chat.completions.create(
        model="collection:Empty", messages=[{"role": "user", "content": QUESTION}]
    )
    assert answer.model_extra["desktop_rag"]["sources"] == []  # type: ignore[index]
    assert endpoint.chats == []


def vector_of(embedding: Any) -> list[float]:
    """The numbers of a vector in either encoding."""
    if isinstance(embedding, str):
        return list(np.frombuffer(base64.b64decode(embedding), dtype="<f4"))
    return embedding


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_embeddings_are_those_of_the_library(
    client: openai.OpenAI, server: Server, encoding: str
) -> None:
    name = list(client.models.list())[-1].id
    found = client.embeddings.create(model=name, input=["lamp", "ferry"], encoding_format=encoding)  # type: ignore[arg-type]
    rows = [vector_of(row.embedding) for row in found.data]
    assert [len(row) for row in rows] == [384, 384]
    assert sum(x * x for x in rows[0]) == pytest.approx(1, abs=1e-3)
    for wrong in ([], [""], ["a"] * 300):
        with pytest.raises(openai.BadRequestError):
            client.embeddings.create(model=name, input=wrong)
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="text-embedding-3-small", input="lamp")
