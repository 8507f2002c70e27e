"""What would be written to a note, before it is."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.features.schedules.ui.notes_page import ChangeDialog
from desktop_rag.features.schedules.values.note_page import ProposedSection, SectionChange
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.messages.cited_text import CitedText

BEFORE = "The *lamp* was lit by hand [[2]](../old%20lamp.md)."
AFTER = """\
- The **lamp** is lit at dusk [[3]](../lamp.md).
- The wick is trimmed [[3]](../lamp.md), not in 1974 [7].
"""


def source(n: int, start: int) -> SourceRef:
    text = "The lamp is lit at dusk."
    return SourceRef(n, "d", "/docs/lamp.md", "Lamp", Anchor(), text, 1.0, text, start, start + 9)


@pytest.fixture
def text(qtbot: QtBot, theme: Theme) -> Iterator[CitedText]:
    parent = QWidget()
    qtbot.addWidget(parent)
    cited = (source(4, 10), source(1, 90))
    changes = [
        ProposedSection(SectionChange.CHANGED, "Lighting", BEFORE, AFTER, cited=cited),
        ProposedSection(SectionChange.GONE, "Trimming", BEFORE),
    ]
    [text] = ChangeDialog("Lamps", changes, theme, parent).findChildren(CitedText)
    yield text
    parent.close()


def links(text: CitedText) -> list[tuple[str, str]]:
    """The written text and the target of each link, in their order."""
    found: list[tuple[str, str]] = []
    block = text.document().begin()
    while block.isValid():
        fragments = block.begin()
        while not fragments.atEnd():
            fragment = fragments.fragment()
            form = fragment.charFormat()
            if form.isAnchor():
                if found and found[-1][1] == form.anchorHref():
                    found[-1] = (found[-1][0] + fragment.text(), found[-1][1])
                else:
                    found.append((fragment.text(), form.anchorHref()))
            fragments += 1
        block = block.next()
    return found


def test_the_texts_are_written_out_with_citations_instead_of_links(text: CitedText) -> None:
    said = text.toPlainText()
    assert "The lamp was lit by hand [2]." in said
    assert "The wick is trimmed [3], not in 1974 [7]." in said
    assert not [mark for mark in ("*", "](", "..", "%20") if mark in said]


def test_a_citation_shows_its_number_in_the_note_and_leads_to_its_place(
    qtbot: QtBot, text: CitedText
) -> None:
    assert links(text) == [("[3]", "cite:1"), ("[3]", "cite:2")]
    with qtbot.waitSignal(text.read_requested) as read:
        text.anchorClicked.emit(QUrl("cite:2"))
    assert read.args is not None
    assert read.args[0].start == 90
