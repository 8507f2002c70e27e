"""The openai client with the newer API, the embeddings and the list of models."""

import base64
from typing import Any

import numpy as np
import openai
import pytest

from desktop_rag.core.assistant import Assistant
from desktop_rag.features.server.openai_api.chat_messages import GivenMessage
from desktop_rag.features.server.openai_api.responses_api import RecentResponses
from desktop_rag.features.server.refusals import Refusal
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
def test_the_steps_of_a_search_are_the_summary_of_a_reasoning_item(
    client: openai.OpenAI, endpoint: ChatServer
) -> None:
    endpoint.turns_with_calls = [[("calculate", {"expression": "6 * 7"})]]
    events = list(client.responses.create(model="desktop-rag", input=QUESTION, stream=True))
    [step] = [e.delta for e in events if e.type == "response.reasoning_summary_text.delta"]
    assert step == "Calculated 6 * 7 = 42"
    kinds = [e.type for e in events if "delta" in e.type]
    assert kinds.index("response.reasoning_summary_text.delta") < len(kinds) - 1
    last: Any = events[-1]
    message, thought = last.response.output
    assert message.content[0].text.endswith("The lamp is lit at dusk [1].")
    assert [part.text for part in thought.summary] == [step]
    done = [e.item.type for e in events if e.type == "response.output_item.done"]
    assert done == ["message", "reasoning"]


@pytest.mark.slow
def test_a_failure_is_an_event_of_a_stream(client: openai.OpenAI, endpoint: ChatServer) -> None:
    endpoint.mode, endpoint.status = "status", 401
    *_, last = client.responses.create(model="desktop-rag", input=QUESTION, stream=True)
    assert last.type == "response.failed"
    assert "key" in last.response.error.message  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_response_is_continued_by_its_id(
    client: openai.OpenAI, server: Server, endpoint: ChatServer
) -> None:
    def then(asking: openai.OpenAI, response_id: str) -> Any:
        return asking.responses.create(
            model="desktop-rag", input="And who lights it?", previous_response_id=response_id
        )

    first = client.responses.create(
        model="desktop-rag", input=QUESTION, instructions="Write hexameters."
    )
    before = len(endpoint.chats)
    second = then(client, first.id)
    assert second.previous_response_id == first.id
    asked = str(endpoint.chats[before:])
    assert QUESTION in asked
    assert "dusk" in asked
    assert "hexameters" not in asked
    *_, done = client.responses.create(model="desktop-rag", input=QUESTION, stream=True)
    assert then(client, done.response.id).output_text  # type: ignore[union-attr]
    unkept = client.responses.create(model="desktop-rag", input=QUESTION, store=False)
    other = client.with_options(api_key=server.token())
    for asking, lost in ((client, "resp_1"), (client, unkept.id), (other, first.id)):
        with pytest.raises(openai.BadRequestError, match="previous_response_id"):
            then(asking, lost)


def test_responses_are_forgotten_after_an_hour_and_when_they_are_many() -> None:
    now = [0.0]
    recent = RecentResponses(lambda: now[0])
    said = [GivenMessage(role="user", content="a" * 9_000_000)]
    recent.keep("Anna", "first", said)
    recent.keep("Anna", "second", said)
    assert recent.before("Anna", "first") == said
    recent.keep("Anna", "third", said)
    with pytest.raises(Refusal):
        recent.before("Anna", "first")
    now[0] = 3_601.0
    with pytest.raises(Refusal):
        recent.before("Anna", "third")


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
    fewer = client.embeddings.create(
        model=name,
        input="lamp",
        dimensions=100,
        encoding_format=encoding,  # type: ignore[arg-type]
    )
    [short] = [vector_of(row.embedding) for row in fewer.data]
    assert short == pytest.approx(np.array(rows[0][:100]) / np.linalg.norm(rows[0][:100]))
    for wrong in ([], [""], ["a"] * 2_049, [[3, 5]], [3, 5]):
        with pytest.raises(openai.BadRequestError) as raised:
            client.embeddings.create(model=name, input=wrong)
        assert raised.value.param == "input"
    with pytest.raises(openai.BadRequestError, match="1 to 384"):
        client.embeddings.create(model=name, input="lamp", dimensions=385)
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="text-embedding-3-small", input="lamp")
