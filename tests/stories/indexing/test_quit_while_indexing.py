"""Closing the window while indexing loses nothing and is quick."""

from collections.abc import Callable
from pathlib import Path

from tests.stories.conftest import Person


def test_the_rest_is_indexed_at_the_next_start(
    open_window: Callable[[], Person], tmp_path: Path
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nThis is note {number}. " * 20)
    first = open_window()
    first.drops(folder)
    first.sees("Search by meaning")
    first.closes_the_window()
    second = open_window()
    second.presses("Ctrl+2")
    second.sees("40 files: 40 searchable")
