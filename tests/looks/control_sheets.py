"""The sheets of the widgets that all rooms share. Qt thread."""

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QRadioButton,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.library_events import Notice
from desktop_rag.core.paths import resources_dir
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import (
    Card,
    ElidedButton,
    ElidedLabel,
    IconButton,
    IconLabel,
    MenuButton,
    PlainLabel,
    TextButton,
)
from desktop_rag.ui.widgets.find_bar import FindBar
from desktop_rag.ui.widgets.form_fields import SettingsSection, money_field, note, number_field
from desktop_rag.ui.widgets.item_list import Column, ColumnTable, ItemList, RowsModel
from desktop_rag.ui.widgets.marked_text import MarkedText
from desktop_rag.ui.widgets.notice_bar import NoticeCard
from desktop_rag.ui.widgets.removable_chip import RemovableChip

_TONES = ("", "muted", "accent", "success", "warning", "danger")
_SCALES = ("small", "", "heading", "title")
_KINDS = ("", "primary", "quiet", "danger", "link", "toggle", "example", "action", "more")
_STATES = ("usual", "hover", "pressed", "checked", "disabled")
_LONG = "A name that is much too long for the room it has, and then some more of it"
_ARABIC = "متى يُضاء المصباح في المنارة؟"
_ICONS_IN_ROW = 4
Shown = tuple[str, QWidget]


def in_row(*widgets: QWidget) -> QWidget:
    """The widgets side by side."""
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    for widget in widgets:
        row.addWidget(widget)
    row.addStretch(1)
    return made


def labels(_theme: Theme) -> Iterator[Shown]:
    """Text in all tones and sizes."""
    for tone in _TONES:
        sizes = [PlainLabel(scale or "body", tone=tone, scale=scale) for scale in _SCALES]
        yield tone or "plain", in_row(*sizes)
    yield "elided", ElidedLabel(_LONG * 2)
    yield "elided in the middle", ElidedLabel(_LONG * 2, mode=Qt.TextElideMode.ElideMiddle)
    yield "wrapped", PlainLabel(_LONG * 4, wrap=True)
    yield "Arabic", PlainLabel(_ARABIC, wrap=True)
    yield "markup stays text", PlainLabel("<b>not bold</b> & <img src=x>")
    yield "note", note("What a field does, in one or two sentences below it.")


def in_state(button: QAbstractButton, state: str) -> QAbstractButton:
    """The button as it looks under the pointer, held down, switched on or out of use."""
    match state:
        case "hover":
            button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
        case "pressed":
            button.setDown(True)
        case "checked":
            button.setCheckable(True)
            button.setChecked(True)
        case "disabled":
            button.setEnabled(False)
        case _:
            pass
    return button


def buttons(theme: Theme) -> Iterator[Shown]:
    """All kinds of buttons in all states."""
    for kind in _KINDS:
        yield kind or "plain", in_row(*(in_state(TextButton(s, kind=kind), s) for s in _STATES))
    yield "icon", in_row(*(in_state(IconButton(theme, "copy:muted", s), s) for s in _STATES))
    menus = [MenuButton(theme) for _ in range(2)]
    for menu, text in zip(menus, ("All documents", _LONG), strict=True):
        menu.setText(text)
    yield "menu", in_row(*menus)
    yield "elided", ElidedButton(_LONG * 2, "quiet")


def fields(_theme: Theme) -> Iterator[Shown]:
    """What people type into and choose from."""
    empty, full, wrong, off = (QLineEdit() for _ in range(4))
    empty.setPlaceholderText("What goes here")
    for field in (full, wrong, off):
        field.setText("http://localhost:11434/v1")
    wrong.setProperty("state", "wrong")
    off.setEnabled(False)
    yield "line: empty", empty
    yield "line: filled", full
    yield "line: wrong", wrong
    yield "line: disabled", off
    yield "line: Arabic", QLineEdit(_ARABIC)
    text = QPlainTextEdit("Several lines\nof text")
    text.setFixedHeight(64)
    yield "text", text
    choices, no_choice = QComboBox(), QComboBox()
    for combo in (choices, no_choice):
        combo.addItems(["All documents", "Letters", _LONG])
    no_choice.setEnabled(False)
    yield "choice", in_row(choices, no_choice)
    yield "numbers", in_row(number_field(1, 60, 1, " minutes"), money_field(100.0))
    marks = [QCheckBox("off"), QCheckBox("on"), QCheckBox("disabled")]
    marks[1].setChecked(True)
    marks[2].setEnabled(False)
    yield "check box", in_row(*marks)
    radios = [QRadioButton("off"), QRadioButton("on"), QRadioButton("disabled")]
    radios[1].setChecked(True)
    radios[2].setEnabled(False)
    yield "radio button", in_row(*radios)
    slider = QSlider(Qt.Orientation.Horizontal)
    slider.setValue(40)
    yield "slider", slider
    bars = [QProgressBar(textVisible=False) for _ in range(3)]
    for bar, value in zip(bars, (0, 45, 100), strict=True):
        bar.setValue(value)
    yield "progress", in_row(*bars)


def cards(theme: Theme) -> Iterator[Shown]:
    """Frames, notices and sections."""
    for kind in ("card", "chip", "bubble", "source", "notice"):
        yield f"card: {kind}", _filled(Card(kind=kind))
    for tone in ("danger", "warning", "success"):
        yield f"chip: {tone}", _filled(Card(kind="chip", tone=tone))
    notice = Notice("The folder is offline.", "Its documents can be asked, but not updated.")
    for tone in ("", "danger"):
        yield f"notice: {tone or 'plain'}", NoticeCard(theme, notice, tone=tone, action="Show it")
    section = SettingsSection("Section", "What it is about.")
    section.add_row("Field", QLineEdit("value"))
    yield "section", section


def rows(theme: Theme) -> Iterator[Shown]:
    """Tables, lists and marked text."""
    columns = (
        Column[str]("Name", lambda name: name, share=1),
        Column[str]("Type", lambda _: "Markdown", ["Markdown"]),
        Column[str]("State", lambda _: "searchable", ["searchable"], colour_of=lambda _: "success"),
    )
    model = RowsModel(columns, theme)
    model.show([_LONG, "letter 1.md", "letter 2.md"])
    filled = ColumnTable(theme, model, "Files")
    filled.setFixedHeight(140)
    filled.selectRow(1)
    yield "table", filled
    for lines in (["small · done · 40 of 40", _LONG], []):
        listed = ItemList("Runs", "No runs yet.")
        listed.addItems(lines)
        listed.setCurrentRow(0)
        listed.setFixedHeight(90)
        yield f"list: {'filled' if lines else 'empty'}", listed
    marked = MarkedText(theme, "Passage")
    marked.show_marked("The lamp is lit at dusk by the keeper.", [(4, 8), (19, 23)])
    yield "marked text", marked


def icons(theme: Theme) -> Iterator[Shown]:
    """Each icon with its name, so that one meaning keeps to one icon."""
    names = sorted(path.stem for path in (resources_dir() / "icons").glob("*.svg"))
    made = QWidget()
    grid = QGridLayout(made)
    for position, name in enumerate(names):
        cell = in_row(IconLabel(theme, f"{name}:text"), PlainLabel(name, scale="small"))
        grid.addWidget(cell, *divmod(position, _ICONS_IN_ROW))
    yield "all", made


def parts(theme: Theme) -> Iterator[Shown]:
    """What several rooms put together."""
    yield "chip", in_row(RemovableChip(theme, "letters", "Don’t ask about letters"))
    yield "find", FindBar(theme, "Find in the document")


def _filled(card: Card) -> Card:
    column = QVBoxLayout(card)
    column.addWidget(PlainLabel("Text on a card, in its usual tone."))
    return card
