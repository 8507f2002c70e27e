"""Jupyter notebooks: cells in order, with what their code printed. Runs in the parser process."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from desktop_rag.core.parsed import HEADING_SEPARATOR, Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, HeadingPath
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.markup import markdown
from desktop_rag.ingest.read.markup.plain_text import write_below

_MAX_OUTPUT_CHARS = 10_000
_FENCE = "```"
# A picture written into the text.
_PICTURE = re.compile(r"(data:image/[\w.+-]{1,30};base64,)[A-Za-z0-9+/=]+")


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the notebook's own, or nothing."""
    try:
        notebook = json.loads(draft.decoded(source.data))
    except (ValueError, RecursionError) as exc:
        raise Unreadable("damaged", "The file is damaged", "It is no valid notebook.") from exc
    if not isinstance(notebook, dict):
        raise Unreadable("damaged", "The file is damaged", "It is no valid notebook.")
    path = HeadingPath()
    here = ""
    for number, cell in enumerate(_cells(cast("dict[str, Any]", notebook)), start=1):
        content = _joined(cell.get("source") or cell.get("input"))
        if cell.get("cell_type") == "heading":
            content = "#" * _level(cell) + f" {content}"
        outputs = _outputs(cell)
        if not content.strip() and not outputs:
            continue
        if draft.length:
            draft.add("\n\n")
        place = f"Cell {number}"
        draft.mark(Anchor(heading=f"{here}{HEADING_SEPARATOR}{place}" if here else place))
        if cell.get("cell_type") == "code":
            draft.add(f"{_FENCE}\n{content}\n{_FENCE}")
            if outputs:
                draft.add(f"\n\n{outputs}")
        else:
            content = _PICTURE.sub(r"\1", content)
            here = write_below(content, markdown.headings(content), draft, path, place) or here
    metadata = notebook.get("metadata")
    return str(metadata.get("title") or "") if isinstance(metadata, dict) else ""


def _cells(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The cells of version 4, or those of the worksheets of version 3."""
    for sheet in _dicts(notebook.get("worksheets")) or [notebook]:
        yield from _dicts(sheet.get("cells"))


def _dicts(value: object) -> list[dict[str, Any]]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, dict)]


def _level(cell: dict[str, Any]) -> int:
    level = cell.get("level")
    return min(max(level, 1), 6) if isinstance(level, int) else 1


def _outputs(cell: dict[str, Any]) -> str:
    """The text that the cell printed or evaluated to, cut to a limit."""
    pieces: list[str] = []
    for output in _dicts(cell.get("outputs")):
        rich = output.get("data")
        shown = rich.get("text/plain") if isinstance(rich, dict) else None
        text = _joined(output.get("text") or shown or _error(output))
        if text.strip():
            pieces.append(text.strip())
    return "\n".join(pieces)[:_MAX_OUTPUT_CHARS]


def _error(output: dict[str, Any]) -> str:
    """The message of an error, without its traceback."""
    return ": ".join(filter(None, map(_joined, (output.get("ename"), output.get("evalue")))))


def _joined(value: object) -> str:
    if isinstance(value, list):
        return "".join(piece for piece in cast("list[Any]", value) if isinstance(piece, str))
    return value if isinstance(value, str) else ""
