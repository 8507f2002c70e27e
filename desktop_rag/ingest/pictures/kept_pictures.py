"""The texts of pictures as files, by the hash of the content of the file they are in. Any thread.

They can be made again, but that may take hours. So they outlive a change of readers, a move of the
file and a repair of the library, and those of a file under way outlive the end of the app.
"""

import json
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from desktop_rag.core.files.atomic_file import read_object, write_atomically
from desktop_rag.core.pictures.picture_text import PictureText, texts_from_json, texts_to_json
from desktop_rag.ingest.parsing.parser_process import ParseFailed, Reason

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KeptPictures:
    """What is known of the pictures in a file: their texts by their places.

    It `is_settled` once all were tried; `failed` says why that ended early.
    """

    texts: Mapping[str, PictureText] = field(default_factory=dict[str, PictureText])
    is_settled: bool = False
    failed: ParseFailed | None = None


class PictureFolder:
    """The folder of what is known of pictures, created with the first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, content_hash: str) -> KeptPictures:
        """What is known of this content."""
        return _kept_in(read_object(self._path(content_hash)))

    def put(self, content_hash: str, kept: KeptPictures) -> None:
        """Keep what is known of a content; OSError when that fails."""
        fields: dict[str, Any] = {
            "texts": texts_to_json(kept.texts),
            "is_settled": kept.is_settled,
            "failed": [kept.failed.reason, kept.failed.title, kept.failed.hint]
            if kept.failed
            else [],
        }
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(self._path(content_hash), json.dumps(fields, ensure_ascii=False))

    def forget(self, content_hash: str) -> None:
        """Have the pictures of this content read anew."""
        self._path(content_hash).unlink(missing_ok=True)

    def keep_only(self, content_hashes: Collection[str]) -> None:
        """Forget all other content."""
        if not self._folder.is_dir():
            return
        for path in list(self._folder.iterdir()):
            if path.stem not in content_hashes:
                log.info("the texts of pictures without their file are removed")
                path.unlink(missing_ok=True)

    def _path(self, content_hash: str) -> Path:
        return self._folder / f"{content_hash}.json"


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
