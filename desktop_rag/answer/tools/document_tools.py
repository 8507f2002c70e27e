"""Tools by which a model looks further in the person's documents while it answers.

The first search is sent along with the question; what a tool finds gets the next numbers, so that
citations stay right. A tool reaches what the question reaches and nothing else: its scope, the
assistant's limits, what the asking user may read, and the filters that the person typed. Whatever
a model writes into a call is data. Runs on the answering thread.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, cast

from desktop_rag.answer.prompting.prompt import fenced, sanitized, shown_source
from desktop_rag.answer.sources.attachments import passage_of
from desktop_rag.answer.sources.evidence import chosen_evidence, spans_around
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.sources.source_headings import SourceHeadings
from desktop_rag.answer.sources.source_merging import not_by_app, numbered
from desktop_rag.answer.tables.table_answer import TableAnswer
from desktop_rag.answer.tools.calculator import CalculationError, calculated
from desktop_rag.answer.writing.answers import AnswerDraft, AnswerRequest
from desktop_rag.core.conversation import AnswerStep, SourceRef
from desktop_rag.core.domain import Document, Passage
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.places import places_from_json
from desktop_rag.core.query import Filters, Query, strip_invalid_characters
from desktop_rag.models.ports import ChatModel, Tool, ToolCall
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.engine import QueryRefusedError

_LIMITS = {
    "in": {"type": "string", "description": "only in this folder or file"},
    "type": {"type": "string", "description": "only files of this ending, such as pdf or xlsx"},
    "after": {"type": "string", "description": "only files from this day on, as 2025-01-31"},
    "before": {"type": "string", "description": "only files from before this day"},
}
_TEXT = {"type": "string"}


def _tool(name: str, says: str, needed: Sequence[str], **properties: object) -> Tool:
    parameters = {"type": "object", "properties": properties, "required": list(needed)}
    return Tool(name, says, parameters)


TOOLS = (
    _tool(
        "search",
        "Searches the person's documents by words and meaning; the passages found get the next"
        " numbers.",
        ["query"],
        query=_TEXT,
        **_LIMITS,
    ),
    _tool(
        "read",
        "Reads more of a document: what stands around a numbered source, or a place of a file.",
        [],
        source={"type": "integer", "description": "the number of a source"},
        file={"type": "string", "description": "or the name of a file"},
        place={"type": "string", "description": "a page number, a sheet, or words of a heading"},
    ),
    _tool(
        "find_files",
        "Lists files by words of their names, folder, type or date, the newest first.",
        [],
        words=_TEXT,
        **_LIMITS,
    ),
    _tool(
        "query_table",
        "Runs one SELECT over the whole table of a spreadsheet or CSV file. The name of the table"
        " may be any; those of its columns are above its sources. Without sql it tells them, and"
        " what is in them.",
        [],
        file={"type": "string", "description": "the name of the file"},
        sql=_TEXT,
    ),
    _tool(
        "calculate",
        "Calculates an expression with + - * / ( ) ** % and round, min, max, sum, abs.",
        ["expression"],
        expression=_TEXT,
    ),
)
_SEARCHED = 60
_MOST_FILES = 30
_MOST_LISTED = 5_000
# The part of the room for sources that one call may fill, and the most tokens of one.
_CALL_SHARE = 0.5
_MOST_CALL_TOKENS = 6_000
# What has so much of a source already adds nothing.
_SAME_SHARE = 0.8
_LONGEST_TEXT_CHARS = 400
_LONGEST_STEP_CHARS = 80
_PAGE = re.compile(r"(?i)\s*(?:page|p\.?|seite|s\.?|slide|folie)?\s*(\d{1,5})\s*$")
_NO_FILE = "No such file can be searched here."


class ToolFaultError(Exception):
    """A call can't be done as the model wrote it; the message is for the model."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model reads of a call, and what the person sees of it."""

    text: str
    step: AnswerStep


@dataclass(frozen=True, slots=True)
class DocumentTools:
    """What the tools of every answer look into."""

    finder: SourceFinder
    documents: DocumentStore
    tables: TableAnswer


@dataclass(slots=True)
class ToolSession:
    """The tools while one answer is written. `fence` is that of its prompt."""

    box: DocumentTools
    request: AnswerRequest
    draft: AnswerDraft
    model: ChatModel
    fence: str

    def run(self, call: ToolCall) -> ToolResult:
        """Do what the model asks for; a wrong call is explained to it."""
        runs: dict[str, Callable[[Mapping[str, Any]], ToolResult]] = {
            "search": self._search,
            "read": self._read,
            "find_files": self._find_files,
            "query_table": self._query_table,
            "calculate": self._calculate,
        }
        try:
            if call.name not in runs:
                raise ToolFaultError(f"There is no such tool. There are {', '.join(runs)}.")
            return runs[call.name](_arguments(call))
        except (ToolFaultError, CalculationError, AppError) as fault:
            name = call.name if call.name in runs else tr("unknown tool")
            said = tr("Could not use {tool}", tool=name)
            return ToolResult(sanitized(f"Not done: {fault}", self.fence), AnswerStep(said))

    # --- search ----------------------------------------------------------------------------------

    def _search(self, given: Mapping[str, Any]) -> ToolResult:
        text = _text(given, "query")
        if not text:
            raise ToolFaultError("The query is empty.")
        query, where = self._query(text, given)
        settings, reach = self.request.setup.settings.retrieval, self.request.setup.reach
        found = self.box.finder.look_up(query, settings, limit=_SEARCHED, reach=reach)
        ranked = [replace(p, score=-float(n)) for n, p in enumerate(not_by_app(found.passages))]
        numbers, text_found = self._added(self._chosen(ranked))
        count = count_of(len(numbers), tr("passage"), tr("passages"))
        said = (
            tr(
                "Searched “{query}” in {where}: {count}",
                query=_short(text),
                where=where,
                count=count,
            )
            if where
            else tr("Searched “{query}”: {count}", query=_short(text), count=count)
        )
        nothing = "Nothing new was found: these passages are among the sources, or there are none."
        return ToolResult(text_found or nothing, AnswerStep(said, numbers))

    def _query(self, text: str, given: Mapping[str, Any]) -> tuple[Query, str]:
        """The query with the limits of the call and the person's own; and where it searches.

        Where both have a limit of one kind, the person's holds.
        """
        own = self.request.query
        where = _text(given, "in")
        ending = _text(given, "type").lower().lstrip("*.")
        asked = Filters(
            types=(ending,) if ending else (),
            after=_day(given, "after"),
            before=_day(given, "before"),
        )
        limited = replace(
            own.filters,
            types=own.filters.types or asked.types,
            after=max(filter(None, (own.filters.after, asked.after)), default=None),
            before=min(filter(None, (own.filters.before, asked.before)), default=None),
        )
        if where:
            limited = self._inside(where, limited)
        return Query(text, filters=limited, excluded=own.excluded), _short(where)

    def _inside(self, where: str, filters: Filters) -> Filters:
        """The filters, limited to a folder or file of this name."""
        own = self.request.query.filters
        choices = (
            replace(filters, folders=own.folders or (where,)),
            replace(filters, files=own.files or (where,)),
        )
        reach = self.request.setup.reach
        for choice in choices:
            if self.box.finder.count_files(Query("", filters=choice), 1, reach):
                return choice
        raise ToolFaultError(f"There is no folder or file “{_short(where)}” that can be searched.")

    # --- reading ---------------------------------------------------------------------------------

    def _read(self, given: Mapping[str, Any]) -> ToolResult:
        if self.request.excludes_words:
            raise ToolFaultError("Words are excluded, so nothing but passages can be searched.")
        document, start, end = self._place(given)
        text, places = self.box.documents.content(document.document_id)
        if not text:
            raise ToolFaultError(_NO_FILE)
        if place := _text(given, "place"):
            start = end = _offset_of(place, text, places)
        tokens = self._room()
        spans = spans_around((text, places), start, end, self.model.count_tokens, tokens)
        passages = [passage_of(document, text[a:b], places, a) for a, b in spans]
        numbers, shown = self._added(numbered(passages))
        where = passages[0].anchor.label() if passages else ""
        name = _short(" ".join([document.name, where]).strip())
        said = tr("Read {name}", name=name)
        return ToolResult(shown or "That is among the sources already.", AnswerStep(said, numbers))

    def _place(self, given: Mapping[str, Any]) -> tuple[Document, int, int]:
        """The document that is meant, and the text [start, end) to read around."""
        number = given.get("source")
        if isinstance(number, str) and number.strip("[] ").isdecimal():
            number = int(number.strip("[] "))
        if type(number) is int:
            for source in self.draft.sources:
                if source.n == number and source.is_in_library:
                    return self._document(source.document_id), source.start, source.end
            raise ToolFaultError(f"There is no source {number}.")
        name = _text(given, "file")
        if not name:
            raise ToolFaultError("Name a source by its number, or a file.")
        return self._document(self._file(name).document_id), 0, 0

    def _document(self, document_id: str) -> Document:
        if found := self.box.documents.get([document_id]):
            return found[0]
        raise ToolFaultError(_NO_FILE)

    def _file(self, name: str) -> Passage:
        """The first passage of the file of this name that the question reaches."""
        own, plain = self.request.query, name.replace("*", "")
        # Of two names of files, a search finds either: the person's holds.
        filters = own.filters if own.filters.files else replace(own.filters, files=(plain,))
        query = Query("", filters=filters, excluded=own.excluded)
        found = self.box.finder.every_file(query, _MOST_LISTED, self.request.setup.reach)
        named = (p for p in found if plain.casefold() in p.path.casefold())
        if passage := next(named, None):
            return passage
        raise ToolFaultError(_NO_FILE)

    # --- files -----------------------------------------------------------------------------------

    def _find_files(self, given: Mapping[str, Any]) -> ToolResult:
        words = _text(given, "words")
        query, _ = self._query("", given)
        reach, finder = self.request.setup.reach, self.box.finder
        found, first = (
            finder.every_file(query, _MOST_LISTED if words else _MOST_FILES + 1, reach),
            "",
        )
        if words:
            wanted = words.casefold().split()
            held = [sum(word in p.path.casefold() for word in wanted) for p in found]
            most = max(held, default=0)
            found = [p for p, count in zip(found, held, strict=True) if count == most > 0]
            if most < len(wanted):
                about = finder.files(replace(query, text=words), _MOST_FILES, _MOST_FILES, reach)
                found = list({p.document_id: p for p in (*found, *about)}.values())
                first = "No name has all of these words. What may be about them:\n"
        ids = [p.document_id for p in found[:_MOST_FILES]]
        documents = sorted(self.box.documents.get(ids), key=lambda d: ids.index(d.document_id))
        headings = SourceHeadings(self.box.documents, numbered(found[:_MOST_FILES]))
        lines = [f"- {headings.file_line(document)}" for document in documents]
        count = count_of(len(documents), tr("file"), tr("files"))
        said = (
            tr("Looked for files “{words}”: {count}", words=_short(words), count=count)
            if words
            else tr("Looked for files: {count}", count=count)
        )
        listed = "\n".join(lines)
        more = f"\nOnly {_MOST_FILES} are shown." if len(found) > _MOST_FILES else ""
        shown = f"{first}{fenced('files', listed, self.fence)}{more}"
        return ToolResult(shown if lines else "None.", AnswerStep(said))

    # --- tables and numbers ----------------------------------------------------------------------

    def _query_table(self, given: Mapping[str, Any]) -> ToolResult:
        name, sql = _text(given, "file"), str(given.get("sql") or "").strip()
        sources = list(self.draft.sources)
        if name:
            sources = list(numbered([self._file(name)]))
        elif not any(source.anchor.cells for source in sources):
            setup = self.request.setup
            query = replace(self.request.query, text=self.draft.plain_question)
            sources += self.box.finder.sheets(query, setup.settings.retrieval, setup.reach)
        tables = self.box.tables.among(sources)
        if not tables:
            raise ToolFaultError("There is no table in it. Name a spreadsheet or CSV file.")
        about = fenced("tables", self.box.tables.described(tables, self.model), self.fence)
        if not sql:
            return ToolResult(about, AnswerStep(tr("Looked at the columns of a table")))
        try:
            source = self.box.tables.queried(sql, tables, self.request.cancel)
        except QueryRefusedError as refused:
            said = AnswerStep(tr("A query of a table did not work"))
            return ToolResult(
                sanitized(f"That can't be run: {refused}\n", self.fence) + about, said
            )
        if source is None:
            raise ToolFaultError("The query reads no table.")
        numbers, shown = self._added([source])
        title = _short(source.title)
        return ToolResult(
            shown, AnswerStep(tr("Queried the table in {title}", title=title), numbers)
        )

    def _calculate(self, given: Mapping[str, Any]) -> ToolResult:
        expression = _text(given, "expression")
        value = calculated(expression)
        said = tr("Calculated {expression} = {value}", expression=_short(expression), value=value)
        return ToolResult(f"{expression} = {value}", AnswerStep(said))

    # --- sources ---------------------------------------------------------------------------------

    def _room(self) -> int:
        room = self.box.finder.room(self.request, self.model)
        return min(int(room * _CALL_SHARE), _MOST_CALL_TOKENS)

    def _chosen(self, ranked: Sequence[Passage]) -> tuple[SourceRef, ...]:
        read, count = self.box.documents.content, self.model.count_tokens
        fresh = [p for p in ranked if not any(_covers(s, p) for s in self.draft.sources)]
        is_widened = not self.request.excludes_words
        return not_by_app(chosen_evidence(fresh, read, count, self._room(), is_widened=is_widened))

    def _added(self, found: Sequence[SourceRef]) -> tuple[tuple[int, ...], str]:
        """Give the sources that are new the next numbers; the numbers, and what the model reads."""
        fresh = [s for s in found if s.query or not any(_covers(o, s) for o in self.draft.sources)]
        first = max((source.n for source in self.draft.sources), default=0) + 1
        fresh = [replace(source, n=n) for n, source in enumerate(fresh, start=first)]
        headings = SourceHeadings(self.box.documents, fresh)
        self.draft.send((*self.draft.sources, *fresh))
        shown = [shown_source(source, fence=self.fence, heading=headings.of) for source in fresh]
        return tuple(source.n for source in fresh), "\n".join(shown)


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        given = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise ToolFaultError("The arguments are no JSON object.")
    return cast("dict[str, Any]", given)


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    plain = strip_invalid_characters(str(value)) if isinstance(value, str | int | float) else ""
    return " ".join(plain.split())[:_LONGEST_TEXT_CHARS]


def _day(given: Mapping[str, Any], name: str) -> date | None:
    if not (written := _text(given, name)):
        return None
    try:
        return date.fromisoformat(written[: len("2025-01-31")])
    except ValueError as exc:
        raise ToolFaultError(f"“{name}” is no day such as 2025-01-31.") from exc


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_STEP_CHARS else f"{text[: _LONGEST_STEP_CHARS - 1]}…"


def _covers(source: SourceRef, other: SourceRef | Passage) -> bool:
    """True when a source has nearly all of another one."""
    if source.document_id != other.document_id or source.query:
        return False
    shared = min(source.end, other.end) - max(source.start, other.start)
    return shared >= _SAME_SHARE * (other.end - other.start)


def _offset_of(place: str, text: str, places: str) -> int:
    """The offset of a page, a sheet, a heading or words; ToolFaultError for none."""
    marks, headings, _ = places_from_json(places)
    if page := _PAGE.fullmatch(place):
        number = int(page[1])
        for mark in marks:
            if number in (mark.anchor.page, mark.anchor.slide):
                return mark.offset
    wanted = place.casefold()
    for mark in marks:
        if mark.anchor.sheet and wanted == mark.anchor.sheet.casefold():
            return mark.offset
    for heading in headings:
        if wanted in heading.title.casefold():
            return heading.offset
    if (found := text.casefold().find(wanted)) >= 0:
        return min(found, len(text) - 1)
    raise ToolFaultError(f"There is no “{_short(place)}” in this file.")
