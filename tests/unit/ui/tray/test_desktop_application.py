from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent

from desktop_rag.core.errors import AppError
from desktop_rag.desktop.requests import QuickAskRequested
from desktop_rag.ui.tray.app_icon import request_of


@pytest.mark.parametrize(
    ("opened", "expected"),
    [
        ("desktop-rag://ask?q=When%3F", QuickAskRequested("When?")),
        ("file:///a%20b/lease.pdf", QuickAskRequested(about=(Path("/a b/lease.pdf"),))),
        ("https://example.com", "This link is not one of desktop-rag."),
    ],
)
def test_links_and_files_become_requests(opened: str, expected: object) -> None:
    asked = request_of(QFileOpenEvent(QUrl(opened)))
    assert (asked.title if isinstance(asked, AppError) else asked) == expected
