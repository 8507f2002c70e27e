"""The chosen models of this computer, by their names, and events about them. Any thread."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Annotated

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import read_object, write_object
from desktop_rag.core.records import LONGEST_LABEL, Within, encoded, readable_rows

_Speed = Annotated[float, Within(0, 1e6)]


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model file that was chosen, with its measured speeds in tokens a second, 0 if unknown."""

    name: Annotated[str, Within(1, LONGEST_LABEL)]
    path: Path
    read_per_s: _Speed = 0.0
    written_per_s: _Speed = 0.0
    device: Annotated[str, Within(0, LONGEST_LABEL)] = ""


class ModelState(StrEnum):
    """What the process of a model does; a model at rest takes no memory."""

    LOADING = "loading"
    READY = "ready"
    AT_REST = "at rest"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ModelStateChanged:
    """A model was loaded or let go; title and hint say why it failed."""

    name: str
    state: ModelState
    title: str = ""
    hint: str = ""


class ModelList:
    """The chosen models, in a JSON file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        known = readable_rows(ChosenModel, read_object(path).get("models"), mends=True)
        self._models = {model.name: model for model in known}

    def all(self) -> tuple[ChosenModel, ...]:
        """Every model, the last chosen last."""
        with self._lock:
            return tuple(self._models.values())

    def find(self, name: str) -> ChosenModel:
        """The model of this name. AppError when it was not chosen."""
        with self._lock:
            if found := self._models.get(name):
                return found
        title = f"There is no model “{name}” on this computer." if name else "No model is chosen."
        raise AppError(title, "Choose one in Settings, or with: desktop-rag model use NAME")

    def put(self, model: ChosenModel) -> None:
        """Add a model, or replace the one of this name and file."""
        with self._lock:
            self._models = {**self._models, model.name: model}
            self._save()

    def measured(self, name: str, read_per_s: float, written_per_s: float, device: str) -> None:
        """Keep the speeds of a model, and what runs it."""
        with self._lock:
            if known := self._models.get(name):
                self._models[name] = replace(
                    known, read_per_s=read_per_s, written_per_s=written_per_s, device=device
                )
                self._save()

    def remove(self, name: str) -> None:
        """Forget a model; its file stays."""
        with self._lock:
            if self._models.pop(name, None):
                self._save()

    def free_name(self, wanted: str, path: Path) -> str:
        """The wanted name, or one with a number where another file has it."""
        taken = {model.name for model in self.all() if model.path != path}
        names = (wanted if n == 1 else f"{wanted} ({n})" for n in range(1, len(taken) + 2))
        return next(name for name in names if name not in taken)

    def _save(self) -> None:
        write_object(self._path, {"models": encoded(list(self._models.values()))})
