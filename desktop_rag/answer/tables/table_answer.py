"""Answers questions about tables by a query, whose result becomes the first source of the answer.

Runs on the answering thread. When a query fails, the passages answer without it.
"""

import logging
import secrets
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from threading import Event
from typing import TypeVar

from desktop_rag.answer.sources.earlier_sources import numbered_anew
from desktop_rag.answer.tables.described import describe_table, result_text
from desktop_rag.answer.tables.sheet_rows import RowBlock, row_blocks
from desktop_rag.answer.tables.sheet_table import SheetTable, table_at
from desktop_rag.answer.tables.table_words import may_want_a_query
from desktop_rag.answer.tables.writing_queries import query_with_model
from desktop_rag.answer.writing.answer_draft import AnswerDraft
from desktop_rag.core.conversation import AnswerEvent, AnswerWaits, SourceRef
from desktop_rag.core.errors import AppError
from desktop_rag.models.ports import ChatModel
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.tables import QueryRefusedError, QueryResult, TableQueries

log = logging.getLogger(__name__)

_T = TypeVar("_T")

# The number of best sources that are searched for tables, and of tables that are queried.
_BEST = 3
_MOST_TABLES = 3
# Splitting a longer text into rows takes too long during an answer.
_LONGEST_TEXT_CHARS = 20_000_000
# The description of tables takes at most about half of the context.
_DESCRIBED_CHARS_A_TOKEN = 1.5


@dataclass(frozen=True, slots=True)
class _FoundTable:
    """A table, and the source that showed some of it."""

    table: SheetTable
    source: SourceRef


class TableAnswer:
    """Finds the tables among the sources of an answer and queries them."""

    def __init__(self, documents: DocumentStore, queries: TableQueries) -> None:
        self._documents = documents
        self._queries = queries

    def add_result(
        self,
        draft: AnswerDraft,
        model: ChatModel,
        cancel: Event,
        attached: Callable[[], Sequence[SourceRef]],
    ) -> Iterator[AnswerEvent]:
        """Put the result of a query before the sources of the draft, if one answers the question.

        Tables of `attached` files come before those of the draft. Yields AnswerWaits before the
        model writes the query.
        """
        question = draft.plain_question
        if not may_want_a_query(question):
            return
        # Scores are comparable within one search only.
        best = [*_best(attached()), *_best(draft.sources or draft.nearest)]
        found = self._tables(best)
        if not found:
            return
        title = " ".join(found[0].source.title.split())
        yield AnswerWaits(f"Asking the table in {title}…")
        try:
            made = yield from self._asked(question, found, model, cancel)
        except (AppError, QueryRefusedError) as error:
            log.info("a table was not queried: %s", type(error).__name__)
            made = None
        if made is not None:
            draft.sources = numbered_anew([made, *draft.sources])
            draft.nearest = ()

    def _tables(self, best: Sequence[SourceRef]) -> list[_FoundTable]:
        blocks: dict[str, list[RowBlock]] = {}
        found: list[_FoundTable] = []
        for source in best:
            if not source.anchor.cells or not source.is_in_library or len(found) == _MOST_TABLES:
                continue
            if source.document_id not in blocks:
                blocks[source.document_id] = self._blocks(source)
            taken = [other.table.name for other in found]
            table = table_at(
                blocks[source.document_id], source.start, source.end, source.title, taken
            )
            if table and not any(_is_same(table, other.table) for other in found):
                found.append(_FoundTable(table, source))
        return found

    def _blocks(self, source: SourceRef) -> list[RowBlock]:
        text, places = self._documents.content(source.document_id)
        if text is None or len(text) > _LONGEST_TEXT_CHARS:
            return []
        # The file may have been read again since the passage was found.
        is_as_found = text[source.start : source.end] == source.text
        return row_blocks(text, places) if is_as_found else []

    def _asked(
        self, question: str, found: Sequence[_FoundTable], model: ChatModel, cancel: Event
    ) -> Generator[AnswerWaits, None, SourceRef | None]:
        most_chars = int(model.context_tokens * _DESCRIBED_CHARS_A_TOKEN)
        description = _fitting([describe_table(f.table, f.source.title) for f in found], most_chars)
        with self._queries.open(tuple(f.table.query_table() for f in found)) as tables:
            fence = secrets.token_hex(8)
            asking = query_with_model(model, question, tables, description, fence, cancel)
            made = yield from _as_events(asking)
        return _as_source(*made, found) if made else None


def _as_events(asking: Generator[str, None, _T]) -> Generator[AnswerWaits, None, _T]:
    while True:
        try:
            reason = next(asking)
        except StopIteration as end:
            return end.value
        yield AnswerWaits(reason)


def _best(sources: Sequence[SourceRef]) -> list[SourceRef]:
    return sorted(sources, key=lambda source: -source.score)[:_BEST]


def _fitting(descriptions: Sequence[str], most_chars: int) -> str:
    """The lines of the descriptions that fit; columns without a line cannot be queried."""
    lines = "\n\n".join(descriptions).split("\n")
    lengths = accumulate(len(line) + 1 for line in lines)
    fitting = sum(length <= most_chars for length in lengths)
    return "\n".join(lines[: max(fitting, 1)]).strip()


def _is_same(one: SheetTable, other: SheetTable) -> bool:
    return one.rows == other.rows


def _as_source(sql: str, result: QueryResult, found: Sequence[_FoundTable]) -> SourceRef | None:
    """The result as a source at the place of its rows; None when it read no table."""
    asked = next((f for f in found if f.table.name in result.used), None)
    if asked is None:
        return None
    rows = result.used[asked.table.name]
    start, end = asked.table.span(rows)
    return replace(
        asked.source,
        anchor=asked.table.places(rows, result.columns_used)[0],
        text=result_text(result, [f.table for f in found]),
        # The highest score: it is the last to be dropped from a full prompt.
        score=max(f.source.score for f in found) + 1,
        start=start,
        end=end,
        quote="",
        also_in=(),
        query=sql,
    )
