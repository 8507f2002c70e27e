"""Two adjacent passages that answer a question together become one source."""

from pathlib import Path

from desktop_rag.ui.documents.sources_panel import SourcesPanel
from desktop_rag.ui.viewers.page_viewer import PageBrowser
from tests.stories.conftest import Person
from tests.unit.ui.rooms import marked_on

ANSWER = "Keeper Brandt relit the lamp at four with a spare wick from the cellar."
BEFORE = [f"In week {n} the keepers lit the lamp at dusk and wrote it down." for n in range(12)]
AFTER = [f"In week {n} the lamp burned well and the keepers slept by day." for n in range(20, 32)]


def test_they_are_one_source_that_shows_the_quote_in_place(person: Person, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    text = f"# Lamp log\n\n{' '.join(BEFORE)} {ANSWER} {' '.join(AFTER)}\n"
    (folder / "log.md").write_text(text)
    person.drops(folder)
    person.sees("1 file: 1 searchable")
    person.presses("Ctrl+1")
    assert len(person.app.services.chat.search("Who relit the lamp?")) > 1
    person.asks("Who relit the lamp with a spare wick?")
    person.sees(ANSWER)
    person.sees("1 source")
    panel = person.window.findChildren(SourcesPanel)[0]
    person.waits_until(lambda: any(source.quote for source in panel.sources))
    [source] = panel.sources
    assert len(source.text) > len(text) * 0.9
    assert text[source.start : source.end] == source.quote == ANSWER
    person.clicks("Read source 1")
    person.waits_until(lambda: ANSWER in marked(person))


def marked(person: Person) -> list[str]:
    """The highlighted words of the open document."""
    return [words for page in person.window.findChildren(PageBrowser) for words in marked_on(page)]
