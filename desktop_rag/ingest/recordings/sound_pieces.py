"""Recordings in pieces that a server takes. Worker threads.

WAV files are cut where it is quiet; others are sent whole, since cutting them needs a decoder.
"""

import io
import wave
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from desktop_rag.ingest.parsing.parser_process import ParseFailed

_MEGABYTE = 1 << 20
# Short enough to lose little when a request fails, and for servers that answer slowly.
LONGEST_PIECE_S = 600.0
# A cut is looked for in the last seconds of a piece, by the loudness of such short spans.
_SEARCHED_S = 15.0
_SPAN_S = 0.1
# What a request holds beside the sound.
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


def pieces_of(path: Path, max_upload_mb: int, longest_s: float = LONGEST_PIECE_S) -> list[Piece]:
    """The pieces of a recording in order, none larger than a request may be; 0 for any size.

    Raises ParseFailed for a file that can't be cut and is too large, OSError when it is gone.
    """
    most_bytes = max_upload_mb * _MEGABYTE - _REST_BYTES if max_upload_mb else 0
    size_bytes = path.stat().st_size
    try:
        with wave.open(str(path), "rb") as sound:
            pieces = list(_cut(path, sound, most_bytes, longest_s))
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
            " pieces. Or raise the limit under Settings → Transcription.",
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
