"""The reader of a format. A reader and its libraries are imported at its first file.

A reader fills the draft from the bytes of a file and returns the title, or "" if there is none.
Runs in the parser process.
"""

import importlib
from collections.abc import Callable
from typing import cast

from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.format_table import Format
from desktop_rag.ingest.read.foundation.source_file import SourceFile

Reader = Callable[[SourceFile, DocumentDraft], str]


def reader_of(row: Format, *, is_safe: bool) -> Reader:
    """The reader of a format.

    With `is_safe` it runs no native code on the bytes of the file, where there is a choice.
    """
    written = (is_safe and row.safe_reader) or row.reader
    module, _, function = written.partition(":")
    return cast("Reader", getattr(importlib.import_module(module), function))
