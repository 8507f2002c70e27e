"""The person's own versions of answers: Markdown files that later questions find.

Worker threads only. The folder is a source of the library like any other, so changes by any program
are found too.
"""

import contextlib
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from desktop_rag.answer.citing.citations import normalise
from desktop_rag.core.conversation import Message
from desktop_rag.core.errors import AppError

COLLECTION = "Your answers"
_HEADING = "# Your answer: "
_ID_CHARS = 12
_LONGEST_NAME = 60
_BODY = re.compile(rf"^{re.escape(_HEADING)}.*\n+", re.MULTILINE)


class Rewrites:
    """One file for each rewritten answer."""

    def __init__(self, folder: Path, on_write: Callable[[Path], None]) -> None:
        """`on_write` is called with the folder after each write, to make it searchable."""
        self._folder = folder
        self._on_write = on_write

    def names(self) -> frozenset[str]:
        """The names of all files, which identify the rewritten answers; see `is_of`."""
        return frozenset(path.stem for path in self._folder.glob("*.md"))

    def written_at(self) -> dict[str, float]:
        """The times when answers were rewritten, by the first characters of the answers' ids."""
        times: dict[str, float] = {}
        for path in self._folder.glob("*.md"):
            with contextlib.suppress(OSError):  # deleted meanwhile
                times[path.stem.rpartition("-")[2]] = path.stat().st_mtime
        return times

    def text(self, message: Message) -> str:
        """The answer as rewritten, or as given."""
        if path := self._find(message):
            return _BODY.split(path.read_text(encoding="utf-8"), maxsplit=1)[-1].strip()
        # Without its sources, citations mean nothing.
        return normalise(message.text, frozenset())[0].strip()

    def write(self, question: str, message: Message, text: str) -> Path:
        """Keep the person's version, replacing an earlier one."""
        path = self._find(message) or self._folder / f"{_slug(question)}-{_id_of(message)}.md"
        heading = " ".join(question.split())
        front = [f"question: {json.dumps(heading, ensure_ascii=False)}"]
        front.append(f"date: {datetime.now(UTC).astimezone():%Y-%m-%d}")
        front += ["sources:", *_sources(message)] if message.sources else []
        lines = ["---", *front, "---", "", f"{_HEADING}{heading}", "", text.strip(), ""]
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = path.with_name(f"{path.name}.part")
            draft.write_text("\n".join(lines), encoding="utf-8")
            draft.replace(path)
        except OSError as exc:
            raise AppError("The answer could not be kept.", f"{path}: {exc.strerror}.") from exc
        self._on_write(self._folder)
        return path

    def delete(self, message: Message) -> None:
        """Delete the person's version; the given answer stays in its chat."""
        if path := self._find(message):
            path.unlink(missing_ok=True)

    def _find(self, message: Message) -> Path | None:
        return next(iter(self._folder.glob(f"*-{_id_of(message)}.md")), None)


def is_of(name: str, message: Message) -> bool:
    """True when a name of `Rewrites.names` belongs to this answer."""
    return bool(message.message_id) and name.endswith(f"-{_id_of(message)}")


def _id_of(message: Message) -> str:
    return message.message_id[:_ID_CHARS]


def _slug(question: str) -> str:
    words = "".join(c if c.isalnum() else " " for c in question.casefold()).split()
    return "-".join(words)[:_LONGEST_NAME].strip("-") or "answer"


def _sources(message: Message) -> list[str]:
    places = [
        ", ".join(part for part in (s.title, s.anchor.label(), s.url or s.path) if part)
        for s in message.sources
        if s.is_cited
    ]
    return [f"  - {json.dumps(' '.join(p.split()), ensure_ascii=False)}" for p in places]
