"""Notices over the pages: newest first, no duplicates, undo and dismiss."""

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QAbstractButton, QPushButton
from pytestqt.qtbot import QtBot

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.foundation.delayed_change import DelayedChange
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.notice_bar import NoticeBar, NoticeCard
from tests.unit.ui.rooms import button

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


@pytest.mark.parametrize(("way", "expected"), [("Undo", "undone"), ("Dismiss", "made")])
def test_a_change_is_made_when_its_notice_goes_unless_it_is_undone(
    bar: NoticeBar, way: str, expected: str
) -> None:
    done: list[str] = []
    bar.offer_undo(
        DelayedChange(FIRST, lambda: done.append("made"), lambda: done.append("undone"), bar)
    )
    assert done == []
    button(bar, way).click()
    assert done == [expected]
    assert bar.notices == ()


def test_the_notice_of_a_change_goes_once_it_is_made(bar: NoticeBar) -> None:
    change = DelayedChange(FIRST, lambda: None, lambda: None, bar)
    bar.offer_undo(change)
    change.make()
    assert bar.notices == ()


def test_a_change_is_made_when_newer_notices_need_the_room(bar: NoticeBar) -> None:
    done: list[str] = []
    bar.offer_undo(DelayedChange(FIRST, lambda: done.append("made"), lambda: None, bar))
    for n in range(3):
        bar.show_notice(Notice(f"Notice {n}."))
    assert done == ["made"]


def test_what_is_done_is_said_for_a_while(bar: NoticeBar) -> None:
    bar.show_done(FIRST)
    bar.show_notice(SECOND)
    for card in cards(bar):
        timer = card.findChildren(QTimer)[0]
        assert timer.isActive() is (card.notice == FIRST)
        if timer.isActive():
            timer.timeout.emit()
    assert bar.notices == (SECOND,)
