"""Folders of files that change at random, and what a library of them must find. One thread."""

import random
import shutil
from collections import deque
from pathlib import Path

from tests.driving.versioned_text import new_marker, versioned_text

_MOST_FILES = 30
_FOLDERS = ("", "north", "south", "south/deep")
_ENDINGS = ("md", "txt", "html")
_SENTENCES = (1, 14)
_REMEMBERED = 300
# Never changed or removed: a root that is suddenly empty is taken for a drive that is away.
_ANCHOR = "anchor.md"


class ChangingFiles:
    """Roots with files. `markers` has the word of each file as it is now."""

    def __init__(self, roots: list[Path], chance: random.Random) -> None:
        self.roots = roots
        self.markers: dict[Path, str] = {}
        self.outdated: deque[str] = deque(maxlen=_REMEMBERED)
        self._chance = chance
        self._count = 0
        for root in roots:
            for folder in _FOLDERS:
                (root / folder).mkdir(parents=True, exist_ok=True)
            self._write(root / _ANCHOR)

    def change(self) -> str:
        """One change of one or more files; says which."""
        changes = [
            self._add, self._add, self._edit, self._edit, self._replace, self._replace, self._touch,
            self._remove, self._move, self._move, self._move_folder, self._empty_folder,
        ]  # fmt: skip
        return self._chance.choice(changes)()

    def below(self, root: Path) -> dict[Path, str]:
        """The files of one root with their words."""
        return {p: marker for p, marker in self.markers.items() if p.is_relative_to(root)}

    def _add(self) -> str:
        if len(self.markers) >= _MOST_FILES:
            return self._remove()
        path = self._new_path()
        self._write(path)
        return f"add {path}"

    def _edit(self) -> str:
        path = self._any()
        self._write(path)
        return f"edit {path}"

    def _replace(self) -> str:
        """As editors save: to another name, then over the file."""
        path = self._any()
        beside = path.with_name(f".{path.name}.swp~")
        self._write(path, beside)
        beside.replace(path)
        return f"replace {path}"

    def _touch(self) -> str:
        path = self._any()
        path.touch()
        return f"touch {path}"

    def _remove(self) -> str:
        path = self._any()
        if path.name == _ANCHOR:
            return self._edit()
        self._forget(path)
        path.unlink()
        return f"remove {path}"

    def _move(self) -> str:
        path, target = self._any(), self._new_path()
        if path.name == _ANCHOR:
            return self._touch()
        target = target.with_suffix(path.suffix)
        path.rename(target)
        self.markers[target] = self.markers.pop(path)
        return f"move {path} to {target}"

    def _move_folder(self) -> str:
        """A folder gets another name; an empty one takes its place."""
        folder = self._chance.choice(self.roots) / "south"
        target = folder.with_name(f"moved {self._count}")
        self._count += 1
        folder.rename(target)
        for path in self.below(folder):
            self.markers[target / path.relative_to(folder)] = self.markers.pop(path)
        (folder / "deep").mkdir(parents=True)
        return f"move {folder} to {target}"

    def _empty_folder(self) -> str:
        folder = self._chance.choice(self.roots) / "north"
        for path in self.below(folder):
            self._forget(path)
        shutil.rmtree(folder)
        folder.mkdir()
        return f"empty {folder}"

    def _write(self, path: Path, at: Path | None = None) -> None:
        """The next version of a file, written at another path if given."""
        if path in self.markers:
            self._forget(path)
        marker = self.markers[path] = new_marker(self._chance)
        text = versioned_text(self._chance, marker, self._chance.randint(*_SENTENCES))
        if path.suffix == ".html":
            text = f"<html><body><p>{text}</p></body></html>"
        (at or path).write_text(text)

    def _forget(self, path: Path) -> None:
        self.outdated.append(self.markers.pop(path))

    def _any(self) -> Path:
        return self._chance.choice(sorted(self.markers))

    def _new_path(self) -> Path:
        self._count += 1
        folder = self._chance.choice(self.roots) / self._chance.choice(_FOLDERS)
        return folder / f"file {self._count}.{self._chance.choice(_ENDINGS)}"
