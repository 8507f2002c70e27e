"""A list of more records than citations have numbers for is complete all the same."""

from pathlib import Path

import pytest

from desktop_rag.app import Services
from tests.asking import ask

pytestmark = pytest.mark.slow


COUNT = 1_203
_ENOUGH_S = 50


def test_every_record_is_listed_and_cited_while_there_are_numbers(
    services: Services, tmp_path: Path
) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    letters = (f"## Letter {n}\n\nState: open\n\nFrom keeper {n}.\n" for n in range(COUNT))
    (folder / "letters.md").write_text("# Letters\n\n" + "\n".join(letters))
    services.library.sources.add(folder)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_searchable(_ENOUGH_S)
    answer = ask(services, "List all letters in the file letters.md")
    lines = [line for line in answer.text.splitlines() if line.startswith("- ")]
    assert answer.text.startswith(f"**{COUNT:,}** letters.")
    assert [line.split(" [")[0] for line in lines] == [f"- Letter {n}" for n in range(COUNT)]
    assert lines[998].endswith(" [999]")
    assert lines[999] == "- Letter 999"
    assert len(answer.sources) == 999
    assert "the first 999 have a source" in answer.text
