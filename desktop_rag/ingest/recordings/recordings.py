"""Which recordings are read, and what was said in them. Any thread.

The indexer asks here instead of a parser: a recording becomes text on a server, which may take
long. Until then it waits.
"""

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.files.own_files import ContentFolder
from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.core.recordings import (
    NO_TRANSCRIPTION,
    Transcript,
    begins_like_recording,
    document_of,
    is_recording_name,
)
from desktop_rag.core.settings import TranscriptionSettings
from desktop_rag.ingest.parsing.parser_process import ParseFailed
from desktop_rag.models.endpoint_address import host_of
from desktop_rag.models.transcription_client import TranscriptionClient, may_send

_PIECES = ".pieces"


class KeptTranscripts:
    """The transcripts of recordings, by the hash of their content, and pieces of those under way.

    They can be made again, but that may take hours or money.
    """

    def __init__(self, folder: Path) -> None:
        self._files = ContentFolder(folder)

    @property
    def has_any(self) -> bool:
        """True once a recording was transcribed, or begun."""
        return self._files.has_any

    def get(self, content_hash: str) -> Transcript | None:
        """The transcript of this content, if it is known."""
        return _transcript_in(self._files.read(content_hash))

    def pieces(self, content_hash: str) -> dict[str, Transcript]:
        """The transcripts of the pieces that are known of this content, by their keys."""
        kept = self._files.read(content_hash + _PIECES)
        found = {key: _transcript_in(fields) for key, fields in kept.items()}
        return {key: transcript for key, transcript in found.items() if transcript is not None}

    def put_pieces(self, content_hash: str, pieces: Mapping[str, Transcript]) -> None:
        """Keep what is known so far; OSError when that fails."""
        fields = {key: transcript.to_json() for key, transcript in pieces.items()}
        self._files.write(content_hash + _PIECES, fields)

    def put(self, content_hash: str, transcript: Transcript) -> None:
        """Keep a whole transcript, which needs its pieces no more; OSError when that fails."""
        self._files.write(content_hash, transcript.to_json())
        self._files.remove(content_hash + _PIECES)

    def keep_only(self, content_hashes: Collection[str]) -> None:
        """Remove the transcripts of all other content."""
        self._files.keep_only(content_hashes)


def _transcript_in(fields: object) -> Transcript | None:
    try:
        return Transcript.from_json(cast("dict[str, Any]", fields)) if fields else None
    except (KeyError, TypeError, ValueError):
        return None


_HEADER_BYTES = 512
_SETTINGS = "under Settings → Models → Transcription"
WAITING = "Waits to be transcribed."


class TranscriptAwaited(Exception):  # noqa: N818  no error: the document goes on waiting
    """A recording has no transcript yet."""


@dataclass(frozen=True)
class RecordingKit:
    """The folder for transcripts, and the client; `retry_s` is the first pause after a failure."""

    folder: Path
    client: TranscriptionClient
    retry_s: float = 30.0


class Recordings:
    """Transcripts by content, and the recordings that wait for theirs."""

    def __init__(self, kit: RecordingKit | None) -> None:
        """Without a kit recordings are treated like other unreadable files."""
        self.kept = KeptTranscripts(kit.folder) if kit else None
        self._settings = TranscriptionSettings()
        self._lock = threading.Lock()
        # By the hash of their content.
        self._refused: dict[str, ParseFailed] = {}
        # By the id of their document.
        self._states: dict[str, tuple[DocumentState, str]] = {}
        self._wait_for: Callable[[Document], None] = lambda _document: None

    def on_awaited(self, wait_for: Callable[[Document], None]) -> None:
        """Call `wait_for` with documents that need a transcript."""
        self._wait_for = wait_for

    # --- settings ----------------------------------------------------------------------------

    @property
    def settings(self) -> TranscriptionSettings:
        """The server, as the settings have it now."""
        return self._settings

    def apply(self, settings: TranscriptionSettings) -> bool:
        """Use these settings; True when they differ."""
        is_other, self._settings = settings != self._settings, settings
        return is_other

    @property
    def can_transcribe(self) -> bool:
        """True when recordings may be sent to a server."""
        return self.kept is not None and may_send(self._settings)

    @property
    def refusal_now(self) -> str:
        """Why recordings are not transcribed; "" when they are."""
        if self.can_transcribe:
            return ""
        if not self._settings.base_url:
            return f"{NO_TRANSCRIPTION} Choose a server {_SETTINGS}."
        host = host_of(self._settings.base_url)
        return f"{NO_TRANSCRIPTION} Allow that they are sent to {host} {_SETTINGS}."

    def refusal(self, name: str) -> str | None:
        """Why a scan leaves a recording alone, by its name; "" to take it, None for other files.

        Without a server long films are not even opened.
        """
        if self.kept is None or not is_recording_name(name):
            return None
        return "" if self.can_transcribe or self.kept.has_any else self.refusal_now

    # --- for the indexer -----------------------------------------------------------------------

    def takes(self, path: Path) -> bool:
        """True when a file is a recording, by name and first bytes; OSError if it is gone."""
        if self.kept is None or not is_recording_name(path.name):
            return False
        with path.open("rb") as file:
            return begins_like_recording(file.read(_HEADER_BYTES), is_named=True)

    def read(self, document: Document) -> ParsedDocument:
        """The transcript of a recording, with its times as places.

        Raises ParseFailed when there is and will be none, TranscriptAwaited when there is none yet.
        """
        assert self.kept is not None
        content_hash = document.content_hash
        if transcript := self.kept.get(content_hash):
            self.forget(document.document_id)
            return document_of(transcript, document.path.stem)
        with self._lock:
            # Once: reading it again is another try.
            refused = self._refused.pop(content_hash, None)
        if refused is not None:
            self.forget(document.document_id)
            raise refused
        if refusal := self.refusal_now:
            raise ParseFailed("unsupported", refusal)
        if not self.is_awaited(document):
            self.say(document.document_id, WAITING)
            self._wait_for(document)
        raise TranscriptAwaited

    def is_awaited(self, document: Document) -> bool:
        """True when the recording already waits for its transcript."""
        with self._lock:
            return document.document_id in self._states and document.state is DocumentState.WAITING

    # --- for the transcriber -------------------------------------------------------------------

    def learn(self, content_hash: str, transcript: Transcript) -> None:
        """Keep the transcript of a content; OSError when that fails."""
        assert self.kept is not None
        self.kept.put(content_hash, transcript)

    def refuse(self, content_hash: str, failed: ParseFailed) -> None:
        """Keep the reason why there is no transcript of a content."""
        with self._lock:
            self._refused[content_hash] = failed

    def say(
        self, document_id: str, words: str, state: DocumentState = DocumentState.WAITING
    ) -> None:
        """Set what a recording waits for."""
        with self._lock:
            self._states[document_id] = state, words

    def forget(self, document_id: str) -> None:
        """Forget that a recording waits."""
        with self._lock:
            self._states.pop(document_id, None)

    # --- for lists of documents ------------------------------------------------------------------

    def as_now(self, document: Document) -> Document:
        """The row with what a waiting recording waits for."""
        if document.state is not DocumentState.WAITING:
            return document
        with self._lock:
            state, words = self._states.get(document.document_id, (document.state, document.reason))
        return replace(document, state=state, reason=words)
