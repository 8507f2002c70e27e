"""A note with front matter is asked: what the app has no field for is text above the note."""

from pathlib import Path

import pytest

from desktop_rag.app import Services
from tests.asking import ask

pytestmark = pytest.mark.slow

NOTE = """\
---
title: Notes of the keeper
date: 2019-03-04
tags:
  - lighthouse
  - project/lamp
author: Imogen Farrow
---
# The lamp

The keeper trims the wick at dusk.
"""
OTHER = "# The ferry\n\nThe ferry with the lamp leaves at dusk.\n"


@pytest.fixture
def notes(services: Services, tmp_path: Path) -> Services:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "keeper.md").write_text(NOTE)
    (folder / "ferry.md").write_text(OTHER)
    services.library.sources.add(folder)
    services.library.start()
    assert services.library.indexing.wait_until_idle(30)
    return services


def found(services: Services, query: str) -> list[str]:
    return [Path(passage.path).name for passage in services.chat.search(query)]


def test_what_is_known_of_a_note_is_no_source(notes: Services) -> None:
    answer = ask(notes, "What are the notes of the keeper on the lighthouse by Imogen Farrow?")
    texts = [source.text for source in answer.sources]
    texts += [passage.text for passage in notes.chat.search("author Imogen Farrow tags")]
    assert any("The keeper trims the wick at dusk." in text for text in texts)
    assert any("author: Imogen Farrow" in text for text in texts)
    assert not [text for text in texts if "2019" in text or "tags" in text or "---" in text]


def test_the_front_matter_says_title_date_and_tags(notes: Services) -> None:
    note = next(d for d in notes.library.documents.all() if d.path.name == "keeper.md")
    assert (note.title, note.dated) == ("Notes of the keeper", "2019-03-04")
    assert note.tags == ("lighthouse", "project/lamp")
    chunk = notes.library.documents.chunks(note.document_id)[-1]
    assert (chunk.anchor.line, chunk.anchor.heading) == (11, "The lamp")
    text = notes.library.documents.text(note.document_id)
    assert text.startswith("author: Imogen Farrow\n\n# The lamp")


@pytest.mark.parametrize("written", ["tag:lighthouse", "tag:project", "before:2020"])
def test_a_question_is_limited_by_tag_and_date(notes: Services, written: str) -> None:
    assert set(found(notes, "dusk")) == {"keeper.md", "ferry.md"}
    assert set(found(notes, f"dusk {written}")) == {"keeper.md"}
    answer = ask(notes, f"What happens at dusk? {written}")
    assert {Path(source.path).name for source in answer.sources} == {"keeper.md"}
