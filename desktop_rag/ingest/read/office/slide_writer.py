"""Writes a slide of any format: title, blocks, notes, comments. Runs in the parser process."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line

# The name that programs give an untitled presentation: "Slide 1" in many languages.
_NO_TITLE = re.compile(r"PowerPoint\b.*|\w+ 1", re.IGNORECASE)


def given_title(text: str) -> str:
    """The title in the properties of a presentation, "" unless a person gave it."""
    return "" if _NO_TITLE.fullmatch(text) else text


@dataclass(slots=True)
class Slide:
    """The content of a slide. A block is a text box or a table, its lines joined."""

    title: str = ""
    blocks: list[str] = field(default_factory=list)
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
        blocks = _filled(slide.blocks)
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

    def _write(self, number: int, title: str, blocks: Sequence[str]) -> None:
        if self._draft.length:
            self._draft.add("\n\n")
        self._draft.mark(Anchor(slide=number))
        if title:
            self._draft.add_heading(1, title)
        self._draft.add("\n\n".join([title, *blocks] if title else blocks))


def _filled(texts: Sequence[str]) -> list[str]:
    return [text.strip("\n") for text in texts if text.strip()]
