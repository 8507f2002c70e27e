"""The recipes of a folder are counted: the number, and each of them in the list."""

from pathlib import Path

import pytest

from tests.stories.conftest import Person


@pytest.fixture
def recipes(tmp_path: Path) -> Path:
    folder = tmp_path / "recipes"
    folder.mkdir()
    for n in range(20):
        fat = "butter" if n < 7 else "oil"
        (folder / f"{n:02}.md").write_text(f"# Dish {n}\n\nTime: {n} minutes\n\nFry it in {fat}.\n")
    return folder


@pytest.mark.everyday
def test_the_number_is_right_and_every_item_is_listed(person: Person, recipes: Path) -> None:
    person.drops(recipes)
    person.sees("20 files: 20 searchable")
    person.presses("Ctrl+1")
    person.asks("How many recipes use butter?")
    person.sees("7 of 20 recipes")
    person.sees("Dish 6")
    assert "Dish 7" not in person.screen()
