"""A library is filled, and the window says how far it is: in one count, and with one bar."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QProgressBar

from desktop_rag.ui.window.main_window import StatusStrip
from tests.stories.conftest import Person

COUNT = re.compile(r"([\d,]+) of ([\d,]+) files?")


class Onlooker:
    """Writes down what the bars and lines of the window show, whenever that changes."""

    def __init__(self, person: Person) -> None:
        self.bars: dict[str, list[int]] = {}
        self.lines: list[str] = []
        self._app = person.app
        self._strip = person.window.findChildren(StatusStrip)[0]
        for number, bar in enumerate(person.window.findChildren(QProgressBar)):
            bar.valueChanged.connect(self.bars.setdefault(f"bar {number}", []).append)
        person.app.bridge.hear(object, self._look)

    def _look(self, _event: object) -> None:
        for line in (self._strip.line, self._app.presence.tray.tooltip):
            if line not in self.lines[-2:]:
                self.lines.append(line)

    def counts(self) -> list[tuple[int, int]]:
        """(done, all) of each line with a count."""
        found = [match for line in self.lines for match in COUNT.findall(line)]
        return [(int(done.replace(",", "")), int(total.replace(",", ""))) for done, total in found]


def folder_of(place: Path, count: int, first: int = 0) -> Path:
    place.mkdir()
    for number in range(first, first + count):
        text = " ".join(f"In year {number}{n} keeper {n} wrote a letter of oil." for n in range(4))
        (place / f"{number}.md").write_text(f"# Letter {number}\n\n{text}\n", "utf-8")
    return place


@pytest.mark.usefixtures("slow_embedding")
def test_more_work_and_later_steps_never_set_the_bar_back(person: Person, tmp_path: Path) -> None:
    onlooker = Onlooker(person)
    person.drops(folder_of(tmp_path / "letters", 40))
    person.sees("Search by meaning")
    person.sees("Preparing search by meaning")
    person.drops(folder_of(tmp_path / "more", 8, first=40))
    person.sees("48 files, up to date")
    for shown in onlooker.bars.values():
        assert shown == sorted(shown)
        assert shown[-1] == 1000
    counts = onlooker.counts()
    assert counts
    assert all(done <= total and total for done, total in counts)
    # Reading so few files may be over before it is told.
    steps = ["Reading files", "Preparing search by meaning"]
    assert any(
        line.startswith(step) and "then " in line for step in steps for line in onlooker.lines
    )


def test_a_full_library_is_never_taken_for_an_empty_one(
    open_window: Callable[[], Person], tmp_path: Path
) -> None:
    first = open_window()
    first.drops(folder_of(tmp_path / "letters", 3))
    first.sees("3 files, up to date")
    first.closes_the_window()
    second = open_window()
    screens = [second.screen()]
    second.app.bridge.hear(object, lambda _event: screens.append(second.screen()))
    second.presses("Ctrl+2")
    screens.append(second.screen())
    second.sees("3 files, up to date")
    assert "Opening the library" in screens[0]
    for screen in screens:
        assert "No documents yet" not in screen
        assert "Add a folder" not in screen
        assert "0 of 0" not in screen
