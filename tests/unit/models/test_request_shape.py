import pytest

from desktop_rag.core.model_profile import ModelProfile
from desktop_rag.models.ports import ChatTurn
from desktop_rag.models.request_shape import chat_body, learned_from, shaped

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
