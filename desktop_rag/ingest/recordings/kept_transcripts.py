"""The transcripts of recordings as files, by the hash of the recording's content. Any thread.

They can be made again, but that may take hours or money. So they outlive a change of readers, a
move of the file and a repair of the library. The pieces of one under way are kept too.
"""

import json
import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

from desktop_rag.core.files.atomic_file import read_object, write_atomically
from desktop_rag.core.recordings.transcript import Transcript

log = logging.getLogger(__name__)

_PIECES = ".pieces"


class KeptTranscripts:
    """The folder of transcripts, created with the first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def has_any(self) -> bool:
        """True once a recording was transcribed, or begun."""
        try:
            return any(self._folder.iterdir())
        except OSError:
            return False

    def get(self, content_hash: str) -> Transcript | None:
        """The transcript of this content, if it is known."""
        return _transcript_in(read_object(self._path(content_hash)))

    def pieces(self, content_hash: str) -> dict[str, Transcript]:
        """The transcripts of the pieces that are known of this content, by their keys."""
        kept = read_object(self._path(content_hash + _PIECES))
        found = {key: _transcript_in(fields) for key, fields in kept.items()}
        return {key: transcript for key, transcript in found.items() if transcript is not None}

    def put_pieces(self, content_hash: str, pieces: Mapping[str, Transcript]) -> None:
        """Keep what is known so far; OSError when that fails."""
        fields = {key: transcript.to_json() for key, transcript in pieces.items()}
        self._write(content_hash + _PIECES, fields)

    def put(self, content_hash: str, transcript: Transcript) -> None:
        """Keep a whole transcript, which needs its pieces no more; OSError when that fails."""
        self._write(content_hash, transcript.to_json())
        self._path(content_hash + _PIECES).unlink(missing_ok=True)

    def keep_only(self, content_hashes: Collection[str]) -> None:
        """Remove the transcripts of all other content."""
        if not self.has_any:
            return
        for path in list(self._folder.iterdir()):
            if path.name.partition(".")[0] not in content_hashes:
                log.info("a transcript without its recording is removed")
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _write(self, name: str, fields: dict[str, Any]) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(self._path(name), json.dumps(fields, ensure_ascii=False))


def _transcript_in(fields: object) -> Transcript | None:
    try:
        return Transcript.from_json(cast("dict[str, Any]", fields)) if fields else None
    except (KeyError, TypeError, ValueError):
        return None
