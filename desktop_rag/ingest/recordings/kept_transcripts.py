"""The transcripts of recordings, by the hash of the recording's content. Any thread.

They can be made again, but that may take hours or money, so they are files of their own. The pieces
of one under way are kept too.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

from desktop_rag.core.files.content_folder import ContentFolder
from desktop_rag.core.recordings.transcript import Transcript

_PIECES = ".pieces"


class KeptTranscripts:
    """The folder of transcripts."""

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
