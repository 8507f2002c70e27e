"""Notices over the pages: newest first, no duplicates, undo and dismiss."""

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QAbstractButton, QPushButton
from pytestqt.qtbot import QtBot

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.notice_bar import NoticeBar, NoticeCard

FIRST, SECOND = Notice("First.", "One."), Notice("Second.")


@pytest.fixture
def bar(theme: Theme, qtbot: QtBot) -> NoticeBar:
    bar = NoticeBar(theme)
    qtbot.addWidget(bar)
    return bar


def dismiss(bar: NoticeBar, position: int) -> None:
    card = cards(bar)[position]
    buttons = card.findChildren(QAbstractButton)
    next(b for b in buttons if b.accessibleName() == "Dismiss").click()


def cards(bar: NoticeBar) -> list[NoticeCard]:
    found = [c for c in bar.findChildren(NoticeCard) if c.notice in bar.notices]
    return sorted(found, key=lambda card: bar.notices.index(card.notice))


def test_the_bar_is_visible_only_with_notices(bar: NoticeBar) -> None:
    assert bar.isHidden()
    bar.show_notice(FIRST)
    assert not bar.isHidden()
    dismiss(bar, 0)
    assert bar.isHidden()


def test_the_newest_is_first_without_duplicates(bar: NoticeBar) -> None:
    bar.show_notice(FIRST)
    bar.show_notice(SECOND)
    bar.show_notice(FIRST)
    assert bar.notices == (FIRST, SECOND)


def test_only_the_latest_three_are_kept(bar: NoticeBar) -> None:
    for n in range(6):
        bar.show_notice(Notice(f"{n}"))
    assert [notice.title for notice in bar.notices] == ["5", "4", "3"]


def test_an_error_looks_like_one(bar: NoticeBar) -> None:
    bar.show_error(AppError("The disk is full.", "Free some space."))
    assert bar.notices == (Notice("The disk is full.", "Free some space."),)
    assert cards(bar)[0].property("tone") == "danger"


def test_an_action_runs_once_and_closes_the_notice(bar: NoticeBar) -> None:
    undone: list[str] = []
    bar.offer(Notice("Deleted."), "Undo", lambda: undone.append("undone"))
    buttons = cards(bar)[0].findChildren(QPushButton)
    next(b for b in buttons if b.text() == "Undo").click()
    assert undone == ["undone"]
    assert bar.notices == ()


def test_what_is_done_is_said_for_a_while(bar: NoticeBar) -> None:
    bar.show_done(FIRST)
    bar.show_notice(SECOND)
    for card in cards(bar):
        timer = card.findChildren(QTimer)[0]
        assert timer.isActive() is (card.notice == FIRST)
        if timer.isActive():
            timer.timeout.emit()
    assert bar.notices == (SECOND,)
