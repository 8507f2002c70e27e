"""Recordings: how files are recognised as such, transcripts and their documents. Pure."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from desktop_rag.core.parsed import Anchor, Mark, ParsedDocument
from desktop_rag.core.text import sentences

# The format of the documents.
RECORDING = "recording"
# Begins the reason of recordings that no server transcribes.
NO_TRANSCRIPTION = "A recording: there is no transcription of it."
RECORDING_SUFFIXES = (
    ".3gp", ".aac", ".aif", ".aiff", ".amr", ".ape", ".au", ".avi", ".divx", ".f4v", ".flac",
    ".flv", ".m2ts", ".m4a", ".m4b", ".m4v", ".mka", ".mkv", ".mov", ".mp2", ".mp3", ".mp4",
    ".mpeg", ".mpg", ".oga", ".ogg", ".ogv", ".opus", ".ra", ".rm", ".vob", ".wav", ".weba",
    ".webm", ".wma", ".wmv",
)  # fmt: skip
# Pictures share the container of MP4; these are their brands.
_PICTURE_BRANDS = rb"(?!hei[cfmsx]|hevc|mif1|msf1|avi[fs]|crx |jp2 |jxl )"
RECORDING_START = re.compile(
    rb"RIFF.{4}(?:WAVE|AVI )|RF64.{4}WAVE|OggS|fLaC|\x1a\x45\xdf\xa3"
    rb"|.{4}ftyp" + _PICTURE_BRANDS + rb"|.{4}(?:moov|mdat|wide)|FORM.{4}AIF[FC]|#!AMR|\.snd\0"
    rb"|FLV\x01|\x30\x26\xb2\x75\x8e\x66\xcf\x11|\0\0\x01[\xb3\xba]|MAC |\.RMF|\.ra\xfd",
    re.DOTALL,
)
# So short that a text or other data may begin with it by chance.
RECORDING_WEAK_START = re.compile(
    rb"ID3[\x02-\x04]|\xff[\xe2-\xe7\xf0-\xff][\0-\xef]|\x47.{187}\x47", re.DOTALL
)


def is_recording_name(name: str) -> bool:
    """True when a file name has the suffix of a recording."""
    return name.lower().endswith(RECORDING_SUFFIXES)


def begins_like_recording(header: bytes, *, is_named: bool) -> bool:
    """True for the first bytes of a recording; `is_named` if its name is one's too."""
    if RECORDING_START.match(header):
        return True
    return is_named and RECORDING_WEAK_START.match(header) is not None


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
