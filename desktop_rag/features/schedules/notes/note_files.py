"""Where notes are: the list of their files, and their folders in the library. Worker threads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from desktop_rag.core.domain import Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.atomic_file import read_object, write_object
from desktop_rag.core.language.model_languages import likely_language
from desktop_rag.features.schedules.values.note_page import (
    NotePage,
    new_page,
    page_text,
    parsed_page,
)
from desktop_rag.features.schedules.values.note_words import ENGLISH
from desktop_rag.ingest.library import Library

COLLECTION = "Your notes"
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Note:
    """A note and its file."""

    topic: str
    path: Path


class NoteFiles:
    """Remembers the files of notes, and makes their folders searchable."""

    def __init__(self, register: Path, library: Library) -> None:
        """`register` is the file that remembers where the notes are."""
        self._register = register
        self._library = library

    def all(self) -> list[Note]:
        """The notes whose files are there, by topic."""
        paths = (Path(path) for path in read_object(self._register).get("paths", []))
        found = ((path, text_of(path)) for path in paths)
        notes = [Note(page.topic, path) for path, text in found if (page := page_of(text))]
        return sorted(notes, key=lambda note: (note.topic.casefold(), note.path))

    def suggested_folder(self) -> Path:
        """The folder of an earlier note, or `Notes` in the person's home."""
        return next((note.path.parent for note in self.all()), Path.home() / "Notes")

    def remember(self, path: Path) -> None:
        """Remember a note, and have its folder indexed."""
        known = read_object(self._register).get("paths", [])
        write_object(self._register, {"paths": sorted({*known, str(path)})})
        self._make_searchable(path.parent)

    def save_new(self, path: Path, text: str) -> None:
        """Write a note that does not exist yet. AppError when it does, or the disk refuses."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as exc:
            raise AppError("The note could not be written.", f"{path}: {exc.strerror}.") from exc
        self.remember(path)

    def forget(self, path: Path) -> None:
        """The file of a note was removed."""
        known = read_object(self._register).get("paths", [])
        write_object(self._register, {"paths": sorted({*known} - {str(path)})})
        if path.parent.is_dir():
            self._make_searchable(path.parent)

    def is_searchable(self, folder: Path) -> bool:
        """True when the library has this folder, alone or within another."""
        return bool(self._holding(folder))

    def _holding(self, folder: Path) -> list[Source]:
        sources = [s for s in self._library.sources.all() if s.is_on_disk]
        return [s for s in sources if folder.resolve().is_relative_to(s.path)]

    def _make_searchable(self, folder: Path) -> None:
        """Add the folder to the library, unless a folder of it holds it already."""
        holding = self._holding(folder)
        for source in holding:
            self._library.sources.rescan(source.source_id)
        if not holding:
            collection = self._library.collections.find_or_add(COLLECTION)
            self._library.sources.add(folder, collection.collection_id)


def persons_note(topic: str, text: str, sources: Sequence[str]) -> str:
    """The content of a note that is the person's from the start: no refresh replaces it."""
    listed = "\n".join(f"- {source}" for source in sources)
    opening = "\n\n".join(filter(None, (f"# {topic}", text.strip(), listed)))
    page = new_page(topic, {}, likely_language(text) or ENGLISH)
    return page_text(replace(page, opening=opening))


def free_path(folder: Path, topic: str) -> Path:
    """A file in this folder that does not exist yet."""
    words = "".join(c if c.isalnum() or c in " -" else " " for c in topic).split()
    name = " ".join(words)[:_LONGEST_NAME].strip() or "Note"
    folder = folder.expanduser().absolute()
    paths = (folder / f"{name}{f' {n}' if n > 1 else ''}.md" for n in range(1, 10_000))
    return next(path for path in paths if not path.exists())


def text_of(path: Path) -> str | None:
    """The content of a file; None when it can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def page_of(text: str | None) -> NotePage | None:
    """The note in the text of a file; None when it is no note of the app."""
    return None if text is None else parsed_page(text)
