"""Subtitles (VTT, SRT): what is said, with its speakers and times. Runs in the parser process."""

import html
import re
from collections.abc import Iterator

from desktop_rag.core.parsed import Anchor, clock_time
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.markup import plain_text

_TIME = re.compile(r"\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,]\d{1,3}\s+-->\s+\d.*")
_SPEAKER = re.compile(r"<v(?:\.[^\s<>]{0,100})?[ \t]{1,9}([^<>]{1,200})>")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<\d[\d:.]*>|\{\\[^{}]{0,100}\}")
# A paragraph goes on for about this long.
_MAX_SECONDS = 30
_HOUR, _MINUTE = 3600, 60


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; there is no title. A paragraph has the time of its first words."""
    text = plain_text.decoded(source, draft)
    begin = last = -_MAX_SECONDS - 1
    speaker = before = ""
    for line, second, said in _lines(text):
        named = _SPEAKER.search(said)
        words = " ".join(html.unescape(_TAG.sub("", said)).split())
        if not words or words == before:
            # Captions that roll show a line twice.
            continue
        before = words
        # Who speaks holds for all lines of a caption.
        now = named[1].strip() if named else speaker * (second == last)
        last = second
        if now != speaker or not begin <= second <= begin + _MAX_SECONDS:
            speaker, begin = now, second
            draft.add("\n\n" * bool(draft.length))
            draft.mark(Anchor(line=line))
            draft.add(f"[{clock_time(second)}] " + f"{speaker}: " * bool(speaker) + words)
        else:
            draft.add(f" {words}")
    if not draft.length:
        plain_text.write(text, draft)
    return ""


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """(line from 1, second, words) of each line that is shown."""
    second: int | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if found := _TIME.match(line):
            hours, minutes, seconds = (int(part or 0) for part in found.groups())
            second = hours * _HOUR + minutes * _MINUTE + seconds
        elif not line.strip():
            second = None
        elif second is not None:
            yield number, second, line
