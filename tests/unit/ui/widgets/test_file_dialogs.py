"""Dialogs for files begin where a person keeps files, not where the app was started."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.ui.widgets.forms import choose_file, choose_folder, save_as


def opened(parent: QWidget) -> QFileDialog:
    return parent.findChildren(QFileDialog)[-1]


def test_the_next_begins_where_the_last_ended(qtbot: QtBot, tmp_path: Path) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    choose_folder(parent, "Folder", lambda _path: None)
    assert opened(parent).directory().path() == str(Path.home())
    opened(parent).setDirectory(str(tmp_path))
    opened(parent).accepted.emit()
    opened(parent).close()
    save_as(parent, "Save", "a.md", {"Markdown (*.md)": "md"}, lambda _path: None)
    assert opened(parent).directory().path() == str(tmp_path)
    opened(parent).close()
    choose_file(parent, "File", lambda _path: None, start=str(Path.home()))
    assert opened(parent).directory().path() == str(Path.home())
    opened(parent).close()
