"""Recordings, which a server turns into text, one piece at a time, after all else. Any thread.

Files that can be read at once go first, and answers before each piece. A server that is away is
asked again later, with longer and longer pauses.
"""

import io
import logging
import threading
import wave
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from desktop_rag.activity.recorder import Recorder
from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.errors import AppError, Cancelled, without_quotation
from desktop_rag.core.library_events import Notice
from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.core.recordings import begins_like_recording, is_recording_name
from desktop_rag.core.settings import Settings, TranscriptionSettings
from desktop_rag.core.waits import Backoff
from desktop_rag.features.recordings.transcription_client import TranscriptionClient
from desktop_rag.features.recordings.transcripts import (
    KeptTranscripts,
    Transcript,
    document_of,
    joined,
)
from desktop_rag.ingest.background.background_thread import BackgroundPart, BackgroundThread
from desktop_rag.ingest.indexing.late_texts import LateKit, LateTexts, TextAwaited
from desktop_rag.ingest.parsing.parser_process import ParseFailed
from desktop_rag.models.connection_states import may_send
from desktop_rag.models.endpoint_address import host_of
from desktop_rag.models.endpoints.client.endpoint_faults import EndpointFaultError, Fault
from desktop_rag.store.contract.documents import DocumentStore

log = logging.getLogger(__name__)

_HEADER_BYTES = 512
_SETTINGS = "under Settings → Models → Transcription"
WAITING = "Waits to be transcribed."
# Begins the reason of recordings that no server transcribes.
NO_TRANSCRIPTION = "A recording: there is no transcription of it."
_MEGABYTE = 1 << 20
# Short enough to lose little when a request fails, and for servers that answer slowly.
LONGEST_PIECE_S = 600.0
# A cut is looked for in the last seconds of a piece, by the loudness of such short spans.
_SEARCHED_S = 15.0
_SPAN_S = 0.1
# Bytes of a request beside the sound.
_REST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a recording: frames of a WAV file, or the whole file where `frames` is None."""

    path: Path
    start_s: float = 0.0
    frames: tuple[int, int] | None = None

    @property
    def key(self) -> str:
        """The piece among those of its recording."""
        return "all" if self.frames is None else f"{self.frames[0]}-{self.frames[1]}"

    @property
    def name(self) -> str:
        """The name under which it is sent."""
        if self.frames is None:
            return self.path.name
        return f"{self.path.stem}~{self.start_s:.3f}.wav"

    def opened(self) -> AbstractContextManager[BinaryIO]:
        """Its content as a file; OSError when it can't be read."""
        if self.frames is None:
            return self.path.open("rb")
        return _opened_frames(self.path, *self.frames)


def pieces_of(path: Path, max_upload_mb: int) -> list[Piece]:
    """The pieces of a recording in order, none larger than a request may be; 0 for any size.

    WAV files are cut where it is quiet; others are sent whole, since cutting them needs a decoder.
    Raises ParseFailed for a file that can't be cut and is too large, OSError when it is gone.
    """
    most_bytes = max_upload_mb * _MEGABYTE - _REST_BYTES if max_upload_mb else 0
    size_bytes = path.stat().st_size
    try:
        with wave.open(str(path), "rb") as sound:
            pieces = list(_cut(path, sound, most_bytes, LONGEST_PIECE_S))
    except (wave.Error, EOFError):
        # Not WAV, or a kind of it that the standard library does not read.
        pieces = []
    if len(pieces) > 1:
        return pieces
    if most_bytes and size_bytes > most_bytes:
        raise ParseFailed(
            "too large",
            "The recording is too large for the transcription server",
            f"It has {size_bytes / _MEGABYTE:.0f} MB, and a request may have {max_upload_mb} MB."
            " Convert it to a smaller format such as MP3 or Opus, or to WAV, which is sent in"
            " pieces. Or raise the limit under Settings → Models → Transcription.",
        )
    return [Piece(path)]


def _cut(path: Path, sound: wave.Wave_read, most_bytes: int, longest_s: float) -> Iterator[Piece]:
    rate = sound.getframerate()
    frame_bytes = sound.getnchannels() * sound.getsampwidth()
    most_frames = int(longest_s * rate)
    if most_bytes:
        most_frames = min(most_frames, most_bytes // frame_bytes)
    start, total = 0, sound.getnframes()
    while start < total:
        end = min(total, start + most_frames)
        if end < total:
            end = _quiet_place(sound, start, end)
        yield Piece(path, start / rate, (start, end))
        start = end


def _quiet_place(sound: wave.Wave_read, start: int, end: int) -> int:
    """The frame before `end` around which it is quietest."""
    rate, channels = sound.getframerate(), sound.getnchannels()
    searched = min(int(_SEARCHED_S * rate), (end - start) // 2)
    span = int(_SPAN_S * rate)
    if sound.getsampwidth() != 2 or searched < 2 * span or not span:  # noqa: PLR2004  16 bit
        return end
    sound.setpos(end - searched)
    samples = np.frombuffer(sound.readframes(searched), dtype="<i2").astype(np.float32)
    count = len(samples) // (span * channels)
    if not count:
        return end
    spans = samples[: count * span * channels].reshape(count, -1)
    quietest = int(np.argmin((spans * spans).mean(axis=1)))
    return end - searched + quietest * span + span // 2


@contextmanager
def _opened_frames(path: Path, start: int, end: int) -> Generator[BinaryIO]:
    kept = io.BytesIO()
    with wave.open(str(path), "rb") as sound, wave.open(kept, "wb") as part:
        part.setnchannels(sound.getnchannels())
        part.setsampwidth(sound.getsampwidth())
        part.setframerate(sound.getframerate())
        sound.setpos(start)
        part.writeframes(sound.readframes(end - start))
    kept.seek(0)
    yield kept


# The first pause after a failure, and the longest.
_RETRY_S, _LONGEST_S = 30.0, 1800.0
_GOES_ON = "Recordings wait. They are tried again by themselves."
# Faults of this recording: others may do better, and asking again changes nothing.
_OF_THE_FILE = frozenset({Fault.TOO_LARGE, Fault.REJECTED, Fault.UNREADABLE, Fault.TOO_LONG})
_EMPTY = ParseFailed("no text", "No speech was found in the recording")


class Transcriber(BackgroundPart):
    """The queue of recordings without a transcript, and the thread that asks for them."""

    def __init__(self, recordings: "Recordings", client: TranscriptionClient, kit: LateKit) -> None:
        self._recordings = recordings
        self._client = client
        self._documents = kit.documents
        self._submit = kit.submit
        self._share = kit.share
        self._changed = kit.callbacks.documents_changed
        self._notify = kit.callbacks.notify
        self._queue: dict[str, Document] = {}
        self._backoff = Backoff(_RETRY_S, _LONGEST_S)
        self._timer: threading.Timer | None = None
        # Ends the request under way when the settings change.
        self._stop = threading.Event()
        self._background = BackgroundThread(
            "transcriber", self._work, has_work=self._has_due, may_work=kit.may_run,
            callbacks=kit.callbacks,
        )  # fmt: skip

    def close(self) -> None:
        """End the request under way; what is known of its recording is kept."""
        self._background.closing.set()
        self._stop.set()
        self._set_timer(0.0)
        super().close()

    def reset(self) -> None:
        """Ask at once after a change of settings; the indexer looks at all that waits again."""
        with self._background.condition:
            self._backoff.forget()
            waiting = list(self._queue)
            self._queue.clear()
        self._stop.set()
        for document_id in waiting:
            self._recordings.forget(document_id)
        self._submit(waiting)

    def add(self, document: Document) -> None:
        """Queue a recording that needs a transcript."""
        with self._background.condition:
            self._queue[document.document_id] = document
        self.wake()

    def _has_due(self) -> bool:
        return bool(self._queue) and not self._backoff.left_s

    # --- on the thread ---------------------------------------------------------------------------

    def _work(self) -> None:
        with self._background.condition:
            document = next(iter(self._queue.values()), None)
        self._stop.clear()
        if document is None or self._background.closing.is_set():
            return
        try:
            self._finish(document, self._transcribe(document))
        except FileNotFoundError:
            # The scan will tell where it is.
            self._drop(document)
        except OSError as exc:
            self._refuse(document, ParseFailed("no access", exc.strerror or str(exc)))
        except ParseFailed as failed:
            self._refuse(document, failed)
        except EndpointFaultError as error:
            if error.fault in _OF_THE_FILE:
                words = f"The transcription server did not take the recording: {error.title}"
                self._refuse(document, ParseFailed("damaged", words, error.hint))
            else:
                self._wait(error, error.wait_s or 0.0)
        except AppError as error:
            self._wait(error, 0.0)

    def _transcribe(self, document: Document) -> Transcript | None:
        """The transcript; None when the document has changed."""
        kept = self._recordings.kept
        if not self._is_current(document):
            return None
        settings = self._recordings.settings
        pieces = pieces_of(document.path, settings.max_upload_mb)
        known = kept.pieces(document.content_hash)
        for n, piece in enumerate(pieces):
            if piece.key in known:
                continue
            self._share.wait()
            self._report(document, n, len(pieces))
            if not self._background.may_go_on():
                raise Cancelled
            known[piece.key] = self._asked(piece)
            if len(pieces) > 1:
                kept.put_pieces(document.content_hash, known)
            self._backoff.forget()
        return joined(known[piece.key] for piece in pieces)

    def _asked(self, piece: Piece) -> Transcript:
        with piece.opened() as content:
            found = self._client.transcribe(
                self._recordings.settings, piece.name, content, self._stop
            )
        return found.later(piece.start_s)

    def _is_current(self, document: Document) -> bool:
        row = next(iter(self._documents.get([document.document_id])), None)
        if row is None or row.state is not DocumentState.WAITING:
            return False
        found, stat = document.path.stat(), document.stat
        return (found.st_size, found.st_mtime_ns) == (stat.size_bytes, stat.mtime_ns)

    def _report(self, document: Document, done: int, pieces: int) -> None:
        part = f": part {done + 1} of {pieces}" if pieces > 1 else ""
        words = f"Being transcribed{part}."
        self._recordings.say(document.document_id, words, DocumentState.READING)
        self._changed([document])

    def _finish(self, document: Document, transcript: Transcript | None) -> None:
        if transcript is None or not self._is_current(document):
            # Changed, deleted or excluded: the indexer looks.
            self._give_back(document)
        elif transcript.spoken:
            self._recordings.kept.put(document.content_hash, transcript)
            self._give_back(document)
        else:
            self._refuse(document, _EMPTY)

    def _refuse(self, document: Document, failed: ParseFailed) -> None:
        self._recordings.refuse(document.content_hash, failed)
        self._give_back(document)

    def _give_back(self, document: Document) -> None:
        self._drop(document)
        self._submit([document.document_id])

    def _drop(self, document: Document) -> None:
        self._recordings.forget(document.document_id)
        with self._background.condition:
            self._queue.pop(document.document_id, None)

    def _wait(self, error: AppError, least_s: float) -> None:
        """The server is away: try again after a pause, each twice as long as the one before."""
        with self._background.condition:
            is_news = self._backoff.begin(least_s)
            waiting = list(self._queue.values())
        for document in waiting:
            words = f"{WAITING} {error.title} It is tried again by itself."
            self._recordings.say(document.document_id, words)
        self._changed(waiting)
        self._set_timer(self._backoff.left_s)
        log.info("transcription is delayed: %s", error.title)
        if is_news:
            hint = without_quotation(error.hint)
            self._notify(Notice(f"Transcription: {error.title}", f"{hint} {_GOES_ON}".strip()))

    def _set_timer(self, wait_s: float) -> None:
        with self._background.condition:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if wait_s and not self._background.closing.is_set():
                self._timer = threading.Timer(wait_s, self._background.wake)
                self._timer.name, self._timer.daemon = "transcription-retry", True
                self._timer.start()


class Recordings(LateTexts):
    """Transcripts by content, and the recordings that wait for theirs."""

    reason = NO_TRANSCRIPTION

    def __init__(
        self, folder: Path, key_of: Callable[[str], str], recorder: Recorder | None = None
    ) -> None:
        """`folder` is for the transcripts; `key_of` returns the key of a server."""
        self.kept = KeptTranscripts(folder)
        self._client = TranscriptionClient(key_of, recorder)
        # The server, as the settings have it now.
        self.settings = TranscriptionSettings()
        self._lock = threading.Lock()
        # By the hash of their content.
        self._refused: dict[str, ParseFailed] = {}
        # By the id of their document.
        self._states: dict[str, tuple[DocumentState, str]] = {}
        self._transcriber: Transcriber | None = None

    def worker(self, kit: LateKit) -> BackgroundPart:
        """What asks the server for transcripts."""
        self._transcriber = Transcriber(self, self._client, kit)
        return self._transcriber

    # --- settings ----------------------------------------------------------------------------

    def apply(self, settings: Settings) -> bool:
        """Use the server of these settings; True when it is another."""
        is_other, self.settings = settings.transcription != self.settings, settings.transcription
        if is_other and self._transcriber:
            self._transcriber.reset()
        return is_other

    @property
    def can_read(self) -> bool:
        """True when recordings may be sent to a server."""
        return may_send(self.settings)

    @property
    def refusal_now(self) -> str:
        """Why recordings are not transcribed; "" when they are."""
        if self.can_read:
            return ""
        if not self.settings.base_url:
            return f"{NO_TRANSCRIPTION} Choose a server {_SETTINGS}."
        host = host_of(self.settings.base_url)
        return f"{NO_TRANSCRIPTION} Allow that they are sent to {host} {_SETTINGS}."

    def refusal(self, name: str) -> str | None:
        """Why a scan leaves a recording alone, by its name; "" to take it, None for other files.

        Without a server long films are not even opened.
        """
        if not is_recording_name(name):
            return None
        return "" if self.can_read or self.kept.has_any else self.refusal_now

    # --- for the indexer -----------------------------------------------------------------------

    def takes(self, path: Path) -> bool:
        """True when a file is a recording, by name and first bytes; OSError if it is gone."""
        if not is_recording_name(path.name):
            return False
        with path.open("rb") as file:
            return begins_like_recording(file.read(_HEADER_BYTES), is_named=True)

    def read(self, document: Document) -> ParsedDocument:
        """The transcript of a recording, with its times as places.

        Raises ParseFailed when there is and will be none, TextAwaited when there is none yet.
        """
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
            if self._transcriber:
                self._transcriber.add(document)
        raise TextAwaited

    def is_awaited(self, document: Document) -> bool:
        """True when the recording already waits for its transcript."""
        with self._lock:
            return document.document_id in self._states and document.state is DocumentState.WAITING

    # --- for the transcriber -------------------------------------------------------------------

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

    # --- for the library -------------------------------------------------------------------------

    def forget_content(self, documents: DocumentStore) -> None:
        """Forget transcripts of files that the store has no more, once all contents are known."""
        if self.kept.has_any:
            waiting = documents.documents(state=DocumentState.WAITING)
            if not any(is_recording_name(document.path.name) for document in waiting):
                self.kept.keep_only(documents.content_hashes())

    def as_now(self, document: Document) -> Document:
        """The row with what a waiting recording waits for."""
        if document.state is not DocumentState.WAITING:
            return document
        with self._lock:
            state, words = self._states.get(document.document_id, (document.state, document.reason))
        return replace(document, state=state, reason=words)
