"""The results of a search, by passage and by file, as a list shows them. Any thread."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from desktop_rag.core.domain import Document, Passage
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.parsed import HEADING_SEPARATOR
from desktop_rag.core.query import parse_query
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.days import day_in_words, day_of
from desktop_rag.ui.foundation.wording import isolated, one_line, place_in_words
from desktop_rag.ui.passages.passage_painter import FoundPassage

_SHOWN_TAGS = 3


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A document with the passages that were found in it, the best first."""

    document: Document
    passages: tuple[FoundPassage, ...]
    shows_day: bool = False
    may_have_more: bool = False

    @property
    def name(self) -> str:
        """The file's name, shown in bold."""
        return one_line(self.document.name)

    @property
    def folder(self) -> str:
        """The file's folder; "" for a web page, whose name has its address."""
        return "" if self.document.url else one_line(str(self.document.path.parent))

    @property
    def details(self) -> str:
        """`3 passages · #roof #to do`; with the day if files are sorted by it."""
        tags = self.document.all_tags
        # Isolated, so that a right-to-left tag leaves the others in order.
        shown = [isolated(f"#{one_line(tag)}") for tag in tags[:_SHOWN_TAGS]]
        more = ["…"] if len(tags) > _SHOWN_TAGS else []
        count = (
            count_of(len(self.passages), tr("of the best passages"), tr("of the best passages"))
            if self.may_have_more
            else count_of(len(self.passages), tr("passage"), tr("passages"))
        )
        day = day_in_words(self.day, date.today()) if self.shows_day else ""
        return " · ".join(filter(None, (day, " ".join([*shown, *more]), count)))

    @property
    def day(self) -> date:
        """The day that the file states about itself, else that of its last change."""
        if self.document.dated:
            return date.fromisoformat(self.document.dated)
        return day_of(self.document.stat.mtime_ns / 1e9)


@dataclass(frozen=True, slots=True)
class SearchResults:
    """Passages, and files by their best passages; there may be more of both if `are_best`."""

    text: str = ""
    passages: tuple[FoundPassage, ...] = ()
    files: tuple[FoundFile, ...] = ()
    are_best: bool = False

    def newest_first(self) -> "SearchResults":
        """The same results by the day of the file."""
        files = sorted(self.files, key=lambda file: file.day, reverse=True)
        place = {file.document.document_id: n for n, file in enumerate(files)}
        return SearchResults(
            self.text,
            tuple(sorted(self.passages, key=lambda found: place[found.passage.document_id])),
            tuple(replace(file, shows_day=True) for file in files),
            self.are_best,
        )

    def document(self, passage: Passage) -> Document:
        """The document of one of the passages."""
        return next(
            file.document for file in self.files if file.document.document_id == passage.document_id
        )


def results_of(
    text: str, passages: Sequence[Passage], documents: Iterable[Document], most: int = 0
) -> SearchResults:
    """The results for the typed text, without passages of unknown documents.

    If a search for `most` passages found as many, there may be others; 0 is no limit.
    """
    are_best = 0 < most <= len(passages)
    known = {document.document_id: document for document in documents}
    words = words_of(text)
    found = [FoundPassage.of(p, words) for p in passages if p.document_id in known]
    by_file: dict[str, list[FoundPassage]] = {}
    for each in found:
        by_file.setdefault(each.passage.document_id, []).append(each)
    files: list[FoundFile] = []
    for key, own in by_file.items():
        # Below the name of their file, passages need not repeat it.
        within = tuple(replace(each, heading=_place(each.passage), file="") for each in own)
        files.append(FoundFile(known[key], within, may_have_more=are_best))
    return SearchResults(text, tuple(found), tuple(files), are_best)


def words_of(text: str) -> str:
    """The words of a query, without filters and excluded words."""
    try:
        return parse_query(text).text
    except AppError:
        return text


def _place(passage: Passage) -> str:
    place = (
        place_in_words(passage.anchor).removeprefix(passage.title).removeprefix(HEADING_SEPARATOR)
    )
    return one_line(place.strip())


def in_words(results: SearchResults) -> str:
    """`34 passages in 12 files`; “the best” if there may be more."""
    count, files = len(results.passages), count_of(len(results.files), tr("file"), tr("files"))
    said = tr(
        "{count_of} in {files}",
        count_of=count_of(count, tr("passage"), tr("passages")),
        files=files,
    )
    return tr("The best {said}", said=said) if results.are_best else said


def are_there(library: Library, documents: Sequence[Document]) -> bool:
    """True if the library still has all of these documents. Worker thread."""
    sources = {source.source_id for source in library.collections.searchable_sources()}
    found = library.documents.of_ids([document.document_id for document in documents])
    return len(found) == len(documents) and all(d.source_id in sources for d in found)


def by_id(results: SearchResults) -> Mapping[str, Document]:
    """The found documents by id."""
    return {file.document.document_id: file.document for file in results.files}
