"""CSV and TSV: a line for each row, with its cells as the anchor.

Runs in the parser process.
"""

import csv
import io
from itertools import islice

from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.encoding import decode
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.office.table import RowWriter

_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 50
_SAMPLE_CHARS = 100_000
_MAX_CELL_CHARS = 10_000_000
_MAX_CELL_LINES = 200


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; there is no title."""
    text, warning = decode(source.data)
    if warning:
        draft.warn(warning)
    text = draft.fitting(text)
    csv.field_size_limit(_MAX_CELL_CHARS)
    # Excel writes the delimiter in a first line of its own.
    hint, _, rest = text.partition("\n")
    if hint.lower().startswith("sep=") and len(hint.strip()) == len("sep=,"):
        delimiter, first_row, text = hint[4], 2, rest
    else:
        delimiter, first_row = _delimiter(text[:_SAMPLE_CHARS]), 1
    quoting = csv.QUOTE_NONE if _has_runaway_quote(text, delimiter) else csv.QUOTE_MINIMAL
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, quoting=quoting)
    rows = RowWriter(draft)
    for row, cells in enumerate(reader, first_row):
        rows.add(row, 0, cells)
    rows.close()
    return ""


def _has_runaway_quote(text: str, delimiter: str) -> bool:
    """True when a quote that is never closed turns everything after it into a single cell."""
    if text.count('"') % 2 == 0:
        return False
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    return any(cell.count("\n") > _MAX_CELL_LINES for row in rows for cell in row)


def _delimiter(sample: str) -> str:
    """The one that makes the most columns of which most rows have the same number."""
    return max(_DELIMITERS, key=lambda delimiter: _regularity(sample, delimiter))


def _regularity(sample: str, delimiter: str) -> float:
    try:
        rows = csv.reader(io.StringIO(sample), delimiter=delimiter)
        widths = [len(row) for row in islice(rows, _SAMPLE_ROWS) if row]
    except csv.Error:
        return 0.0
    if not widths:
        return 0.0
    usual = max(set(widths), key=widths.count)
    return (usual - 1) * (widths.count(usual) / len(widths)) ** 2
