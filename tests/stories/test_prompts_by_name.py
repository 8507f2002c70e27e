"""A prompt is saved once, inserted by its name after a slash, filled in and sent."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListWidget

from tests.stories.conftest import Person


def offered(person: Person) -> list[str]:
    """The rows of the visible list of prompts."""
    lists = [rows for rows in person.window.findChildren(QListWidget) if rows.isVisible()]
    prompts = [rows for rows in lists if rows.accessibleName() == "Prompts"]
    return [rows.item(n).text() for rows in prompts for n in range(rows.count())]


@pytest.mark.everyday
def test_a_saved_prompt_is_used(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("2 searchable")
    person.opens_settings("Answers")
    person.clicks("Manage prompts…")
    person.waits_until(lambda: "/summarise" in offered(person))
    person.clicks("New prompt")
    person.types("Name", "when lit")
    person.types("Prompt", "When is the {{thing}} lit?")
    person.clicks("Save")
    person.waits_until(lambda: "/when-lit" in offered(person))
    person.clicks("Close")
    person.window.activateWindow()
    person.waits_until(person.window.isActiveWindow)
    person.presses("Ctrl+1")
    person.types("Question", "/when")
    person.waits_until(lambda: offered(person) == ["/when-lit   When is the {{thing}} lit?"])
    question = person.field("Question")
    QTest.keyClick(question, Qt.Key.Key_Return)
    QTest.keyClicks(question, "lamp")
    QTest.keyClick(question, Qt.Key.Key_Return)
    person.sees("When is the lamp lit?")
    person.sees("The lamp is lit at dusk")
