"""The attachments of one open conversation, including those being read and failed. Qt thread."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Attachment, AttachmentKind
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.ingest.library import Library
from desktop_rag.ui.composer.image_reading import attach_file, attach_image, is_image_name
from desktop_rag.ui.foundation.bridge import Bridge, Job

MAX_FILES = 20
_TOO_MANY = AppError(
    tr("A chat can have at most {MAX_FILES} attachments.", MAX_FILES=MAX_FILES),
    tr("Add a folder to the library instead."),
)


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file being attached: it is being read until it has an `attachment` or an `error`."""

    key: int
    name: str
    is_image: bool = False
    path: Path | None = None
    attachment: Attachment | None = None
    error: AppError | None = None

    @property
    def is_reading(self) -> bool:
        """True until the file was read or failed."""
        return self.attachment is None and self.error is None


class AttachedFiles(QObject):
    """Reads attached files, each on its own thread. `changed` follows every change.

    `is_loaded` is True once the stored attachments were loaded; `stored` holds them.
    """

    changed = Signal()

    def __init__(
        self, bridge: Bridge, library: Library, chat: Chat, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._chat = chat
        self._files: list[AttachedFile] = []
        self._jobs: dict[int, Job] = {}
        self._keys = count()
        self.is_loaded = True
        self.stored: tuple[Attachment, ...] = ()

    @property
    def files(self) -> Sequence[AttachedFile]:
        """All files, in the order they were attached."""
        return tuple(self._files)

    @property
    def ready(self) -> tuple[Attachment, ...]:
        """The attachments that were read successfully."""
        return tuple(file.attachment for file in self._files if file.attachment)

    @property
    def is_reading(self) -> bool:
        """True while a file is being read."""
        return any(file.is_reading for file in self._files)

    @property
    def is_settled(self) -> bool:
        """True once stored attachments are loaded and no file is being read."""
        return self.is_loaded and not self.is_reading

    def load(self, attachments: Sequence[Attachment]) -> None:
        """Show the stored attachments, and keep the files that are being read or failed."""
        others = [file for file in self._files if file.attachment is None]
        known = {file.attachment: file for file in self._files}
        fresh = [
            AttachedFile(next(self._keys), a.name, a.kind is AttachmentKind.IMAGE, attachment=a)
            for a in attachments
        ]
        self._files = [*(known.get(file.attachment, file) for file in fresh), *others]
        self.stored = tuple(attachments)
        self.is_loaded = True
        self.changed.emit()

    def add_files(self, paths: Iterable[Path]) -> None:
        """Read these files; those already attached are skipped."""
        known = {file.path for file in self._files if file.error is None}
        fresh = [path for path in dict.fromkeys(paths) if path not in known]
        room = max(0, MAX_FILES - len(known))
        library, chat = self._library, self._chat
        for path in fresh[:room]:
            file = AttachedFile(next(self._keys), path.name, is_image_name(path.name), path)
            self._read(file, lambda cancel, path=path: attach_file(library, chat, path, cancel))
        if left := len(fresh[room:]):
            self._files.append(
                AttachedFile(next(self._keys), tr("{left:,} more", left=left), error=_TOO_MANY)
            )
        self.changed.emit()

    def add_image(self, image: QImage) -> None:
        """Attach an image from the clipboard."""
        names = {file.name for file in self._files}
        name = next(n for n in _pasted_names() if n not in names)
        library, chat = self._library, self._chat
        self._read(
            AttachedFile(next(self._keys), name, is_image=True),
            lambda cancel: attach_image(library, chat, image, name, cancel),
        )
        self.changed.emit()

    def remove(self, key: int) -> None:
        """Remove a file, cancelling its reading."""
        if job := self._jobs.pop(key, None):
            job.cancel()
        self._files = [file for file in self._files if file.key != key]
        self.changed.emit()

    def drop_failed(self) -> None:
        """Remove the failed files, after a question was sent without them."""
        if any(file.error for file in self._files):
            self._files = [file for file in self._files if file.error is None]
            self.changed.emit()

    def stop(self) -> None:
        """Cancel all reading."""
        for job in self._jobs.values():
            job.cancel()
        self._jobs.clear()

    def _read(self, file: AttachedFile, attach: Callable[[Event], Attachment]) -> None:
        self._files.append(file)
        # A dedicated thread: text recognition may take minutes and must not delay short work.
        self._jobs[file.key] = self._bridge.stream(
            self,
            lambda cancel: (attach(cancel) for _ in range(1)),
            lambda attachment: self._finish(file.key, attachment=attachment),
            failed=lambda error: self._finish(file.key, error=error),
        )

    def _finish(
        self, key: int, attachment: Attachment | None = None, error: AppError | None = None
    ) -> None:
        self._jobs.pop(key, None)
        self._files = [
            replace(file, attachment=attachment, error=error) if file.key == key else file
            for file in self._files
        ]
        self.changed.emit()


def _pasted_names() -> Iterable[str]:
    yield "Pasted image.png"
    for number in count(2):
        yield tr("Pasted image {number}.png", number=number)
