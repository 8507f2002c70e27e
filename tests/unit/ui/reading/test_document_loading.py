"""What is read when a source is opened, also after its folder was removed and added again."""

from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.ui.reading.document_loading import load
from desktop_rag.ui.viewers.viewer import DocumentSpan, span_of
from tests.asking import ask
from tests.indexed import index_texts

LAMP = "The lamp is lit at dusk by the keeper."


@pytest.mark.slow
def test_a_folder_that_was_added_again_has_its_cited_words(
    services: Services, tmp_path: Path
) -> None:
    index_texts(services, tmp_path / "papers", {"lamp.md": f"It is dark.\n\n{LAMP}\n"})
    library = services.library
    [cited] = [s for s in ask(services, "When is the lamp lit?").sources if s.is_cited]
    place = span_of(cited)
    assert load(library, place).text[slice(*load(library, place).span)] == LAMP

    library.sources.remove(library.sources.all()[0].source_id)
    gone = load(library, place)
    assert gone.stored is None
    assert LAMP in gone.text

    library.sources.add(tmp_path / "papers")
    assert library.indexing.wait_until_idle(60)
    again = load(library, place)
    assert again.stored
    assert again.stored.document.document_id != cited.document_id
    assert again.text[slice(*again.span)] == LAMP


def test_a_place_without_a_path_stays_gone(services: Services) -> None:
    assert load(services.library, DocumentSpan("nowhere", passage=LAMP)).stored is None
