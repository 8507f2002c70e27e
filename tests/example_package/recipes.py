"""An example of a package that adds a kind of file and a source of documents."""

from collections.abc import Iterator
from pathlib import Path

from desktop_rag.core.crawling import Sending
from desktop_rag.ingest.read.foundation.format_table import Format

# The app's own reader of PDF files stays.
RECIPE = Format("recipe", "recipes", (".recipe", ".pdf"), "heading", "recipe_reader:read")


def shelf(place: str) -> Iterator[Sending]:
    """A document for each line of a file: an id, a blank, the text."""
    for line in Path(place).read_text(encoding="utf-8").splitlines():
        own_id, _, text = line.partition(" ")
        yield Sending(own_id, text.encode(), f"{own_id}.txt", title=own_id.capitalize())
