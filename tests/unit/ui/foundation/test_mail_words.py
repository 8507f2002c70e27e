"""The head of a message in the language of the window, wherever its words are shown."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.domain import Passage, StoredText
from desktop_rag.core.language.translation import use_language
from desktop_rag.core.parsed import Anchor
from desktop_rag.ui.documents.sources_panel import SourceCard
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.document_kinds import with_head_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.messages.cited_text import citation_tip
from desktop_rag.ui.passages.passage_painter import FoundPassage
from desktop_rag.ui.viewers.mail_viewer import MailViewer
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.marked_text import MarkedText
from tests.unit.ui.rooms import make_document

MAIL = "From: Ada <a@b.example>\nTo: Bo\nDate: Monday\nSubject: Lamp\n\nTo: all keepers."
GERMAN = {
    "From: {value}": "Von: {value}",
    "To: {value}": "An: {value}",
    "Date: {value}": "Datum: {value}",
    "Subject: {value}": "Betreff: {value}",
}


@pytest.fixture(autouse=True)
def german() -> Iterator[None]:
    use_language(lambda text: GERMAN.get(text, ""))
    yield
    use_language(None)


def source(quote: str = "") -> SourceRef:
    return SourceRef(1, "d", "/mail/lamp.eml", "Lamp", Anchor(), MAIL, 0.5, quote=quote)


def test_only_the_head_of_a_message_is_put_into_words() -> None:
    german = "Von: Ada <a@b.example>\nAn: Bo\nDatum: Monday\nBetreff: Lamp\n\nTo: all keepers."
    assert with_head_in_words(MAIL, "/mail/lamp.eml") == german
    assert with_head_in_words(MAIL, "/mail/all.zip", "lamp.eml") == german
    assert with_head_in_words(MAIL, "/mail/lamp.txt") == MAIL


def test_the_viewer_names_the_lines_of_the_head(bridge: Bridge, theme: Theme, qtbot: QtBot) -> None:
    viewer = MailViewer(bridge, theme)
    qtbot.addWidget(viewer)
    viewer.show_document(StoredText(make_document("lamp.eml"), MAIL), (0, 0))
    names = {label.text() for label in viewer.findChildren(PlainLabel)}
    assert {"Von", "An", "Datum", "Betreff"} <= names


def test_a_card_marks_a_quote_that_begins_in_the_head(theme: Theme, qtbot: QtBot) -> None:
    card = SourceCard(theme, source("Ada <a@b.example>\nTo: Bo"))
    qtbot.addWidget(card)
    passage = card.findChildren(MarkedText)[0]
    assert passage.toPlainText().startswith("Von: Ada <a@b.example>\nAn: Bo\nDatum")
    cursor = passage.document().find("An: Bo")
    assert cursor.charFormat().background().color() == theme.colour("highlight")


def test_a_tip_and_a_found_passage_say_it_too() -> None:
    assert citation_tip(source()).startswith("Von: Ada <a@b.example> An: Bo")
    passage = Passage(1, "d", "/mail/lamp.eml", "Lamp", MAIL, Anchor(), 0, len(MAIL), 0.5)
    assert FoundPassage.of(passage, "keepers").piece.startswith("Von: Ada")
