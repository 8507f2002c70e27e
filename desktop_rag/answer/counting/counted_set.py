"""The documents that a question about records is limited to; counts of files. Worker threads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from desktop_rag.answer.counting.counting_question import CountingQuestion, content_words
from desktop_rag.answer.counting.record_structures import ReadDocument, is_alike
from desktop_rag.answer.sources.source_finder import SHEET_FORMATS, SourceFinder
from desktop_rag.answer.writing.answer_texts import AnswerTexts
from desktop_rag.answer.writing.answers import AnswerRequest
from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.core.places import places_from_json
from desktop_rag.core.query import Filters, Query
from desktop_rag.core.question import Readable
from desktop_rag.core.question_scope import ScopeKind
from desktop_rag.core.text import words
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.search import NameStore, Scope

_MOST_KINDS = 12


@dataclass(frozen=True, slots=True)
class LibraryFiles:
    """The files by state, and the searchable documents, with those inside others, by format."""

    counts: DocumentCounts
    formats: Mapping[str, int]


def file_count(question: CountingQuestion, files: LibraryFiles, texts: AnswerTexts) -> str:
    """The number of files that the library knows, in Markdown; "" for another question."""
    asked = {word.casefold() for word in words(question.rest.replace("-", " "))}
    if question.is_list or _has_condition(question, asked):
        return ""
    are_files = not question.language.sets["files"].isdisjoint(asked)
    known = [kind for kind in files.formats if kind.isalpha() and (are_files or kind.isupper())]
    kinds = [kind for kind in known if {kind.casefold(), f"{kind.casefold()}s"} & asked]
    spoken = {word for kind in kinds for word in (kind.casefold(), f"{kind.casefold()}s")}
    if not spoken.issuperset(content_words(question)) or not (are_files or kinds):
        return ""
    if not kinds:
        return _of_all(files, texts)
    count = sum(files.formats[kind] for kind in kinds)
    return texts.counted("of_kind", count, kinds=", ".join(map(texts.format_name, kinds)))


def _has_condition(question: CountingQuestion, asked: set[str]) -> bool:
    sets = question.language.sets
    conditions = sets["open"] | sets["done"] | sets["negations"] | sets["measures"]
    return not conditions.isdisjoint(asked) or any(map(str.isdigit, question.rest))


def _of_all(files: LibraryFiles, texts: AnswerTexts) -> str:
    count, rest = files.counts.searchable, files.counts.total - files.counts.searchable
    inside = sum(files.formats.values()) - count
    where = "_inside" if inside > 0 else ""
    sentences = [texts.counted(f"searchable{where}", count, inside=inside)]
    if rest:
        sentences.append(texts.said("other_files", count=rest))
    ranked = sorted(files.formats.items(), key=lambda item: (-item[1], item[0]))
    if len(ranked) > 1:
        kinds = (
            f"{texts.format_name(kind)} {texts.number(number)}"
            for kind, number in ranked[:_MOST_KINDS]
        )
        sentences.append(texts.said(f"by_kind{where}", kinds=", ".join(kinds)))
    return " ".join(sentences)


# More are not read during an answer; nor are more characters, which is a shelf of books.
MOST_FILES = 2_000
_MOST_CHARS = 40_000_000
# Without a limit the whole library is looked through for records of the name that was asked for.
_MOST_UNLIMITED = 1_000
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class CountedSet:
    """The documents that were read. `names` are those of the folders, files, tags and collections
    that the set is limited to, none for the whole library. With `is_given` the person said so; else
    a folder was found by a word of the question. `unread` pairs files among them that were not
    read with the reason, "" where they only wait for it.
    """

    documents: tuple[ReadDocument, ...]
    names: tuple[str, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    is_given: bool = False

    @property
    def is_limited(self) -> bool:
        """True when there is a place to count in, given or found."""
        return bool(self.names)


class CountedSets:
    """Finds and reads the documents of questions about records."""

    def __init__(self, finder: SourceFinder, documents: DocumentStore, names: NameStore) -> None:
        self._finder = finder
        self._documents = documents
        self._names = names

    def of(self, request: AnswerRequest, called: Sequence[str]) -> CountedSet | None:
        """The set that a request is limited to, or that is named by one of the words, `called`.

        None when there is nothing to read, too much, or only spreadsheets, which are queried; also
        where no place is named and a spreadsheet is called by one of the words.
        """
        names = given = self._limits(request)
        query = Query("", excluded=request.query.excluded, filters=request.query.filters)
        if not names:
            query, names = self._named_by(called, query, request)
        most = MOST_FILES if names else _MOST_UNLIMITED
        found = self._finder.every_file(query, most + 1, request.setup.reach)
        if not found or len(found) > most:
            return None
        rows = self._documents.get([passage.document_id for passage in found])
        if not names and any(_is_sheet_of(row, called) for row in rows):
            return None
        read = self._read(sorted(rows, key=lambda d: (str(d.path), d.part)))
        if not read:
            return None
        readable = request.setup.reach.readable
        unread = self._unread(rows, readable) if _is_of_folders(request, query) else ()
        return CountedSet(tuple(read), names, unread, is_given=bool(given))

    def library_files(self, request: AnswerRequest) -> LibraryFiles | None:
        """The files of the whole library; None for a request that is limited to some."""
        reach = request.setup.reach
        if self._limits(request) or reach.readable or reach.document_ids is not None or reach.about:
            return None
        return LibraryFiles(self._documents.counts(), self._documents.facets().formats)

    def _limits(self, request: AnswerRequest) -> tuple[str, ...]:
        filters, limits = request.query.filters, request.setup.reach.limits.filters
        return tuple(
            name
            for one in (filters, limits)
            for name in (*one.folders, *one.files, *one.tags, *one.collections)
        ) + tuple(
            name.strip("/") for name in (request.named.names if request.named else ())
        ) or tuple(request.setup.reach.collection_ids)

    def _named_by(
        self, words: Sequence[str], query: Query, request: AnswerRequest
    ) -> tuple[Query, tuple[str, ...]]:
        """The query limited to a folder whose name is one of the words; else as it is."""
        reach = request.setup.reach
        scope = Scope(
            collection_ids=reach.collection_ids or None,
            document_ids=reach.document_ids,
            readable=reach.readable,
        )
        homes = [PurePath(folder) for folder in self._names.folders(scope)]
        places = {place for home in homes for place in (home, *home.parents) if place.name}
        for word in words:
            found = sorted(p for p in places if is_alike(word, p.name.casefold()))
            outer = [p for p in found if not any(q in p.parents for q in found)]
            if 0 < len(outer) <= _MOST_NAMED:
                folders = tuple(f"{place}/" for place in outer)
                filters = replace(query.filters, folders=folders)
                return replace(query, filters=filters), tuple(place.name for place in outer)
        return query, ()

    def _read(self, rows: Sequence[Document]) -> list[ReadDocument]:
        read: list[ReadDocument] = []
        left = _MOST_CHARS
        for row in rows:
            if row.part:
                continue
            text, places = self._documents.content(row.document_id)
            marks, headings, tables = places_from_json(places)
            if not text or any(mark.anchor.cells for mark in marks[:1]):
                continue
            left -= len(text)
            if left < 0:
                return []
            read.append(ReadDocument(row, text, places, headings, tables))
        return read

    def _unread(
        self, rows: Sequence[Document], readable: Readable | None
    ) -> tuple[tuple[str, str], ...]:
        """Files beside and below those of the set that have no text, and why."""
        counts = self._documents.counts(readable=readable)
        if not counts.total > counts.searchable:
            return ()
        homes = {row.path.parent for row in rows}
        return tuple(
            (row.name, row.reason.rstrip("."))
            for row in self._documents.documents(readable=readable)
            if not row.state.is_searchable
            and row.state is not DocumentState.GONE
            and not row.part
            and homes.intersection(row.path.parents)
        )


def _is_sheet_of(row: Document, called: Sequence[str]) -> bool:
    names = words(row.path.stem.casefold())
    is_sheet = row.path.suffix[1:].lower() in SHEET_FORMATS
    return is_sheet and any(is_alike(w, name) for w in called for name in names)


def _is_of_folders(request: AnswerRequest, query: Query) -> bool:
    """True when the set is what lies in folders, which may hold files that could not be read."""
    if request.scope.items:
        return any(item.kind is not ScopeKind.FILE for item in request.scope.items)
    only_folders = Filters(folders=query.filters.folders, collections=query.filters.collections)
    return query.filters == only_folders and request.setup.reach.document_ids is None
