"""A passage as it is listed: its file, its place, and a piece with the words marked. Any thread."""

from dataclasses import dataclass
from pathlib import Path

from desktop_rag.core.domain import Passage
from desktop_rag.core.markup.plain_markdown import shown_text
from desktop_rag.core.markup.snippet import snippet
from desktop_rag.ui.foundation.mail_words import with_head_in_words
from desktop_rag.ui.foundation.place_words import place_in_words
from desktop_rag.ui.foundation.wording import one_line


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage as a row shows it."""

    passage: Passage
    heading: str
    file: str
    piece: str
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, passage: Passage, query: str) -> "FoundPassage":
        """The row for a passage found with this query."""
        text = shown_text(passage.text, passage.path, passage.url)
        text = with_head_in_words(text, passage.path, passage.part)
        piece, spans = snippet(text, query)
        place, title = place_in_words(passage.anchor), passage.title or passage.path
        # The path of headings often begins with the title.
        parts = [place] if place.startswith(title) else [title, place]
        heading = " · ".join(one_line(part) for part in parts if part)
        file = one_line(passage.url or Path(passage.path).name)
        return cls(passage, heading, file, one_line(piece), tuple(spans))


def copied(passage: Passage) -> str:
    """A passage with its source, as it is copied."""
    place = place_in_words(passage.anchor)
    where = passage.url or passage.path
    named = " · ".join(part for part in (passage.title, place) if part)
    return f"“{passage.text.strip()}”\n{named}\n{where}"
