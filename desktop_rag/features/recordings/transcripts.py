"""What is said in recordings, with its times: as a document, and kept in files."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from desktop_rag.core.files.own_files import ContentFolder
from desktop_rag.core.parsed import Anchor, Mark, ParsedDocument
from desktop_rag.core.recordings import RECORDING
from desktop_rag.core.text import sentences

# A pause of this length begins a paragraph.
_PAUSE_S = 2.0
_ENDINGS = (".", "!", "?", "…", "。", "！", "？", "।", "؟", ":", ";")


@dataclass(frozen=True, slots=True)
class Spoken:
    """Words with their times, in seconds from the start of the recording."""

    start_s: float
    end_s: float
    text: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """All that was said, in order. `language` is a two-letter code or empty."""

    spoken: tuple[Spoken, ...] = ()
    language: str = ""
    seconds: float = 0.0

    def later(self, by_s: float) -> "Transcript":
        """The transcript of a piece that begins this much later in the recording."""
        moved = (Spoken(s.start_s + by_s, s.end_s + by_s, s.text) for s in self.spoken)
        return replace(self, spoken=tuple(moved))

    def to_json(self) -> dict[str, Any]:
        """The stored form."""
        rows = [[round(s.start_s, 2), round(s.end_s, 2), s.text] for s in self.spoken]
        return {"language": self.language, "seconds": self.seconds, "spoken": rows}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Transcript":
        """The inverse of `to_json`; KeyError, TypeError or ValueError for anything else."""
        spoken = tuple(Spoken(float(a), float(b), str(text)) for a, b, text in fields["spoken"])
        return cls(spoken, str(fields["language"]), float(fields["seconds"]))


def joined(pieces: Iterable[Transcript]) -> Transcript:
    """One transcript from those of a recording's pieces, whose times are in the whole."""
    found = list(pieces)
    return Transcript(
        tuple(spoken for piece in found for spoken in piece.spoken),
        next((piece.language for piece in found if piece.language), ""),
        sum(piece.seconds for piece in found),
    )


def document_of(transcript: Transcript, title: str) -> ParsedDocument:
    """The transcript as a document; each sentence's place is its second."""
    text, marks = "", list[Mark]()
    before: Spoken | None = None
    for spoken in _by_sentence(transcript.spoken):
        if before is not None:
            text += _between(before, spoken)
        second = math.floor(spoken.start_s)
        if not marks or marks[-1].anchor.second != second:
            marks.append(Mark(len(text), Anchor(second=second)))
        text += spoken.text
        before = spoken
    return ParsedDocument(RECORDING, title, text, tuple(marks), language=transcript.language)


def _between(before: Spoken, after: Spoken) -> str:
    if after.start_s - before.end_s >= _PAUSE_S:
        return "\n\n"
    return "\n" if before.text.endswith(_ENDINGS) else " "


def _by_sentence(spoken: Iterable[Spoken]) -> Iterator[Spoken]:
    """Split words into sentences, each with its share of the time."""
    for words in spoken:
        text = " ".join(words.text.split())
        pace_s = (words.end_s - words.start_s) / max(1, len(text))
        for start, end in sentences(text):
            first_s, last_s = (words.start_s + pace_s * place for place in (start, end))
            yield Spoken(first_s, last_s, text[start:end])


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
