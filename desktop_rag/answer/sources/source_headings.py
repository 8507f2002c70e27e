"""What a source says of itself in a prompt: its file, folder, date, what was hard to read in it,
and the columns of its table.

Without these a model can't tell the expired lease from the current one, or what a figure is of. The
lines are made from the library when the prompt is, and are no part of the source that is kept.
Worker threads.
"""

import re
from collections.abc import Sequence
from datetime import date
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path, PurePath

from desktop_rag.answer.prompting.prompt import title_and_place
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.domain import Document
from desktop_rag.core.parsed import Anchor, TableHeader
from desktop_rag.core.places import places_from_json
from desktop_rag.store.contract.documents import DocumentStore

_FOLDERS_SHOWN = 2
_LONGEST_COLUMNS_CHARS = 600
_LONGEST_CAUTION_CHARS = 200
# Two texts that share this part of their runs of words are versions of one.
_VERSION_SHARE = 0.6
_RUN_WORDS = 5
_LEAST_RUNS = 20
_LONGEST_COMPARED_CHARS = 200_000
_MOST_COMPARED = 12
_LONGEST_PLACES_CHARS = 2_000_000
_WORD = re.compile(r"\w+")
_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)")


class SourceHeadings:
    """Makes the headings of the sources of one prompt."""

    def __init__(self, documents: DocumentStore, sources: Sequence[SourceRef]) -> None:
        ids = list(dict.fromkeys(s.document_id for s in sources if s.is_in_library))
        self._known = {d.document_id: d for d in documents.get(ids)}
        self._content = cache(documents.content)
        self._tables = cache(self._table_headers)

    def of(self, source: SourceRef) -> str:
        """The lines above the text of a source."""
        document = self._known.get(source.document_id)
        if document is None:
            return title_and_place(source)
        facts = [source.title, *self._whereabouts(document, source.anchor)]
        if newer := self._newer.get(source.document_id):
            facts.append(f"an older version of {newer}")
        if document.reason:
            facts.append(f"as read: {document.reason[:_LONGEST_CAUTION_CHARS]}")
        head = " · ".join(dict.fromkeys(" ".join(fact.split()) for fact in facts if fact))
        columns = self.columns(source)
        return f"{head}\nColumns: {columns}" if columns else head

    def file_line(self, document: Document) -> str:
        """A document in a list of files."""
        facts = (document.title, *self._whereabouts(document, Anchor()))
        return " · ".join(dict.fromkeys(filter(None, facts)))

    def _whereabouts(self, document: Document, place: Anchor) -> list[str]:
        where = [document.address] if document.address else []
        if not document.url:
            where.append(f"file {document.name}")
            where.append(f"folder {_folder(document.path)}")
        where.append(place.label())
        if document.dated:
            where.append(f"dated {document.dated[:10]}")
        elif not document.url:
            where.append(f"saved {_day_of(document.stat.mtime_ns)}")
        return where

    # --- columns ---------------------------------------------------------------------------------

    def _table_headers(self, document_id: str) -> tuple[TableHeader, ...]:
        places = self._content(document_id)[1]
        return places_from_json(places)[2] if len(places) <= _LONGEST_PLACES_CHARS else ()

    def columns(self, source: SourceRef) -> str:
        """The names of the columns of a table that a source begins inside of; else empty."""
        if source.query or source.document_id not in self._known:
            return ""
        text = self._content(source.document_id)[0] or ""
        # In an answer that is kept, the place is that of the quote.
        is_whole = text.startswith(source.text, source.start)
        start = source.start if is_whole else text.find(source.text)
        for table in self._tables(source.document_id):
            if table.start <= start < table.end:
                is_there = " ".join(table.text.split()) in " ".join(source.text.split())
                return "" if is_there else table.text[:_LONGEST_COLUMNS_CHARS]
        return ""

    # --- versions --------------------------------------------------------------------------------

    @cached_property
    def _newer(self) -> dict[str, str]:
        """The name of the newest version, by the id of each older one."""
        ids = list(self._known)[:_MOST_COMPARED]
        runs = {i: found for i in ids if len(found := self._runs(i)) > _LEAST_RUNS}
        newer: dict[str, str] = {}
        for one, other in combinations(runs, 2):
            shared = len(runs[one] & runs[other])
            dates = {i: _dated(self._known[i]) for i in (one, other)}
            is_version = shared >= _VERSION_SHARE * min(len(runs[one]), len(runs[other]))
            if is_version and dates[one] != dates[other]:
                old, new = sorted((one, other), key=dates.__getitem__)
                newer[old] = f"{self._known[new].name} ({dates[new]})"
        return newer

    def _runs(self, document_id: str) -> frozenset[str]:
        text = self._content(document_id)[0] or ""
        if len(text) > _LONGEST_COMPARED_CHARS:
            return frozenset()
        words = _WORD.findall(text.casefold())
        return frozenset(
            " ".join(words[n : n + _RUN_WORDS]) for n in range(len(words) - _RUN_WORDS + 1)
        )


def _folder(path: Path) -> str:
    """The last folders of a path; the home of a person would tell their name."""
    parent = path.parent
    if parent.is_relative_to(Path.home()):
        parent = parent.relative_to(Path.home())
    return "/".join(part for part in parent.parts[-_FOLDERS_SHOWN:] if part != parent.anchor)


def _dated(document: Document) -> str:
    """The day in the name, else the document's own, else that of the file."""
    if found := _DAY.search(PurePath(document.name).stem):
        return "-".join(found.groups())
    return document.dated[:10] or _day_of(document.stat.mtime_ns)


def _day_of(mtime_ns: int) -> str:
    return date.fromtimestamp(mtime_ns / 1e9).isoformat()
