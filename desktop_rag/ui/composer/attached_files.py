"""What is attached to one open conversation, being read, or could not be. Qt thread."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from desktop_rag.core.attachment import Attachment, AttachmentKind
from desktop_rag.core.errors import AppError
from desktop_rag.ui.composer.attachment_reading import attach_file, attach_picture
from desktop_rag.ui.composer.image_reading import is_image_name
from desktop_rag.ui.foundation.bridge import Bridge, Job

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ingest.library import Library

MOST_FILES = 20
_TOO_MANY = AppError(
    f"At most {MOST_FILES} files can be attached to a chat.", "Add their folder to the library."
)


@dataclass(frozen=True, slots=True)
class Chip:
    """One of them: being read until there is an `attachment`, or an `error` that says why not."""

    key: int
    name: str
    is_image: bool = False
    path: Path | None = None
    attachment: Attachment | None = None
    error: AppError | None = None

    @property
    def is_reading(self) -> bool:
        """Whether it is not known yet what becomes of it."""
        return self.attachment is None and self.error is None


class AttachedFiles(QObject):
    """Reads what is attached, each on a thread of its own. `changed` comes with every change.

    `is_known` says whether what is stored was fetched, `stored` is what it was then.
    """

    changed = Signal()

    def __init__(
        self, bridge: Bridge, library: "Library", chat: "Chat", parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._chat = chat
        self._chips: list[Chip] = []
        self._jobs: dict[int, Job] = {}
        self._keys = count()
        self.is_known = True
        self.stored: tuple[Attachment, ...] = ()

    @property
    def chips(self) -> Sequence[Chip]:
        """All of them, in the order they were attached."""
        return tuple(self._chips)

    @property
    def ready(self) -> tuple[Attachment, ...]:
        """Those that can be asked about."""
        return tuple(chip.attachment for chip in self._chips if chip.attachment)

    @property
    def is_reading(self) -> bool:
        """Whether something is being read."""
        return any(chip.is_reading for chip in self._chips)

    @property
    def is_settled(self) -> bool:
        """Whether all is known: nothing is being read."""
        return self.is_known and not self.is_reading

    def load(self, attachments: Sequence[Attachment]) -> None:
        """Show what is stored, beside what is being read or could not be."""
        others = [chip for chip in self._chips if chip.attachment is None]
        known = {chip.attachment: chip for chip in self._chips}
        fresh = [
            Chip(next(self._keys), a.name, a.kind is AttachmentKind.IMAGE, attachment=a)
            for a in attachments
        ]
        self._chips = [*(known.get(chip.attachment, chip) for chip in fresh), *others]
        self.stored = tuple(attachments)
        self.is_known = True
        self.changed.emit()

    def add_files(self, paths: Iterable[Path]) -> None:
        """Read these files; one that is attached already is left out."""
        known = {chip.path for chip in self._chips if chip.error is None}
        fresh = [path for path in dict.fromkeys(paths) if path not in known]
        room = max(0, MOST_FILES - len(known))
        library, chat = self._library, self._chat
        for path in fresh[:room]:
            chip = Chip(next(self._keys), path.name, is_image_name(path.name), path)
            self._read(chip, lambda cancel, path=path: attach_file(library, chat, path, cancel))
        if left := len(fresh[room:]):
            self._chips.append(Chip(next(self._keys), f"{left:,} more", error=_TOO_MANY))
        self.changed.emit()

    def add_picture(self, picture: QImage) -> None:
        """Take a picture from the clipboard."""
        names = {chip.name for chip in self._chips}
        name = next(n for n in _pasted_names() if n not in names)
        library, chat = self._library, self._chat
        self._read(
            Chip(next(self._keys), name, is_image=True),
            lambda cancel: attach_picture(library, chat, picture, name, cancel),
        )
        self.changed.emit()

    def remove(self, key: int) -> None:
        """Take one away; its reading ends."""
        if job := self._jobs.pop(key, None):
            job.cancel()
        self._chips = [chip for chip in self._chips if chip.key != key]
        self.changed.emit()

    def drop_failed(self) -> None:
        """The reasons were told: a question was asked without these."""
        if any(chip.error for chip in self._chips):
            self._chips = [chip for chip in self._chips if chip.error is None]
            self.changed.emit()

    def stop(self) -> None:
        """End what is being read."""
        for job in self._jobs.values():
            job.cancel()
        self._jobs.clear()

    def _read(self, chip: Chip, attach: Callable[[Event], Attachment]) -> None:
        self._chips.append(chip)
        # A thread of its own: a scan may take minutes, and must not keep short work waiting.
        self._jobs[chip.key] = self._bridge.stream(
            self,
            lambda cancel: (attach(cancel) for _ in range(1)),
            lambda attachment: self._settle(chip.key, attachment=attachment),
            failed=lambda error: self._settle(chip.key, error=error),
        )

    def _settle(
        self, key: int, attachment: Attachment | None = None, error: AppError | None = None
    ) -> None:
        self._jobs.pop(key, None)
        self._chips = [
            replace(chip, attachment=attachment, error=error) if chip.key == key else chip
            for chip in self._chips
        ]
        self.changed.emit()


def _pasted_names() -> Iterable[str]:
    yield "Pasted image.png"
    for number in count(2):
        yield f"Pasted image {number}.png"
