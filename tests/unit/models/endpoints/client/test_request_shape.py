import pytest

from desktop_rag.core.conversation import Image
from desktop_rag.core.model_profile import ModelProfile
from desktop_rag.models.endpoints.client.chat_client import (
    chat_body,
    learned_from,
    refuses_images,
    shaped,
)
from desktop_rag.models.ports import ChatTurn

SYSTEM, ASKED = ChatTurn("system", "Be brief."), ChatTurn("user", "When?")
ANSWERED, AGAIN = ChatTurn("assistant", "At dusk."), ChatTurn("user", "Where?")


def test_of_an_unknown_model_the_usual_is_assumed() -> None:
    assert shaped([SYSTEM, ASKED], ModelProfile()) == [SYSTEM, ASKED]
    assert chat_body("m", [ASKED], ModelProfile()) == {
        "model": "m",
        "stream": True,
        "messages": [{"role": "user", "content": "When?"}],
    }


def test_usage_is_asked_for_where_it_is_counted() -> None:
    body = chat_body("m", [ASKED], ModelProfile(counts_usage=True))
    assert body["stream_options"] == {"include_usage": True}


def test_a_system_turn_is_folded_into_the_first_question() -> None:
    profile = ModelProfile(takes_system=False)
    assert shaped([SYSTEM, ASKED, ANSWERED, AGAIN], profile) == [
        ChatTurn("user", "Be brief.\n\nWhen?"),
        ANSWERED,
        AGAIN,
    ]
    assert shaped([SYSTEM], profile) == [ChatTurn("user", "Be brief.")]
    assert shaped([ASKED], profile) == [ASKED]


def test_neighbours_in_one_role_are_joined_where_turns_must_alternate() -> None:
    turns = [SYSTEM, ASKED, AGAIN, ANSWERED, ANSWERED]
    both = ModelProfile(takes_system=False, must_alternate=True)
    assert shaped(turns, both) == [
        ChatTurn("user", "Be brief.\n\nWhen?\n\nWhere?"),
        ChatTurn("assistant", "At dusk.\n\nAt dusk."),
    ]
    assert shaped(turns, ModelProfile(must_alternate=True))[0] == SYSTEM


@pytest.mark.parametrize(
    "said",
    [
        "System role not supported",
        "Jinja Exception: System role not supported at row 1, column 20",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
        "system messages are not supported by this model",
        "Only user and assistant roles are supported!",
    ],
)
def test_refusals_of_a_system_turn(said: str) -> None:
    assert learned_from(said, ModelProfile()) == {"takes_system": False}
    assert learned_from(said, ModelProfile(takes_system=False)) == {}


@pytest.mark.parametrize(
    "said",
    [
        "Conversation roles must alternate user/assistant/user/assistant/...",
        'messages: roles must alternate between "user" and "assistant"',
    ],
)
def test_refusals_of_the_order(said: str) -> None:
    assert learned_from(said, ModelProfile()) == {"must_alternate": True}
    # Some templates say this of a system turn too.
    assert learned_from(said, ModelProfile(must_alternate=True)) == {"takes_system": False}
    both = ModelProfile(must_alternate=True, takes_system=False)
    assert learned_from(said, both) == {}


def test_other_refusals_teach_nothing() -> None:
    for said in ("", "temperature must be below 2", "The system is overloaded", "Unknown model"):
        assert learned_from(said, ModelProfile(counts_usage=True)) == {}
    said = "Unrecognized request argument supplied: stream_options"
    assert learned_from(said, ModelProfile(counts_usage=True)) == {"counts_usage": False}


def test_images_go_as_data_urls_behind_the_text_whatever_shape_the_turns_take() -> None:
    seen = ChatTurn("user", "What is it?", (Image("image/png", b"\x89PNG"),))
    content = [
        {"type": "text", "text": "Be brief.\n\nWhen?\n\nWhat is it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
    ]
    profile = ModelProfile(takes_system=False, must_alternate=True)
    body = chat_body("m", [SYSTEM, ASKED, seen], profile)
    assert body["messages"] == [{"role": "user", "content": content}]
    alone = chat_body("m", [SYSTEM, seen], ModelProfile(takes_system=False))
    assert [part["type"] for part in alone["messages"][0]["content"]] == ["text", "image_url"]


@pytest.mark.parametrize(
    "said",
    [
        "image input is not supported - hint: you may need to provide the mmproj",
        "Invalid content type. image_url is only supported by certain models.",
        "unknown variant `image_url`, expected `text` at line 1",
        "This model does not support images.",
        "Images are not supported by this model",
        "this model is missing data required for image input",
        "No endpoints found that support image input",
        "m is not a multimodal model",
        "Error: messages.0.content should be a valid string",
        "Model does not have vision capabilities",
    ],
)
def test_refusals_of_images_are_understood(said: str) -> None:
    assert refuses_images(said)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "The server is overloaded. Please try again.",
        "the request exceeds the available context size (4096 tokens)",
        "Conversation roles must alternate user/assistant",
        "model 'imagine-7b' not found",
    ],
)
def test_other_refusals_are_not_about_images(said: str) -> None:
    assert not refuses_images(said)


def test_neighbours_in_one_role_keep_the_images_of_both() -> None:
    one, other = Image("image/png", b"one"), Image("image/png", b"other")
    turns = [ChatTurn("user", "This?", (one,)), ChatTurn("user", "That?", (other,))]
    [turn] = shaped(turns, ModelProfile(must_alternate=True))
    assert turn == ChatTurn("user", "This?\n\nThat?", (one, other))
