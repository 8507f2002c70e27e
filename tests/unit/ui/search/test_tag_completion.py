"""Tags are offered while `tag:` is written."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from desktop_rag.ui.search.search_page import TagCompletion


@pytest.fixture
def field(qtbot: QtBot) -> QLineEdit:
    field = QLineEdit()
    qtbot.addWidget(field)
    field.show()
    qtbot.waitActive(field)
    return field


@pytest.fixture
def completion(field: QLineEdit) -> TagCompletion:
    completion = TagCompletion(field)
    completion.set_tags(["roof", "to do", "Wales"])
    return completion


@pytest.mark.parametrize(
    ("written", "offered"),
    [
        ("tag:", ["roof", "to do", "Wales"]),
        ("lamp -tag:o", ["roof", "to do"]),
        ('tag:"to d', ["to do"]),
        ("tag:roof", []),
        ("tag:nothing", []),
        ("stag:", []),
        ("lamp", []),
    ],
)
def test_what_is_written_behind_tag_is_offered(
    completion: TagCompletion, field: QLineEdit, qtbot: QtBot, written: str, offered: list[str]
) -> None:
    qtbot.keyClicks(field, written)
    assert completion.offered == offered


@pytest.mark.parametrize(("written", "text"), [("lamp tag:o", "lamp tag:roof "),
                                               ("tag:to", 'tag:"to do" ')])  # fmt: skip
def test_a_chosen_tag_is_written(
    completion: TagCompletion, field: QLineEdit, qtbot: QtBot, written: str, text: str
) -> None:
    qtbot.keyClicks(field, written)
    popup = QApplication.activePopupWidget()
    assert popup is not None
    qtbot.keyClick(popup, Qt.Key.Key_Down)
    qtbot.keyClick(popup, Qt.Key.Key_Return)
    assert field.text() == text
    assert completion.offered == []
