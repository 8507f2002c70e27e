"""The person's saved prompts, one Markdown file each. Worker threads only.

The app adds its own prompts once; from then on they are the person's to change or delete, here or
in any other program.
"""

import logging
from pathlib import Path

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.atomic_file import write_atomically
from desktop_rag.core.query import strip_invalid_characters
from desktop_rag.core.saved_prompts import LONGEST_TEXT, SavedPrompt, plain_name

log = logging.getLogger(__name__)

# More are not read: the folder may have been replaced by another one.
_MOST = 500
# With room for blank lines around the text.
_MOST_BYTES = 4 * LONGEST_TEXT + 1_000


class PromptLibrary:
    """Reads and writes the folder of prompts, which is the only place they are kept."""

    def __init__(self, folder: Path, built_in: Path) -> None:
        """`built_in` holds the app's own prompts."""
        self.folder = folder
        self._built_in = built_in

    def all(self) -> list[SavedPrompt]:
        """All prompts by name, without files that are too long, not text, or cannot be named.

        AppError when the folder cannot be created.
        """
        if not self.folder.exists():
            self.restore_built_in()
        paths = sorted(self.folder.glob("*.md"))[:_MOST]
        found = {name: text for path in paths for name, text in _read(path)}
        return [SavedPrompt(name, found[name]) for name in sorted(found)]

    def save(self, prompt: SavedPrompt, former: str = "") -> SavedPrompt:
        """Save a prompt, replacing the one of the `former` name; returns it as saved.

        AppError for an empty or taken name, and when the disk refuses.
        """
        name, text = plain_name(prompt.name), strip_invalid_characters(prompt.text).strip()
        if not name:
            raise AppError("This name can't be used.", "Letters, digits, - and _ make a name.")
        if not text or len(text) > LONGEST_TEXT:
            hint = f"A prompt has up to {LONGEST_TEXT:,} characters."
            raise AppError("There is no prompt." if not text else "The prompt is too long.", hint)
        if name != former and self._find(name):
            raise AppError(f"There is a prompt /{name} already.", "Give this one another name.")
        path = self._find(name) or self.folder / f"{name}.md"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(path, f"{text}\n")
            if former and former != name:
                self._remove(former)
        except OSError as exc:
            raise AppError("The prompt could not be kept.", f"{path}: {exc.strerror}.") from exc
        return SavedPrompt(name, text)

    def delete(self, name: str) -> None:
        """Delete the file of a prompt, if it exists. AppError when the disk refuses."""
        try:
            self._remove(name)
        except OSError as exc:
            raise AppError("The prompt could not be deleted.", f"{exc.strerror}.") from exc

    def restore_built_in(self) -> None:
        """Add the app's own prompts whose names are free."""
        for path in sorted(self._built_in.glob("*.md")):
            if not self._find(path.stem):
                self.save(SavedPrompt(path.stem, path.read_text(encoding="utf-8")))

    def _find(self, name: str) -> Path | None:
        """The file of this name, however it is spelled on disk."""
        return next((p for p in self.folder.glob("*.md") if plain_name(p.stem) == name), None)

    def _remove(self, name: str) -> None:
        if path := self._find(name):
            path.unlink(missing_ok=True)


def _read(path: Path) -> list[tuple[str, str]]:
    """The name and text of one file, or nothing."""
    name = plain_name(path.stem)
    try:
        if not (name and path.is_file() and path.stat().st_size <= _MOST_BYTES):
            return []
        text = strip_invalid_characters(path.read_text(encoding="utf-8-sig")).strip()
    except (OSError, UnicodeDecodeError) as exc:
        log.info("a prompt cannot be read: %s", type(exc).__name__)
        return []
    return [(name, text)] if text and len(text) <= LONGEST_TEXT else []
