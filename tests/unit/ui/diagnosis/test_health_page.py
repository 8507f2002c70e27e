"""The page Health: findings, cancelling, the report, and a repair at the next start."""

import ast
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.language.translation import use_language
from desktop_rag.core.paths import Home
from desktop_rag.features.diagnosis.finding import Finding, State
from desktop_rag.features.diagnosis.repair import RepairRequest
from desktop_rag.features.diagnosis.ui.health_page import CHECK_NAMES, FindingRow, HealthPage
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from tests.unit.ui.rooms import button, texts

FOUND = [
    Finding("store", State.OK, "Everything that is stored can be read."),
    Finding("index", State.PROBLEM, "The index disagrees.", "Repair it.", is_repairable=True),
    Finding("space", State.WARNING, "Only 3 MB are free.", "Free some space."),
    Finding("tray", State.NOT_CHECKED, "<b>Not</b> known."),
]


class Diagnosis:
    """Gives these findings; before the one at `waits_at` it waits until cancelled."""

    def __init__(self) -> None:
        self.waits_at = -1
        self.is_cancelled = False

    def __call__(self, cancel: Event) -> Iterator[Finding]:
        for n, finding in enumerate(FOUND):
            if n == self.waits_at:
                self.is_cancelled = cancel.wait(30)
                return
            yield finding


@pytest.fixture
def diagnosis() -> Diagnosis:
    return Diagnosis()


@pytest.fixture
def request_file(tmp_path: Path) -> RepairRequest:
    return RepairRequest(Home(tmp_path))


@pytest.fixture
def page(
    theme: Theme, bridge: Bridge, diagnosis: Diagnosis, request_file: RepairRequest, qtbot: QtBot
) -> HealthPage:
    page = HealthPage(bridge, theme, diagnosis, request_file)
    qtbot.addWidget(page)
    page.resize(760, 700)
    page.show()
    return page


def rows(page: QWidget) -> list[str]:
    return [row.accessibleName() for row in page.findChildren(FindingRow)]


def check(page: HealthPage, qtbot: QtBot) -> None:
    page.check.click()
    qtbot.waitUntil(page.check.isVisible)


def test_findings_are_shown_with_their_state_as_a_word(page: HealthPage, qtbot: QtBot) -> None:
    assert page.check.text() == "Check now"
    assert not page.copy.isVisible()
    check(page, qtbot)
    assert rows(page) == [
        "Stored data: OK. Everything that is stored can be read.",
        "Index: Problem. The index disagrees. Repair it.",
        "Free space: Warning. Only 3 MB are free. Free some space.",
        "Tray: Not checked. <b>Not</b> known.",
    ]
    assert "4 checks: 1 problem and 1 warning." in texts(page)
    check(page, qtbot)
    qtbot.waitUntil(lambda: len(rows(page)) == len(FOUND))
    assert page.check.text() == "Check again"


def test_a_check_can_be_cancelled(page: HealthPage, diagnosis: Diagnosis, qtbot: QtBot) -> None:
    diagnosis.waits_at = 2
    page.check.click()
    qtbot.waitUntil(lambda: len(rows(page)) == diagnosis.waits_at)
    assert page.cancel.isVisible()
    assert not page.check.isVisible()
    page.cancel.click()
    qtbot.waitUntil(lambda: diagnosis.is_cancelled)
    assert page.check.isVisible()
    assert any(text.startswith("Cancelled.") for text in texts(page))


def test_the_report_is_copied_as_text(page: HealthPage, qtbot: QtBot) -> None:
    check(page, qtbot)
    page.copy.click()
    copied = QGuiApplication.clipboard().text().splitlines()
    assert copied[1] == "problem      index: The index disagrees. Repair it."
    assert len(copied) == len(FOUND)


def test_a_repair_is_arranged_after_a_confirmation_and_taken_back(
    page: HealthPage, request_file: RepairRequest, qtbot: QtBot
) -> None:
    assert not page.repair.isVisible()
    check(page, qtbot)
    assert page.repair.isVisible()
    page.repair.arrange.click()
    [box] = page.findChildren(QMessageBox)
    assert "chats" in box.text()
    assert "under another name" in box.text()
    box.reject()
    assert not request_file.is_made
    page.repair.arrange.click()
    box = page.findChildren(QMessageBox)[-1]
    button(box, "Repair at next start").click()
    qtbot.waitUntil(page.repair.take_back.isVisible)
    assert request_file.is_made
    page.repair.take_back.click()
    qtbot.waitUntil(page.repair.arrange.isVisible)
    assert not request_file.is_made


def test_an_arranged_repair_is_shown_from_the_start(
    theme: Theme, bridge: Bridge, diagnosis: Diagnosis, request_file: RepairRequest, qtbot: QtBot
) -> None:
    request_file.make(is_wanted=True)
    page = HealthPage(bridge, theme, diagnosis, request_file)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitUntil(page.repair.isVisible)
    assert page.repair.take_back.isVisible()


def test_every_check_has_a_name_that_is_translated() -> None:
    folder = Path(__file__).parents[4] / "desktop_rag" / "features" / "diagnosis"
    made = (
        (call.func, call.args)
        for path in folder.glob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    )
    makers = {"Finding", "from_error"}
    checks = {
        args[0].value
        for maker, args in made
        if maker.id in makers and isinstance(args[0], ast.Constant)
    }
    assert checks == set(CHECK_NAMES)


def test_the_result_is_told_in_the_language(
    page: HealthPage, request: pytest.FixtureRequest, qtbot: QtBot
) -> None:
    german = {
        "{count} checks: {result}.": "{count} Prüfungen: {result}.",
        "{first} and {last}": "{first} und {last}",
        "problem": "Problem",
        "warning": "Warnung",
    }
    request.addfinalizer(lambda: use_language(None))
    use_language(lambda text: german.get(text, ""))
    check(page, qtbot)
    assert "4 Prüfungen: 1 Problem und 1 Warnung." in texts(page)
