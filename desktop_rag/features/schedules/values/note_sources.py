"""Citations of a note as links to files relative to it, and its list of sources. Pure."""

import itertools
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from desktop_rag.core.conversation import SourceRef
from desktop_rag.features.schedules.values.note_page import (
    NotePage,
    NoteSection,
    heads_sources,
    note_words,
)

_CITATION = re.compile(r"\[(\d{1,3})\](?![(:\]])")
_LINK = re.compile(r"\[\[(\d{1,4})\]\]\(")
_WHOLE_LINK = re.compile(r" ?(\[\[\d{1,4}\]\]\([^)\s]*\))")
_LINK_TO_FILE = re.compile(r"\[\[(\d{1,4})\]\]\([^)\s]*\)")
_LISTED = re.compile(r"(\d{1,4})\. (.*)")
_LISTED_LINK = re.compile(r"\d{1,4}\. \[.*\]\(.*\).*")


class NoteSources:
    """Numbers the sources of a note; those that it lists already keep their numbers."""

    def __init__(self, page: NotePage, folder: Path) -> None:
        """`folder` is the one of the note."""
        self._folder = folder
        self._lines: dict[str, int] = {}
        listed = _list_of(page)
        for line in listed.body.splitlines() if listed else ():
            if match := _LISTED.fullmatch(line.strip()):
                self._lines.setdefault(match[2], int(match[1]))

    def linked(self, text: str, sources: Sequence[SourceRef]) -> str:
        """The text with each citation of these sources as a link, by its number in the note."""
        by_number = {source.n: source for source in sources}

        def link(match: re.Match[str]) -> str:
            source = by_number.get(int(match[1]))
            return f"[[{self._number(source)}]]({self._target(source)})" if source else match[0]

        return _CITATION.sub(link, text).strip()

    def listed(self, page: NotePage) -> NotePage:
        """The page with a list of what its sections cite, as the last section."""
        listed = _list_of(page)
        heading = listed.heading if listed else note_words(page.language).sources
        sections = [section for section in page.sections if section.heading != heading]
        cited = {int(n) for section in sections for n in _LINK.findall(section.body)}
        lines = {n: line for line, n in self._lines.items() if n in cited}
        if not lines:
            return page.with_sections(sections)
        body = "\n".join(f"{n}. {lines[n]}" for n in sorted(lines))
        return page.with_sections([*sections, NoteSection(heading, body)])

    def _number(self, source: SourceRef) -> int:
        place = source.anchor.label()
        name = _escaped(source.title or Path(source.path).name)
        line = f"[{name}]({self._target(source)})" + (f", {_escaped(place)}" if place else "")
        return self._lines.setdefault(line, max(self._lines.values(), default=0) + 1)

    def _target(self, source: SourceRef) -> str:
        if source.url:
            return quote(source.url, safe=":/?#@!$&*+,;=%~-._")
        try:
            relative = os.path.relpath(source.path, self._folder)
        except ValueError:  # on another drive
            return Path(source.path).as_uri()
        return quote(relative.replace(os.sep, "/"))


def _list_of(page: NotePage) -> NoteSection | None:
    """The list of sources, also in a former language of the note."""
    own = page.section(note_words(page.language).sources)
    return own or next(filter(_is_list, page.sections), None)


def _is_list(section: NoteSection) -> bool:
    lines = section.body.split("\n")
    return heads_sources(section.heading) and all(
        map(_LISTED_LINK.fullmatch, map(str.strip, lines))
    )


def cited_in(text: str, sources: Sequence[SourceRef]) -> tuple[SourceRef, ...]:
    """The sources of the links that `linked` makes in this text, in their order."""
    by_number = {str(source.n): source for source in sources}
    return tuple(by_number[n] for n in _CITATION.findall(text) if n in by_number)


@dataclass(frozen=True, slots=True)
class NoteCitations:
    """Markdown of a note with its links as `[n]`, which is the n-th in `numbered`.

    `labels` gives the number of each in the note; `in_words` has these numbers as plain text.
    """

    numbered: str
    labels: Mapping[int, int]
    in_words: str


def note_citations(text: str) -> NoteCitations:
    """The citations of a note's text; other numbers in brackets stay plain text."""
    plain = _CITATION.sub(r"\\[\1\\]", text)
    count = itertools.count(1)
    return NoteCitations(
        _LINK_TO_FILE.sub(lambda _match: f"[{next(count)}]", plain),
        {n: int(match[1]) for n, match in enumerate(_LINK_TO_FILE.finditer(plain), 1)},
        _LINK_TO_FILE.sub(r"\\[\1\\]", plain),
    )


def without_links(text: str) -> str:
    """The text without its citations."""
    return _WHOLE_LINK.sub("", text)


def _escaped(text: str) -> str:
    """Text of documents as plain text in Markdown."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", " ".join(text.split()))
