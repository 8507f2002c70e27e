"""Writes a slide of any format: title, blocks, notes, comments. Runs in the parser process."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.blocks import write_table
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line

# The name that programs give an untitled presentation: "Slide 1" in many languages.
_NO_TITLE = re.compile(r"PowerPoint\b.*|\w+ 1", re.IGNORECASE)


def given_title(text: str) -> str:
    """The title in the properties of a presentation, "" unless a person gave it."""
    return "" if _NO_TITLE.fullmatch(text) else text


@dataclass(slots=True)
class Table:
    """The cells of a table, and how many rows at its top are called headers."""

    rows: list[list[str]]
    marked: int = 0


@dataclass(slots=True)
class Slide:
    """The content of a slide. A block is a text box, its lines joined, or a table."""

    title: str = ""
    blocks: list["str | Table"] = field(default_factory=list)
    footers: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    is_hidden: bool = False


class SlideWriter:
    """Writes slide after slide; a footer is written once, not on each of them."""

    def __init__(self, draft: DocumentDraft) -> None:
        self._draft = draft
        self._footers: set[str] = set()

    def write(self, number: int, slide: Slide) -> None:
        """Write the slide with this number (from 1), unless there is nothing on it."""
        title = one_line(slide.title)
        blocks = [
            block if isinstance(block, Table) else block.strip("\n")
            for block in slide.blocks
            if (any(map(any, block.rows)) if isinstance(block, Table) else block.strip())
        ]
        for footer in _filled(slide.footers):
            if footer not in self._footers:
                self._footers.add(footer)
                blocks.append(footer)
        if notes := _filled(slide.notes):
            blocks.append("\n".join(["Notes:", *notes]))
        blocks += _filled(slide.comments)
        if title or blocks:
            marks = ["[Hidden slide]"] * slide.is_hidden
            self._write(number, title, [*marks, *blocks])

    def _write(self, number: int, title: str, blocks: Sequence[str | Table]) -> None:
        if self._draft.length:
            self._draft.add("\n\n")
        self._draft.mark(Anchor(slide=number))
        if title:
            self._draft.add_heading(1, title)
        for place, block in enumerate([title, *blocks] if title else blocks):
            self._draft.add("\n\n" * bool(place))
            if isinstance(block, Table):
                write_table(self._draft, block.rows, block.marked)
            else:
                self._draft.add(block)


def _filled(texts: Iterable[str]) -> list[str]:
    return [text.strip("\n") for text in texts if text.strip()]
