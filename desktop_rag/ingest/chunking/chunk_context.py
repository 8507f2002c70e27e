"""The context prepended to chunks for embedding: title, headings, header rows. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from desktop_rag.core.anchors import HEADING_SEPARATOR
from desktop_rag.core.parsed import ParsedDocument, TableHeader
from desktop_rag.ingest.chunking.text_splitting import (
    BY_WORDS,
    CountTokens,
    Span,
    fill_tightly,
    split_to_fit,
)

# The largest share of the embedder's window for title and headings, and for a table header.
_SHARE = 0.25
_SPECIAL_TOKENS = 2


class ChunkContexts:
    """The contexts of a document's sections and tables, and the tokens they leave for text."""

    def __init__(
        self,
        document: ParsedDocument,
        paths: Iterable[tuple[str, ...]],
        count_tokens: CountTokens,
        max_tokens: int,
    ) -> None:
        """`paths` are the heading paths of the sections."""
        self._max_tokens = max_tokens
        self._most = int(max_tokens * _SHARE)
        self._count = count_tokens
        self._above = self._fitting_paths(document.title, paths)
        self._tables = document.table_headers
        self._table_starts = [table.start for table in document.table_headers]
        self._headers = self._fitting_headers({table.text for table in document.table_headers})

    def capacity(self, path: tuple[str, ...], span: Span) -> int:
        """The token capacity for the text of a chunk in this section."""
        first = max(0, bisect_right(self._table_starts, span[0]) - 1)
        last = bisect_right(self._table_starts, span[1] - 1)
        tables = [table for table in self._tables[first:last] if table.end > span[0]]
        header = max((self._headers[table.text][1] for table in tables), default=0)
        return max(1, self._max_tokens - _SPECIAL_TOKENS - self._above[path][1] - header)

    def context(self, path: tuple[str, ...], offset: int, text: str) -> str:
        """The context of a chunk whose own text begins at `offset`."""
        lines = [self._above[path][0]]
        if table := self.table(offset):
            # A chunk that contains the header row needs no second one.
            is_there = table.text in " ".join(text.split())
            lines += [] if is_there else [self._headers[table.text][0]]
        return "\n".join(line for line in lines if line)

    def table(self, offset: int) -> TableHeader | None:
        """The table with a row at this offset."""
        index = bisect_right(self._table_starts, offset) - 1
        return self._tables[index] if index >= 0 and offset < self._tables[index].end else None

    def _fitting_paths(
        self, title: str, paths: Iterable[tuple[str, ...]]
    ) -> dict[tuple[str, ...], tuple[str, int]]:
        """Title and heading path with their token count; outer parts are dropped until they fit."""
        parts = {path: _parts(title, path) for path in paths}
        distinct = list({part for found in parts.values() for part in found})
        [separator, *counts] = self._count([HEADING_SEPARATOR, *distinct])
        tokens = dict(zip(distinct, counts, strict=True))
        fitting: dict[tuple[str, ...], tuple[str, int]] = {}
        for path, found in parts.items():
            kept: list[str] = []
            total = -separator
            for part in reversed(found):
                if total + separator + tokens[part] > self._most:
                    break
                total += separator + tokens[part]
                kept.append(part)
            fitting[path] = HEADING_SEPARATOR.join(reversed(kept)), max(0, total)
        return fitting

    def _fitting_headers(self, texts: Iterable[str]) -> dict[str, tuple[str, int]]:
        """Header rows, cut to the words that fit, with their token count."""
        fitting: dict[str, tuple[str, int]] = {}
        for text in texts:
            [cut] = split_to_fit(text, [((0, len(text)), self._most)], self._count, BY_WORDS)
            [((start, end), tokens), *_] = [*fill_tightly(cut, self._most), ((0, 0), 0)]
            fitting[text] = text[start:end], tokens
        return fitting


def _parts(title: str, path: Sequence[str]) -> list[str]:
    parts = [title, *path] if title and (not path or path[0] != title) else path
    return [part for part in (" ".join(part.split()) for part in parts) if part]
