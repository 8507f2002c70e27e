"""What was shown of answers in progress, as a file each beside the library. Any thread.

Not in the library file: a save must be cheap and must not wait behind indexing on the write lane.
A file holds each word once, in the order it was shown, and goes when the answer is stored.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from desktop_rag.store.contract.records import UnfinishedAnswer
from desktop_rag.store.sql.line_files import append_lines, mapping_journal_errors

_SUFFIX = ".jsonl"


class UnfinishedAnswerStore:
    """The files of one library."""

    def __init__(self, folder: Path) -> None:
        """The folder is created with the first answer."""
        self._folder = folder

    def append(
        self,
        answer_id: str,
        *,
        about: Mapping[str, Any] | None,
        text: str,
        thinking: str,
        is_restated: bool = False,
    ) -> None:
        """Add what was shown since; `about` replaces the one before.

        With `is_restated`, the text and the thinking replace those before too.
        """
        line = {"about": about, "text": text, "thinking": thinking, "is_restated": is_restated}
        content = json.dumps({name: value for name, value in line.items() if value})
        with mapping_journal_errors():
            append_lines(self._file(answer_id), content.encode() + b"\n")

    def all(self) -> list[UnfinishedAnswer]:
        """The answers whose process ended before them, in no order."""
        with mapping_journal_errors():
            files = sorted(self._folder.glob(f"*{_SUFFIX}"))
            return [_read(file) for file in files]

    def remove(self, answer_id: str) -> None:
        """Forget an answer, because it is stored as a message or gone."""
        with mapping_journal_errors():
            self._file(answer_id).unlink(missing_ok=True)

    def _file(self, answer_id: str) -> Path:
        return self._folder / f"{answer_id}{_SUFFIX}"


def _read(file: Path) -> UnfinishedAnswer:
    about: dict[str, Any] = {}
    parts: dict[str, list[str]] = {"text": [], "thinking": []}
    for content in file.read_bytes().split(b"\n"):
        line = _object(content)
        about = cast("dict[str, Any]", line.get("about")) or about
        for name, pieces in parts.items():
            if line.get("is_restated"):
                pieces.clear()
            pieces.append(str(line.get(name, "")))
    return UnfinishedAnswer(file.stem, about, "".join(parts["text"]), "".join(parts["thinking"]))


def _object(content: bytes) -> dict[str, Any]:
    """The object of a line; an empty one for a line that was cut off or damaged."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
