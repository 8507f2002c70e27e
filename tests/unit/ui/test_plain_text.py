"""S-02 and S-03: untrusted text never reaches a widget that guesses whether it is HTML.

Both the code and the widgets are checked.
"""

import ast
from functools import cache
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

import desktop_rag.ui
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, plain_tooltip
from desktop_rag.ui.widgets.notice_bar import NoticeBar

NASTY = "a<img src=&#47;dev&#47;zero>.pdf & <b>x</b>"
UI = Path(next(iter(desktop_rag.ui.__path__)))
# The only module that may create labels, and the modules that render rich text themselves.
LABEL_MAKER = "controls.py"
# `clipboard_data` shows nothing: other programs get a table's cells from it. `report_pdf` prints
# our own report, in which foreign text is escaped.
RICH_TEXT = {
    "setHtml": {
        "answer_body.py",
        "cited_text.py",
        "clipboard_data.py",
        "conversation_actions.py",
        "experiment_actions.py",
    },
    "insertHtml": {"page_viewer.py"},
}
NO_TEXT = {"appendHtml", "fromHtml", "setMarkdown", "insertMarkdown", "insertImage"}
# Classes that load files named in a text, or guess whether a text is HTML.
TEXT_CLASSES = {"QTextBrowser", "QTextEdit", "QTextDocument"}
# Drawn by the desktop, which shows markup literally; it holds the app's own words only.
DESKTOP_TOOLTIPS = {"tray.py", "app_icon.py"}
# Lays out plain text and reads no markup; it marks the words of a search, or measures lines.
PLAIN_LAYOUT = {
    "QTextLayout": {"passage_painter.py", "question_item.py", "table_widths.py"},
    "QTextDocument": {"experiment_actions.py"},
}
STATIC_BOXES = {"information", "warning", "critical", "question", "about"}


@cache
def calls() -> list[tuple[str, ast.Call]]:
    """Every call in the package, with the name of its module."""
    trees = [(path.name, ast.parse(path.read_text("utf-8"))) for path in sorted(UI.rglob("*.py"))]
    nodes = ((name, node) for name, tree in trees for node in ast.walk(tree))
    return [(name, node) for name, node in nodes if isinstance(node, ast.Call)]


def name_of(call: ast.Call) -> str:
    match call.func:
        case ast.Attribute(attr=attr):
            return attr
        case ast.Name(id=name):
            return name
        case _:
            return ""


def is_made_plain(argument: ast.expr) -> bool:
    """True for a tooltip argument that is empty or a result of `plain_tooltip`."""
    match argument:
        case ast.Constant(value=""):
            return True
        case ast.Call() as call:
            return name_of(call) == "plain_tooltip"
        case ast.IfExp(body=body, orelse=orelse):
            return is_made_plain(body) and is_made_plain(orelse)
        case _:
            return False


def place(module: str, call: ast.Call) -> str:
    return f"{module}:{call.lineno}"


def test_the_search_for_calls_finds_some() -> None:
    assert sum(1 for _ in calls()) > 500


def test_only_one_module_creates_labels() -> None:
    wrong = [
        place(module, call)
        for module, call in calls()
        if name_of(call) == "QLabel"
        and module != LABEL_MAKER
        and any(not isinstance(argument, ast.Name) for argument in call.args)
    ]
    assert wrong == []


def test_tooltips_are_plain() -> None:
    wrong = [
        place(module, call)
        for module, call in calls()
        if name_of(call) in {"setToolTip", "showText"}
        and module not in DESKTOP_TOOLTIPS
        and not any(is_made_plain(argument) for argument in call.args)
    ]
    assert wrong == []


@pytest.mark.slow
def test_rich_text_is_shown_only_where_it_is_made_safe() -> None:
    wrong = [
        place(module, call)
        for module, call in calls()
        if name_of(call) in NO_TEXT or module not in RICH_TEXT.get(name_of(call), {module})
    ]
    assert wrong == []


def test_every_text_widget_refuses_to_load_resources() -> None:
    """S-02; no class that builds on one of these loads any either. `test_segment_view` tests it."""
    found: dict[str, bool] = {}
    for path in sorted(UI.rglob("*.py")):
        text = path.read_text("utf-8")
        told = any(word in text for word in {*TEXT_CLASSES, "loadResource"})
        for node in ast.walk(ast.parse(text)) if told else ():
            if isinstance(node, ast.ClassDef):
                names = {m.name for m in node.body if isinstance(m, ast.FunctionDef)}
                refuses = "loadResource" in names
                if refuses or TEXT_CLASSES.intersection(map(ast.unparse, node.bases)):
                    found[node.name] = refuses
    assert found == dict.fromkeys(("InertBrowser", "MarkedText", "_InertPage"), True)


@pytest.mark.slow
def test_no_class_that_guesses_or_paints_text_is_used() -> None:
    wrong = [
        place(module, call)
        for module, call in calls()
        if name_of(call) in TEXT_CLASSES | {"QStaticText", "QTextLayout", "QWhatsThis"}
        and module not in PLAIN_LAYOUT.get(name_of(call), ())
    ]
    assert wrong == []


def test_message_boxes_are_plain_text() -> None:
    boxes = {m for m, call in calls() if name_of(call) == "QMessageBox"}
    plain = {m for m, call in calls() if name_of(call) == "setTextFormat"}
    assert boxes <= plain
    # The box's own label guesses the format of an informative text.
    assert [place(m, c) for m, c in calls() if name_of(c) == "setInformativeText"] == []
    assert [
        place(module, call)
        for module, call in calls()
        if name_of(call) in STATIC_BOXES and "QMessageBox" in ast.dump(call.func)
    ] == []


def test_no_widget_sets_its_own_style_sheet() -> None:
    wrong = [
        place(module, call)
        for module, call in calls()
        if name_of(call) == "setStyleSheet" and module != "theme.py"
    ]
    assert wrong == []


@pytest.mark.parametrize("label_class", [PlainLabel, ElidedLabel])
def test_labels_show_foreign_text_literally(label_class: type[PlainLabel], qtbot: QtBot) -> None:
    label = label_class(NASTY)
    qtbot.addWidget(label)
    label.resize(600, 20)
    label.show()
    assert label.textFormat() is Qt.TextFormat.PlainText
    qtbot.waitUntil(lambda: label.text() == NASTY)


def test_an_elided_label_has_a_plain_tooltip(qtbot: QtBot) -> None:
    label = ElidedLabel(NASTY)
    qtbot.addWidget(label)
    label.resize(60, 20)
    label.show()
    assert label.text().endswith("…")
    assert label.toolTip() == plain_tooltip(NASTY)
    label.resize(900, 20)
    assert label.toolTip() == ""


def test_a_tooltip_is_html_that_shows_the_text() -> None:
    assert plain_tooltip("<b>\n&") == "<qt>&lt;b&gt;<br>&amp;</qt>"
    assert plain_tooltip("") == ""


def test_notices_show_foreign_text_literally(theme: Theme, qtbot: QtBot) -> None:
    bar = NoticeBar(theme)
    qtbot.addWidget(bar)
    bar.show_notice(Notice(NASTY, NASTY))
    labels = [label for label in bar.findChildren(QLabel) if label.text()]
    assert [label.text() for label in labels] == [f"{NASTY} {NASTY}"]
    assert {label.textFormat() for label in labels} == {Qt.TextFormat.PlainText}
