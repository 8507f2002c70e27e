"""What a source says of itself in a prompt: its file, folder, date, what was hard to read in it,
and the columns of its table.

Without these a model can't tell the expired lease from the current one, or what a figure is of. The
lines are made from the library when the prompt is, and are no part of the source that is kept.
Worker threads.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import cache
from itertools import combinations
from pathlib import Path, PurePath

from desktop_rag.answer.prompting.prompt import PromptExtras, title_and_place
from desktop_rag.answer.sources.source_merging import numbered_anew, runs_of
from desktop_rag.answer.writing.excerpt_units import Unit, columns_of, scale_of, units_of
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.domain import Document
from desktop_rag.core.parsed import Anchor, TableHeader
from desktop_rag.core.places import places_from_json
from desktop_rag.store.contract.documents import DocumentStore

_FOLDERS_SHOWN = 2
_MOST_COPIES = 3
_LONGEST_COLUMNS_CHARS = 600
# The lines above the header of a table, with one that underlines it, that may tell a scale.
_LINES_ABOVE = 4
_LONGEST_ABOVE_CHARS = 1_000
# Two figures at the end of a line, and how far the head of such rows is looked for.
_ROW_OF_FIGURES = re.compile(r"\d[\d.,%)]*[ \t]+\S?\s?\(?\d[\d.,%)]*[ \t]*$", re.MULTILINE)
_LONGEST_HEAD_CHARS = 3_000
_LONGEST_ROWS_CHARS = 300
_LONGEST_CAUTION_CHARS = 200
# Two texts that share this part of their runs of words are versions of one.
_VERSION_SHARE = 0.6
_LEAST_RUNS = 20
_LONGEST_COMPARED_CHARS = 200_000
_MOST_COMPARED = 12
_LONGEST_PLACES_CHARS = 2_000_000
_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)")


def described(documents: DocumentStore, sources: Sequence[SourceRef]) -> PromptExtras:
    """What a prompt tells of its sources, in which order, and the day of today."""
    headings, today = SourceHeadings(documents, sources), f"{datetime.now():%A, %d %B %Y}"
    return PromptExtras(heading=headings.of, ordered=headings.newer_first, today=today)


class SourceHeadings:
    """Makes the headings of the sources of one prompt."""

    def __init__(self, documents: DocumentStore, sources: Sequence[SourceRef]) -> None:
        ids = list(dict.fromkeys(s.document_id for s in sources if s.is_in_library))
        self._known = {d.document_id: d for d in documents.get(ids)}
        self._content = cache(documents.content)
        self._tables = cache(self._table_headers)
        self._row_of = cache(self._row_below_its_head)
        self._newest = cache(self._newest_versions)

    def of(self, source: SourceRef) -> str:
        """The lines above the text of a source."""
        document = self._known.get(source.document_id)
        if document is None:
            return title_and_place(source)
        facts = [source.title, *self._whereabouts(document, source.anchor)]
        if newest := self._newest().get(source.document_id):
            newer = self._known[newest]
            facts.append(f"an older version of {newer.name} ({_dated(newer)})")
        if source.also_in:
            facts.append(f"also in {', '.join(map(_name_of, source.also_in[:_MOST_COPIES]))}")
        if document.reason:
            facts.append(f"as read: {document.reason[:_LONGEST_CAUTION_CHARS]}")
        head = " · ".join(dict.fromkeys(" ".join(fact.split()) for fact in facts if fact))
        return "\n".join((head, *(f"{name}: {said}" for name, said in self._table_facts(source))))

    def _table_facts(self, source: SourceRef) -> list[tuple[str, str]]:
        """What a source lacks of the head of the table that it begins inside of."""
        facts = [("Columns", self.columns(source)), ("Figures", self._scale(source))]
        is_apart = bool(source.query or self._table(source))
        row = (
            None if is_apart else self._row_of(source.document_id, self._start(source), source.text)
        )
        if row:
            names = " | ".join(name.strip("| ") for name in row.header[1:])
            facts = [("Table", row.caption), ("Columns", names), ("Figures", row.scale)]
        shown = " ".join(source.text.split())
        return [(name, said) for name, said in facts if said and said not in shown]

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
        table = self._table(source)
        is_there = table is None or " ".join(table.text.split()) in " ".join(source.text.split())
        return "" if table is None or is_there else table.text[:_LONGEST_COLUMNS_CHARS]

    def _scale(self, source: SourceRef) -> str:
        """What the figures of that table are in, by the lines above it; else empty."""
        if not (table := self._table(source)):
            return ""
        text = self._content(source.document_id)[0] or ""
        above = text[max(0, table.start - _LONGEST_ABOVE_CHARS) : table.start].splitlines()
        lines = [" ".join(line.split()).strip("| ") for line in above]
        lines = [line for line in lines if line not in table.text][-_LINES_ABOVE:]
        return next((scale for line in reversed(lines) if (scale := scale_of(line))), "")

    def _table(self, source: SourceRef) -> TableHeader | None:
        if source.query or source.document_id not in self._known:
            return None
        start, tables = self._start(source), self._tables(source.document_id)
        return next((table for table in tables if table.start <= start < table.end), None)

    def _start(self, source: SourceRef) -> int:
        text = self._content(source.document_id)[0] or ""
        # In an answer that is kept, the place is that of the quote.
        is_whole = text.startswith(source.text, source.start)
        return source.start if is_whole else text.find(source.text)

    def _row_below_its_head(self, document_id: str, start: int, text: str) -> Unit | None:
        """The first row of a text of a PDF, which has its tables as lines of a label and figures,
        where the lines above the text name the columns.
        """
        row = _ROW_OF_FIGURES.search(text)
        if row is None or start < 0:
            return None
        rows, whole = text[: row.end() + _LONGEST_ROWS_CHARS], self._content(document_id)[0] or ""
        above = whole[max(0, start - _LONGEST_HEAD_CHARS) : start]
        first = next((unit for unit in units_of(rows, above=above) if unit.is_figures), None)
        if first is None or any(map(columns_of, rows[: first.start].splitlines())):
            return None
        return first if first.header else None

    # --- versions --------------------------------------------------------------------------------

    def newer_first(self, sources: Sequence[SourceRef]) -> tuple[SourceRef, ...]:
        """The sources with each version of a text behind the newer ones, at the place and with the
        score of the best one.
        """
        if not self._newest():
            return tuple(sources)
        families: dict[str, list[SourceRef]] = {}
        for source in sources:
            newest = self._newest().get(source.document_id, source.document_id)
            families.setdefault(newest, []).append(source)
        ordered: list[SourceRef] = []
        for family in families.values():
            best = {s.document_id: s.score for s in sorted(family, key=lambda s: s.score)}
            top = max(best.values())
            raised = [replace(s, score=s.score + top - best[s.document_id]) for s in family]
            ordered += sorted(raised, key=self._date, reverse=True)
        return numbered_anew(ordered)

    def _date(self, source: SourceRef) -> str:
        return _dated(self._known[source.document_id]) if source.document_id in self._known else ""

    def _newest_versions(self) -> dict[str, str]:
        """The id of the newest version, by the id of each older one."""
        ids = sorted(list(self._known)[:_MOST_COMPARED], key=lambda i: _dated(self._known[i]))
        runs = {i: found for i in ids if len(found := self._runs(i)) > _LEAST_RUNS}
        newest: dict[str, str] = {}
        for old, new in combinations(runs, 2):
            shared = len(runs[old] & runs[new])
            is_version = shared >= _VERSION_SHARE * min(len(runs[old]), len(runs[new]))
            if is_version and _dated(self._known[old]) != _dated(self._known[new]):
                newest[old] = new
        return newest

    def _runs(self, document_id: str) -> frozenset[str]:
        text = self._content(document_id)[0] or ""
        return runs_of(text) if len(text) <= _LONGEST_COMPARED_CHARS else frozenset()


def _name_of(where: str) -> str:
    return where if "://" in where else PurePath(where).name


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
