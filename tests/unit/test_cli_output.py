"""What the verbs print of an answer: one document, lines for people."""

from dataclasses import replace

from desktop_rag.cli_output import answer_json, answer_lines
from desktop_rag.core.anchors import Anchor
from desktop_rag.core.conversation import NEAREST, Message, Role, SearchNotes, SourceRef

SOURCE = SourceRef(1, "d", "/docs/a.pdf", "A", Anchor(page=3), "Text.", 0.5, "Text.", is_cited=True)
ANSWER = Message(
    "m", "c", Role.ASSISTANT, "So \\[it\\] is [1].", 1.0, model="tiny", seconds=0.5,
    sources=(SOURCE,),
)  # fmt: skip
REFUSED = replace(
    ANSWER, text="Nothing.", model="", sources=(), nearest=(replace(SOURCE, is_cited=False),)
)
KEYS = {"answer", "citations", "claims", "follow_ups", "model", "seconds"}


def test_an_answer_has_the_same_keys_as_ever() -> None:
    assert set(answer_json(replace(ANSWER, notes=SearchNotes()))) == KEYS


def test_the_nearest_passages_are_named_so() -> None:
    document = answer_json(REFUSED)
    assert set(document) == KEYS | {"nearest"}
    assert document["citations"] == []
    assert answer_lines(document) == [
        "Nothing.", "", "0.5 s", "", f"{NEAREST}:", "[1] A, page 3  /docs/a.pdf",
    ]  # fmt: skip


def test_what_the_search_understood_is_said() -> None:
    notes = SearchNotes((("termostat", "thermostat"),), searched=1)
    document = answer_json(replace(ANSWER, notes=notes))
    assert document["notes"]["repaired"] == [["termostat", "thermostat"]]
    assert answer_lines(document) == [
        "So [it] is [1].",
        "",
        "Searched for “thermostat” instead of “termostat”.",
        "tiny, 0.5 s",
        "",
        "Sources:",
        "[1] A, page 3  /docs/a.pdf",
    ]


def test_excerpts_say_that_no_model_was_asked() -> None:
    lines = answer_lines(answer_json(replace(ANSWER, model="", is_excerpts=True)))
    assert "Excerpts from your documents (no endpoint is set), 0.5 s" in lines
