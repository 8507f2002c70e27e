"""Fine-grained search is turned off and on again, without a restart."""

from pathlib import Path

import pytest

from desktop_rag.store.contract.vectors import VectorStore
from tests.stories.conftest import Person

pytestmark = pytest.mark.slow

SWITCH = "Also search parts of long passages"


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    """A folder of passages with several parts each."""
    folder = tmp_path / "letters"
    folder.mkdir()
    for number in range(30):
        text = " ".join(
            f"In year {number}{n} the keeper of lighthouse {n} wrote letter {number} about oil,"
            " ropes and the weather of that week."
            for n in range(8)
        )
        (folder / f"{number}.md").write_text(f"# Letters {number}\n\n{text}\n", "utf-8")
    return folder


def vectors(person: Person) -> VectorStore:
    models = person.app.services.engine.models
    [row] = models.answering().values()
    return models.vectors(row.name, row.dimensions)


@pytest.mark.usefixtures("slow_embedding")
def test_parts_of_passages_come_and_go_with_the_switch(person: Person, letters: Path) -> None:
    person.drops(letters)
    person.sees("Refining long passages")
    person.sees("30 files, up to date")
    total, missing = vectors(person).window_counts()
    assert (total, missing) == (30, 0)
    person.opens_settings("Indexing")
    person.sees("about twice as long")
    person.clicks(SWITCH)
    person.waits_until(lambda: vectors(person).window_counts() == (30, 30))
    assert person.app.services.chat.search("letter about oil", mode="dense")
    person.clicks(SWITCH)
    person.sees("Refining long passages")
    person.sees("30 files, up to date")
    assert vectors(person).window_counts() == (30, 0)
