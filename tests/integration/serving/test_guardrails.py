"""Rails over the server: of an assistant, chosen by a request, listed by name."""

from pathlib import Path
from typing import Any

import openai
import pytest

from desktop_rag.core.assistant import Assistant
from desktop_rag.features.rails.services import RailServices
from tests.integration.serving.conftest import Server
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

PERSONAL = "The keeper of the lighthouse is written to at ada@example.org [1]."


def ask(client: openai.OpenAI, question: str, model: str = "desktop-rag", **more: Any) -> Any:
    return client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": question}], **more
    )


def railed(config_id: str) -> dict[str, Any]:
    return {"guardrails": {"config_id": config_id}}


def test_an_assistant_with_rails_is_a_model_like_others(
    client: openai.OpenAI, server: Server, endpoint: ChatServer
) -> None:
    server.services.chat.assistants.add(Assistant("", "Polite", rails="polite-refusal"))
    answer = ask(client, "Which party shall I vote for?", "polite")
    assert answer.choices[0].message.content.startswith("I'd rather not speak about that.")
    assert "without a model" in answer.desktop_rag["notes"]
    assert not endpoint.chats
    # Its rails stay, whatever a request asks for.
    with pytest.raises(openai.UnprocessableEntityError):
        ask(client, "Which party?", "polite", extra_body=railed("grounding"))


def test_a_streamed_answer_is_held_back_until_personal_data_is_covered(
    client: openai.OpenAI, endpoint: ChatServer
) -> None:
    endpoint.answer = PERSONAL
    plain = list(ask(client, "How is the keeper written to?", stream=True))
    assert "ada@example.org" in repr(plain)
    chunks = list(
        ask(
            client, "How is the keeper of the lighthouse written to?", stream=True,
            extra_body=railed("personal-data"),
        )
    )  # fmt: skip
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == "The keeper of the lighthouse is written to at [mail address] [1]."
    assert "ada@example.org" not in repr(chunks)


def test_a_stream_has_what_passed_and_below_it_the_refusal_of_the_rest(
    client: openai.OpenAI, server: Server, endpoint: ChatServer, tmp_path: Path
) -> None:
    folder = tmp_path / "Own"
    folder.mkdir()
    (folder / "config.yml").write_text(
        "rails:\n  output:\n    flows: [no sailors]\n    streaming:\n      enabled: true\n"
    )
    (folder / "topics.co").write_text(
        "define subflow no sailors\n"
        '  if "sailors" in $bot_message\n    bot refuse to respond\n    stop\n'
    )
    server.services.chat.assistants.add(Assistant("", "Own", rails=str(folder)))
    endpoint.answer = "The lamp is lit at dusk [1]. Four sailors paint it [1]. It is green [1]."
    question = "When is the lamp of the lighthouse lit?"
    chunks = list(ask(client, question, stream=True, extra_body=railed("own")))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == "The lamp is lit at dusk [1].\n\nI'm sorry, I can't respond to that."
    whole = ask(client, question, extra_body=railed("own"))
    assert whole.choices[0].message.content == "I'm sorry, I can't respond to that."


def test_the_names_are_listed_and_nothing_else_can_be_named(
    client: openai.OpenAI, server: Server, endpoint: ChatServer, tmp_path: Path
) -> None:
    folder = tmp_path / "Own Rails"
    folder.mkdir()
    (folder / "config.yml").write_text("rails:\n  output:\n    flows: [check grounding]\n")
    rest = server.client()
    built_in = ["documents-only", "polite-refusal", "grounding", "commands", "personal-data"]
    assert [row["id"] for row in rest.get("/v1/rails/configs").json()] == built_in
    for unknown in (str(folder), "own-rails", "../grounding"):
        with pytest.raises(openai.NotFoundError, match="There are no rails"):
            ask(client, "When is the lamp lit?", extra_body=railed(unknown))
    assert not endpoint.chats
    server.services.chat.assistants.add(Assistant("", "Own", rails=str(folder)))
    assert [row["id"] for row in rest.get("/v1/rails/configs").json()] == [*built_in, "own-rails"]
    endpoint.answer = "The lamp is painted green every Christmas by four sailors [1]."
    answer = ask(client, "When is the lamp lit?", extra_body=railed("own-rails"))
    assert answer.choices[0].message.content == "I don't know the answer to that."
    rest.close()


def test_nothing_is_proposed_to_a_program(
    client: openai.OpenAI, server: Server, endpoint: ChatServer, tmp_path: Path
) -> None:
    server.services.chat.assistants.add(Assistant("", "Helper", rails="commands"))
    before = server.services.library.sources.all()
    answer = ask(client, f"Add the folder {tmp_path}", "helper")
    said = answer.choices[0].message.content
    assert said.startswith("Nothing is changed from here, since nobody could agree to it.")
    assert not endpoint.chats
    assert server.services.wing(RailServices).commands.all() == []
    assert server.services.library.sources.all() == before
