import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from desktop_rag.answer.conversations.conversation_file import export_text
from desktop_rag.core.conversation import (
    AnswerStep,
    Attachment,
    AttachmentKind,
    Conversation,
    Feedback,
    Message,
    MessageState,
    Role,
    SearchNotes,
    SourceRef,
)
from desktop_rag.core.parsed import Anchor

EVIL = '<script>alert(1)</script> ![x](https://a.example/x.png) <img src="https://a.example/y">'
TALK = Conversation("c", f"Lamps {EVIL}", "", 5.0)
SOURCE = SourceRef(
    1, "d", "/docs/lamp [1].md", f"Lamp {EVIL}", Anchor(page=3), "passage", 0.5,
    "It burns oil.\n<b>really</b>", 4, 17, is_cited=True,
)  # fmt: skip
UNCITED = SourceRef(2, "e", "/docs/fog.md", "Fog", Anchor(line=1), "horn", 0.4)
MESSAGES = [
    Message("q", "c", Role.USER, f"# When?\n{EVIL}", 5.0,
            attachments=(Attachment("1", f"lease {EVIL}.pdf", document_id="d", pages=3),
                         Attachment("2", "photo.png", AttachmentKind.IMAGE))),
    Message("a", "c", Role.ASSISTANT, f"At **dusk** [1]. {EVIL}", 6.0, model="some-model",
            sources=(SOURCE, UNCITED)),
    Message("f", "c", Role.ASSISTANT, "", 7.0, MessageState.FAILED, error_title="Gone.",
            error_hint="Ask later."),
]  # fmt: skip


class Tags(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("ending", [".md", ".html"])
def test_foreign_text_stays_text_and_loads_nothing(ending: str) -> None:
    text = export_text(TALK, MESSAGES, ending)
    page = MarkdownIt("commonmark", {"html": False}).render(text) if ending == ".md" else text
    tags = Tags(page)
    assert not {"script", "img", "b", "iframe", "link"} & set(tags.names)
    assert "<script>alert(1)</script>" in tags.text
    assert "strong" in tags.names


@pytest.mark.parametrize("ending", [".md", ".HTML"])
def test_sources_that_are_cited_stand_with_place_and_quote(ending: str) -> None:
    text = export_text(TALK, MESSAGES, ending).replace("\\", "")
    for expected in ("page 3", "/docs/lamp [1].md", "It burns oil.", "some-model", "Gone. Ask la"):
        assert expected in text
    assert "fog.md" not in text


@pytest.mark.parametrize("ending", [".md", ".html"])
def test_what_is_the_models_own_is_told(ending: str) -> None:
    own = replace(MESSAGES[1], sources=(), is_own_knowledge=True)
    assert "not from your documents" in export_text(TALK, [own], ending)
    assert "not from your documents" not in export_text(TALK, MESSAGES, ending)


@pytest.mark.parametrize("ending", [".md", ".html", ".json"])
def test_steps_and_the_opinion_are_told(ending: str) -> None:
    notes = SearchNotes(
        steps=(AnswerStep("Calculated 6 x 7 = 42"), AnswerStep("Read fog.md", (2,)))
    )
    text = export_text(TALK, [replace(MESSAGES[1], notes=notes, feedback=Feedback.LIKED)], ending)
    for told in ("Calculated 6 x 7 = 42", "Read fog.md", "iked"):
        assert told in text


def test_json_has_everything() -> None:
    document = json.loads(export_text(TALK, MESSAGES, ".json"))
    assert document["title"] == TALK.title
    question, answer, failed = document["messages"]
    assert (question["role"], question["text"]) == ("user", MESSAGES[0].text)
    assert [source["path"] for source in answer["sources"]] == [SOURCE.path, UNCITED.path]
    assert answer["sources"][0]["anchor"] == {"page": 3}
    assert answer["sources"][0]["quote"] == SOURCE.quote
    assert failed["state"] == "failed"


def test_a_conversation_without_messages_is_its_title() -> None:
    front = "---\ngenerator: desktop-rag chat\n---\n\n"
    assert export_text(Conversation("c", "Lamps", "", 5.0), [], ".md") == f"{front}# Lamps\n"


@pytest.mark.parametrize("ending", [".md", ".html"])
def test_a_question_tells_what_was_attached(ending: str) -> None:
    text = export_text(TALK, MESSAGES, ending)
    page = MarkdownIt("commonmark", {"html": False}).render(text) if ending == ".md" else text
    assert "Attached: lease <script>" in Tags(page).text
    assert "(3 pages), photo.png (image)" in Tags(page).text
