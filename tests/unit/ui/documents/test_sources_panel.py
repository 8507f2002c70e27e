"""The sources panel: cited sources first, literal passages with highlights, open and copy."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import QAbstractButton, QLabel
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import NEAREST, SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.ui.documents.sources_panel import (
    PassageText,
    SourceCard,
    SourcesPanel,
    excerpt,
    unwrapped,
)
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel
from tests.unit.ui.rooms import marked_in

PASSAGE = "The wick is cut level. " * 30 + "It is trimmed twice a night." + " Then it burns." * 30
CITED = SourceRef(
    2, "d2", "b.pdf", "B <i>x</i>", Anchor(page=4), PASSAGE, 0.9, "It is trimmed twice a night."
)
CITED = replace(CITED, is_cited=True)
FOUND = SourceRef(1, "d1", "a.md", "A", Anchor(heading="Lamp › Wick"), "Short <b>one</b>.", 0.4)


@pytest.fixture
def panel(theme: Theme, qtbot: QtBot) -> SourcesPanel:
    panel = SourcesPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(340, 400)
    panel.show()
    panel.show_sources([FOUND, CITED])
    qtbot.waitUntil(lambda: set(cards(panel)) == {1, 2})  # built in slices of a few milliseconds
    return panel


def cards(panel: SourcesPanel) -> dict[int, SourceCard]:
    return {card.source.n: card for card in panel.findChildren(SourceCard)}


def press(card: SourceCard, name: str) -> None:
    buttons = card.findChildren(QAbstractButton)
    next(b for b in buttons if name in {b.accessibleName(), b.text()}).click()


def test_cited_sources_come_first(panel: SourcesPanel, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: cards(panel)[1].y() > cards(panel)[2].y() > 0)
    texts = [label.text() for label in panel.findChildren(QLabel)]
    assert {"Cited · 1", "Also found · 1", "2 sources"} <= set(texts)


def test_a_source_without_a_text_has_a_card(panel: SourcesPanel, qtbot: QtBot) -> None:
    panel.show_sources([replace(FOUND, n=3, document_id="d3", text="")])
    qtbot.waitUntil(lambda: set(cards(panel)) == {3})


def test_sources_of_one_passage_share_a_card(panel: SourcesPanel, qtbot: QtBot) -> None:
    again = replace(CITED, n=9, quote="Then it burns.")
    panel.show_sources([FOUND, CITED, again, replace(CITED, n=4, is_cited=False, quote="")])
    qtbot.waitUntil(lambda: set(cards(panel)) == {1, 2})
    shown = cards(panel)[2]
    texts = [label.text() for label in panel.findChildren(QLabel)]
    assert {"2, 9, 4", "Cited · 1", "Also found · 1", "2 sources"} <= set(texts)
    at = PASSAGE.index("It is trimmed")
    panel.mark_cited({2: [(at, at + 5)], 9: [(at + 20, at + 25)]})
    assert (
        marked_in(shown.findChildren(PassageText)[0])
        == PASSAGE[at : at + 5] + PASSAGE[at + 20 : at + 25]
    )
    panel.choose(9)
    assert shown.property("chosen")
    assert not cards(panel)[1].property("chosen")


def test_many_that_no_sentence_cites_are_shown_by_a_press(
    panel: SourcesPanel, qtbot: QtBot
) -> None:
    others = [replace(FOUND, n=n, text=f"Text {n}.") for n in range(3, 9)]
    panel.show_sources([CITED, *others])
    qtbot.waitUntil(lambda: set(cards(panel)) == {2})
    [more] = [b for b in panel.findChildren(QAbstractButton) if b.text() == "Also found · 6"]
    assert more.isVisible()
    assert more.y() > cards(panel)[2].y()
    panel.choose(5)
    assert not more.isVisible()
    qtbot.waitUntil(lambda: set(cards(panel)) == set(range(2, 9)))
    assert cards(panel)[8].y() > cards(panel)[3].y() > cards(panel)[2].y()
    panel.show_sources(others)
    qtbot.waitUntil(lambda: set(cards(panel)) == set(range(3, 9)))


def test_a_card_shows_its_document_and_location(panel: SourcesPanel) -> None:
    assert lines(cards(panel)[2]) == ["B <i>x</i>", "page 4", "b.pdf"]
    assert lines(cards(panel)[1]) == ["A", "Lamp › Wick", "a.md"]


def lines(card: SourceCard) -> list[str]:
    """What the head of a card says beside the number."""
    labels = [label for label in card.findChildren(PlainLabel) if label.text()]
    shown = [
        label.full_text if isinstance(label, ElidedLabel) else label.text() for label in labels
    ]
    return [line for line in shown if not line.isdecimal()]


def test_a_path_of_headings_is_shown_whole(panel: SourcesPanel, qtbot: QtBot) -> None:
    path = "Handbook of the lighthouse › Maintenance in winter › Trimming of the wick"
    panel.resize(220, 500)
    panel.show_sources([replace(FOUND, anchor=Anchor(heading=path))])
    qtbot.waitUntil(lambda: set(cards(panel)) == {FOUND.n})
    [label] = [w for w in cards(panel)[FOUND.n].findChildren(PlainLabel) if w.text() == path]
    assert label.height() >= label.heightForWidth(label.width()) > 2 * label.fontMetrics().height()


def test_consecutive_passages_name_their_document_once(panel: SourcesPanel, qtbot: QtBot) -> None:
    more = replace(FOUND, n=3, anchor=Anchor(heading="Lamp › Oil"))
    nameless = replace(FOUND, n=4, anchor=Anchor())
    panel.show_sources([FOUND, more, nameless, replace(FOUND, n=5, document_id="d9")])
    qtbot.waitUntil(lambda: set(cards(panel)) == {1, 3, 4, 5})
    shown = cards(panel)
    assert lines(shown[1]) == ["A", "Lamp › Wick", "a.md"]
    assert lines(shown[3]) == ["Lamp › Oil"]
    assert lines(shown[4]) == ["A", "a.md"]
    assert lines(shown[5]) == ["A", "Lamp › Wick", "a.md"]


def test_other_copies_of_the_text_are_named(panel: SourcesPanel, qtbot: QtBot) -> None:
    copies = ("/old/<b>/a.md", "/x/copy/a.md", "/y/a.md")
    panel.show_sources([replace(FOUND, n=7, also_in=copies)])
    qtbot.waitUntil(lambda: set(cards(panel)) == {7})
    [label] = [w for w in cards(panel)[7].findChildren(ElidedLabel) if "Also" in w.full_text]
    assert label.full_text == "Also in <b>/a.md, copy/a.md and 1 more"
    assert label.textFormat() is Qt.TextFormat.PlainText
    panel.resize(200, 400)
    assert "/y/a.md" in label.toolTip()
    assert "&lt;b&gt;" in label.toolTip()


def test_a_card_says_what_to_know_of_its_file(panel: SourcesPanel, qtbot: QtBot) -> None:
    caution = "Hidden rows of the sheet S are not read: 2."
    panel.show_sources([FOUND, replace(FOUND, n=4, anchor=Anchor(page=9))])
    qtbot.waitUntil(lambda: set(cards(panel)) >= {1, 4})
    panel.warn({FOUND.document_id: caution})
    labels = {
        n: [label.text() for label in c.findChildren(QLabel)] for n, c in cards(panel).items()
    }
    assert [caution in labels[n] for n in (1, 4)] == [True, False], "the second goes on in its file"


def test_nearest_passages_have_their_own_heading(panel: SourcesPanel, qtbot: QtBot) -> None:
    panel.show_sources([], [FOUND, replace(FOUND, n=2, document_id="d9")])

    def shown() -> set[str]:
        return {label.text() for label in panel.findChildren(QLabel) if label.isVisible()}

    qtbot.waitUntil(lambda: len(cards(panel)) == 2 and {"Nearest passages", NEAREST} <= shown())
    assert panel.sources == ()
    panel.show_sources([])
    qtbot.waitUntil(lambda: cards(panel) == {})


def test_the_passage_is_collapsed_around_its_quote(panel: SourcesPanel) -> None:
    passage = cards(panel)[2].findChildren(PassageText)[0]
    assert len(passage.toPlainText()) < 350
    assert "It is trimmed twice a night." in passage.toPlainText()
    press(cards(panel)[2], "Show more")
    assert passage.toPlainText() == PASSAGE.strip()
    press(cards(panel)[2], "Show less")
    assert len(passage.toPlainText()) < 350


def test_the_quote_is_marked(panel: SourcesPanel, theme: Theme) -> None:
    passage = cards(panel)[2].findChildren(PassageText)[0]
    cursor = passage.document().find("trimmed")
    assert cursor.charFormat().background().color() == theme.colour("highlight")
    cursor = passage.document().find("wick")
    assert cursor.charFormat().background().style() is Qt.BrushStyle.NoBrush


def test_a_source_is_read_or_opened_in_another_program(panel: SourcesPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.open_requested) as asked:
        press(cards(panel)[2], "Open source 2 in another program")
    assert asked.args == [CITED]
    with qtbot.waitSignal(panel.read_requested) as asked:
        press(cards(panel)[2], "Read source 2")
    assert asked.args == [CITED]


def test_a_click_on_a_card_reads_its_source_unless_words_are_selected(
    panel: SourcesPanel, qtbot: QtBot
) -> None:
    card = cards(panel)[2]
    title = next(
        label for label in card.findChildren(ElidedLabel) if label.full_text == CITED.title
    )
    [passage] = card.findChildren(PassageText)
    read: list[object] = []
    panel.read_requested.connect(read.append)
    qtbot.mouseClick(title, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(passage.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(4, 4))
    assert read == [CITED, CITED]
    start, end = QPoint(4, 4), QPoint(60, 4)
    qtbot.mousePress(passage.viewport(), Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(passage.viewport(), end)
    cursor = passage.textCursor()
    cursor.select(QTextCursor.SelectionType.WordUnderCursor)
    passage.setTextCursor(cursor)
    qtbot.mouseRelease(passage.viewport(), Qt.MouseButton.LeftButton, pos=end)
    assert passage.textCursor().hasSelection()
    assert len(read) == 2


def test_copy_gives_the_whole_passage(panel: SourcesPanel) -> None:
    press(cards(panel)[2], "Copy source 2")
    assert QGuiApplication.clipboard().text() == PASSAGE


def test_choosing_marks_one_card(panel: SourcesPanel) -> None:
    panel.choose(1)
    panel.choose(2)
    assert cards(panel)[2].property("chosen") is True
    assert cards(panel)[1].property("chosen") is False


def test_other_sources_replace_the_first(panel: SourcesPanel, qtbot: QtBot) -> None:
    panel.show_sources([replace(FOUND, n=7)])
    qtbot.waitUntil(lambda: list(cards(panel)) == [7])
    panel.show_sources([])
    qtbot.waitUntil(lambda: cards(panel) == {})


def test_a_panel_of_found_sources_has_no_headings(theme: Theme, qtbot: QtBot) -> None:
    panel = SourcesPanel(theme)
    qtbot.addWidget(panel)
    panel.show_sources([FOUND])
    texts = [label.text() for label in panel.findChildren(QLabel)]
    assert "1 source" in texts
    assert not any(text.startswith("Also found") for text in texts)


@pytest.mark.parametrize(
    ("passage", "quote", "expected"),
    [
        ("short", "", "short"),
        ("one two", "two", "one two"),
        ("x" * 400, "", "x" * 280 + " …"),
        ("word " * 100 + "END", "END", "… " + "word " * 17 + "END"),
        ("x | y\n" * 40, "x | y\n" * 40, "x | y\n" * 9 + "x | y …"),
        ("a\n" * 20 + "b\n" * 20, "b\n" * 20, "… " + "b\n" * 9 + "b …"),
    ],
)
def test_an_excerpt_is_around_its_quote(passage: str, quote: str, expected: str) -> None:
    at = passage.index(quote)
    assert excerpt(passage, [(at, at + len(quote))] if quote else []).text == expected


def test_an_excerpt_has_all_places_that_are_marked() -> None:
    passage = f"The lamp burns. {'It is tall. ' * 40}Oil 12 13\n{'It is old. ' * 40}End."
    places = [place_of(words, passage) for words in ("lamp burns", "Oil 12 13")]
    shown = excerpt(passage, places)
    assert [shown.text[slice(*place)] for place in shown.marked] == ["lamp burns", "Oil 12 13"]
    assert shown.text == "The lamp burns … It is tall. It is tall. Oil 12 13 …"


def test_a_quote_of_many_lines_is_marked_as_far_as_it_is_shown(theme: Theme, qtbot: QtBot) -> None:
    rows = "\n".join(f"row {n}" for n in range(40))
    text = PassageText(theme, f"Head\n{rows}", rows)
    qtbot.addWidget(text)
    assert text.is_longer
    assert text.toPlainText() == "… " + "\n".join(f"row {n}" for n in range(10)) + " …"
    assert marked_in(text) == "\n".join(f"row {n}" for n in range(10))
    text.show_whole(True)
    assert text.toPlainText() == f"Head\n{rows}"


def place_of(words: str, passage: str) -> tuple[int, int]:
    at = passage.index(words)
    return at, at + len(words)


def test_a_card_marks_each_place_that_its_source_is_cited_for(
    panel: SourcesPanel, qtbot: QtBot
) -> None:
    passage = cards(panel)[2].findChildren(PassageText)[0]
    assert marked_in(passage) == "It is trimmed twice a night."
    panel.mark_cited({2: [place_of(words, PASSAGE) for words in ("The wick", "trimmed")]})
    assert marked_in(passage) == "The wicktrimmed"
    panel.show_sources([])
    panel.show_sources([CITED])
    qtbot.waitUntil(lambda: list(cards(panel)) == [2])
    assert marked_in(cards(panel)[2].findChildren(PassageText)[0]) == CITED.quote


def test_lines_of_a_page_are_put_together_and_those_of_a_table_are_not() -> None:
    text = "The wick is cut level every evening at dusk,\nand never by day.\nWick 12\nlamp 3"
    shown = unwrapped(text, 40)
    assert shown == text.replace("dusk,\nand", "dusk, and")
    assert len(shown) == len(text)
    assert unwrapped(text, 60) == text


def test_a_quote_across_lines_of_a_page_is_marked(theme: Theme, qtbot: QtBot) -> None:
    text = "Of the wick it is known that it is cut level each\nevening."
    source = replace(FOUND, text=text, quote="cut level each\nevening", anchor=Anchor(page=1))
    card = SourceCard(theme, source)
    qtbot.addWidget(card)
    passage = card.findChildren(PassageText)[0]
    assert passage.toPlainText() == text.replace("\n", " ")
    cursor = passage.document().find("each evening")
    assert cursor.charFormat().background().color() == theme.colour("highlight")


def test_a_card_that_follows_is_no_higher_than_its_buttons(theme: Theme, qtbot: QtBot) -> None:
    card = SourceCard(theme, replace(FOUND, text="Short."), follows=True)
    qtbot.addWidget(card)
    card.resize(320, 200)
    card.show()
    [place] = [w for w in card.findChildren(PlainLabel) if w.text() == "Lamp › Wick"]
    copy = next(b for b in card.findChildren(QAbstractButton) if "Copy" in b.accessibleName())
    qtbot.waitUntil(lambda: abs(place.geometry().center().y() - copy.geometry().center().y()) <= 1)


def test_no_card_is_squashed_even_before_the_window_is_drawn(theme: Theme, qtbot: QtBot) -> None:
    panel = SourcesPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(340, 700)
    panel.show()
    qtbot.waitExposed(panel)
    texts = [f"Passage {n} of the log. " + "The wick is cut level. " * n * 3 for n in range(1, 4)]
    place = Anchor(heading="Handbook of the lighthouse › Maintenance in winter › Trimming of wicks")
    sources = [
        replace(FOUND, n=n, document_id=f"d{n}", text=t, anchor=place)
        for n, t in enumerate(texts, 1)
    ]
    panel.show_sources(sources)
    assert all(map(is_laid_out, cards(panel).values()))
    panel.resize(260, 700)
    assert all(map(is_laid_out, cards(panel).values()))


def is_laid_out(card: SourceCard) -> bool:
    """True when the passage has its height, the buttons stand below it, and no space is left."""
    [passage] = card.findChildren(PassageText)
    buttons = card.findChildren(QAbstractButton)
    copy = next(b for b in buttons if b.accessibleName().startswith("Copy source"))
    is_high = passage.height() >= passage.document().size().height()
    [place] = [w for w in card.findChildren(PlainLabel) if " › " in w.text()]
    is_high = is_high and place.height() == place.heightForWidth(place.width())
    is_apart = copy.y() >= passage.y() + passage.height()
    return is_high and is_apart and card.height() == card.sizeHint().height()
