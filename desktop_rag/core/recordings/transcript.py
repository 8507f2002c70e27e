"""What was said in a recording and when, and the document that is made of it. Pure."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.parsed import Mark, ParsedDocument
from desktop_rag.core.recordings.recording_marks import RECORDING
from desktop_rag.core.text import sentences

# A pause of this length begins a paragraph.
_PAUSE_S = 2.0
_ENDINGS = (".", "!", "?", "…", "。", "！", "？", "।", "؟", ":", ";")


@dataclass(frozen=True, slots=True)
class Spoken:
    """Words, and when they were said, in seconds from the start of the recording."""

    start_s: float
    end_s: float
    text: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """All that was said, in order. `language` is a code of two letters, "" where it is unknown."""

    spoken: tuple[Spoken, ...] = ()
    language: str = ""
    seconds: float = 0.0

    def later(self, by_s: float) -> "Transcript":
        """The transcript of a piece that begins this much later in the recording."""
        moved = (Spoken(s.start_s + by_s, s.end_s + by_s, s.text) for s in self.spoken)
        return replace(self, spoken=tuple(moved))

    def to_json(self) -> dict[str, Any]:
        """The transcript as it is kept."""
        rows = [[round(s.start_s, 2), round(s.end_s, 2), s.text] for s in self.spoken]
        return {"language": self.language, "seconds": self.seconds, "spoken": rows}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Transcript":
        """The inverse of `to_json`; KeyError, TypeError or ValueError for anything else."""
        spoken = tuple(Spoken(float(a), float(b), str(text)) for a, b, text in fields["spoken"])
        return cls(spoken, str(fields["language"]), float(fields["seconds"]))


def joined(pieces: Iterable[Transcript]) -> Transcript:
    """The transcript of a recording from those of its pieces, which know their times in it."""
    found = list(pieces)
    return Transcript(
        tuple(spoken for piece in found for spoken in piece.spoken),
        next((piece.language for piece in found if piece.language), ""),
        sum(piece.seconds for piece in found),
    )


def document_of(transcript: Transcript, title: str) -> ParsedDocument:
    """The transcript as a document: each sentence has its second as its place."""
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
    """Words that hold several sentences sentence by sentence, each with its share of the time."""
    for words in spoken:
        text = " ".join(words.text.split())
        spans = sentences(text)
        pace_s = (words.end_s - words.start_s) / max(1, len(text))
        for start, end in spans:
            yield Spoken(
                words.start_s + pace_s * start, words.start_s + pace_s * end, text[start:end]
            )
