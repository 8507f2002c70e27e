"""The texts of pictures, by the hash of the content of the file they are in. Any thread.

They can be made again, but that may take hours, so they are files of their own; those of a file
under way outlive the end of the app.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from desktop_rag.core.files.content_folder import ContentFolder
from desktop_rag.core.pictures.picture_text import PictureText, texts_from_json, texts_to_json
from desktop_rag.ingest.parsing.parser_process import ParseFailed
from desktop_rag.ingest.read.foundation.read_limits import Reason


@dataclass(frozen=True, slots=True)
class KeptPictures:
    """What is known of the pictures in a file: their texts by their places.

    It `is_settled` once all were tried; `failed` says why that ended early.
    """

    texts: Mapping[str, PictureText] = field(default_factory=dict[str, PictureText])
    is_settled: bool = False
    failed: ParseFailed | None = None


class PictureFolder:
    """The folder of what is known of pictures."""

    def __init__(self, folder: Path) -> None:
        self._files = ContentFolder(folder)

    def get(self, content_hash: str) -> KeptPictures:
        """What is known of this content."""
        return _kept_in(self._files.read(content_hash))

    def put(self, content_hash: str, kept: KeptPictures) -> None:
        """Keep what is known of a content; OSError when that fails."""
        failed = kept.failed
        fields: dict[str, Any] = {
            "texts": texts_to_json(kept.texts),
            "is_settled": kept.is_settled,
            "failed": [failed.reason, failed.title, failed.hint] if failed else [],
        }
        self._files.write(content_hash, fields)

    def forget(self, content_hash: str) -> None:
        """Have the pictures of this content read anew."""
        self._files.remove(content_hash)

    def keep_only(self, content_hashes: Collection[str]) -> None:
        """Forget all other content."""
        self._files.keep_only(content_hashes)


def _kept_in(fields: Mapping[str, Any]) -> KeptPictures:
    try:
        texts = texts_from_json(fields.get("texts", {}))
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
