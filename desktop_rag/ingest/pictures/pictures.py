"""The texts of pictures, and the files whose pictures wait. Any thread.

The indexer reads a file without its pictures, which come last: here it learns which texts are known
by now, and the reader of pictures which files are next, and what holds it up.
"""

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast, get_args

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.files.own_files import ContentFolder
from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.core.pictures import PictureHold, PictureText, WaitingPictures
from desktop_rag.core.records import decoded, encoded
from desktop_rag.core.settings import LongReading
from desktop_rag.ingest.background.progress import ProgressMeter
from desktop_rag.ingest.parsing.parser_process import ParseFailed
from desktop_rag.ingest.parsing.protocol import PictureWish
from desktop_rag.ingest.read.foundation.source_file import Reason


@dataclass(frozen=True, slots=True)
class KeptPictures:
    """What is known of the pictures in a file: their texts by their places.

    It `is_settled` once all were tried; `failed` says why that ended early.
    """

    texts: Mapping[str, PictureText] = field(default_factory=dict[str, PictureText])
    is_settled: bool = False
    failed: ParseFailed | None = None


class PictureFolder:
    """The texts of pictures, by the hash of the content of their file.

    They can be made again, but that may take hours. Those of a file under way outlive the app.
    """

    def __init__(self, folder: Path) -> None:
        self._files = ContentFolder(folder)

    def get(self, content_hash: str) -> KeptPictures:
        """What is known of this content."""
        return _kept_in(self._files.read(content_hash))

    def put(self, content_hash: str, kept: KeptPictures) -> None:
        """Keep what is known of a content; OSError when that fails."""
        failed = kept.failed
        fields: dict[str, Any] = {
            "texts": encoded(kept.texts),
            "is_settled": kept.is_settled,
            "failed": [failed.reason, failed.title, failed.hint] if failed else [],
        }
        self._files.write(content_hash, fields)

    def forget(self, content_hash: str) -> None:
        """Forget what is known of the pictures in this content."""
        self._files.remove(content_hash)

    def keep_only(self, content_hashes: Collection[str]) -> None:
        """Forget all other content."""
        self._files.keep_only(content_hashes)


def _kept_in(fields: Mapping[str, Any]) -> KeptPictures:
    try:
        texts = decoded(dict[str, PictureText], fields.get("texts", {}))
        return KeptPictures(texts, fields.get("is_settled") is True, _failed_in(fields["failed"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        return KeptPictures()


def _failed_in(values: list[object]) -> ParseFailed | None:
    if not values:
        return None
    reason, title, hint = map(str, values)
    if reason not in get_args(Reason):
        raise ValueError("a failure without its reason")
    return ParseFailed(cast("Reason", reason), title, hint)


# Reading that takes longer needs the person's consent.
LONG_S = 3600.0
_NOT_READ = "Its pictures could not be read."
_THERE = (DocumentState.WAITING, DocumentState.SEARCHABLE_BY_WORDS, DocumentState.SEARCHABLE)


class Pictures:
    """Texts of pictures by content, and the files whose pictures wait."""

    def __init__(self, folder: Path | None, meter: ProgressMeter, *, are_read: bool) -> None:
        """Without a `folder` pictures are read with their file; `are_read` when they are at all."""
        # None while no pictures are read later.
        self.folder = PictureFolder(folder) if folder and are_read else None
        self._meter = meter
        self._lock = threading.Lock()
        # The number of pictures that wait, by the id of their document.
        self._waiting: dict[str, int] = {}
        self._long_reading = LongReading.ASK
        self._is_allowed = False
        self._is_paused = False

    # --- for the indexer -----------------------------------------------------------------------

    def wish(self, content_hash: str) -> PictureWish:
        """How the indexer has the pictures of a content read: those that are known."""
        if self.folder is None:
            return PictureWish()
        return PictureWish(self.folder.get(content_hash).texts, only_known=True)

    def settled(
        self, content_hash: str, parsed: ParsedDocument | ParseFailed
    ) -> ParsedDocument | ParseFailed:
        """What reading gave, without pictures left if they were tried before."""
        if self.folder is None or not parsed.pictures_left:
            return parsed
        kept = self.folder.get(content_hash)
        if not kept.is_settled:
            return parsed
        if isinstance(parsed, ParseFailed):
            return kept.failed or ParseFailed(parsed.reason, parsed.title, _NOT_READ)
        why = f"{kept.failed.title}. {kept.failed.hint}".strip() if kept.failed else ""
        warnings = (*parsed.warnings, f"{_NOT_READ} {why}".strip())
        return replace(parsed, pictures_left=0, warnings=warnings)

    def forget(self, documents: Sequence[Document]) -> None:
        """Forget the pictures of these documents, which are read anew with them."""
        if self.folder is not None:
            for document in documents:
                if document.content_hash:
                    self.folder.forget(document.content_hash)

    # --- pictures that wait --------------------------------------------------------------------

    def note(self, documents: Sequence[Document]) -> None:
        """Take note of rows that are new, changed or gone."""
        with self._lock:
            for document in documents:
                count = document.pictures_waiting if document.state in _THERE else 0
                if count:
                    self._waiting[document.document_id] = count
                else:
                    self._waiting.pop(document.document_id, None)
        self.tell()

    def drop(self, document_id: str) -> None:
        """Forget the pictures that wait in this document."""
        with self._lock:
            self._waiting.pop(document_id, None)
        self.tell()

    def read_one(self, document_id: str) -> None:
        """Count one picture less."""
        with self._lock:
            if left := self._waiting.get(document_id, 0):
                self._waiting[document_id] = max(1, left - 1)

    def next_id(self) -> str | None:
        """The document to go on with: that with the fewest pictures, so that many come soon."""
        with self._lock:
            return min(self._waiting, key=self._waiting.__getitem__, default=None)

    @property
    def waiting(self) -> WaitingPictures:
        """What waits, how long that takes, and what holds it up. Cheap."""
        with self._lock:
            count = sum(self._waiting.values())
        seconds = count * self._meter.picture_s
        return WaitingPictures(count, seconds, self._hold(count, seconds))

    def _hold(self, count: int, seconds: float) -> PictureHold:
        if self._is_paused:
            return PictureHold.PAUSED if count else PictureHold.NONE
        is_free = self._is_allowed or self._long_reading is LongReading.READ
        if seconds <= LONG_S or is_free:
            return PictureHold.NONE
        if self._long_reading is LongReading.WAIT:
            return PictureHold.LATER
        # The first pictures show how long one takes here.
        return PictureHold.ASKED if self._meter.knows_pictures else PictureHold.NONE

    # --- choices of the person -----------------------------------------------------------------

    def apply(self, long_reading: LongReading) -> None:
        """Use this setting for what takes long."""
        self._long_reading = long_reading
        self.tell()

    def allow(self) -> None:
        """Read what waits however long it takes, until the app ends."""
        self._is_allowed, self._is_paused = True, False
        self.tell()

    def set_paused(self, is_paused: bool) -> None:
        """Read no more pictures, or go on; `allow` still holds."""
        self._is_paused = is_paused
        self.tell()

    def tell(self) -> None:
        """Show in the progress what waits, unless it is held up."""
        waiting = self.waiting
        is_held = waiting.hold is not PictureHold.NONE
        self._meter.set_pictures_left(0 if is_held else waiting.count)
