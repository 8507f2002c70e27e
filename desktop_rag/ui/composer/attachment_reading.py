"""Reads attachments: files and the text in images by the library, pixels here. Worker threads."""

import tempfile
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtGui import QImage

from desktop_rag.core.attachment import Attachment
from desktop_rag.core.errors import AppError
from desktop_rag.ui.composer.image_reading import encode_image, is_image_name, read_image

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ingest.library import Library


def attach_file(library: "Library", chat: "Chat", path: Path, cancel: Event) -> Attachment:
    """Read a file as an attachment of a chat.

    Raises:
        AppError: when the file can't be read.
        Cancelled: soon after `cancel` is set.
    """
    if not is_image_name(path.name):
        return library.documents.attach(path, cancel=cancel)
    image = read_image(path)
    return chat.attachments.keep_image(path.name, image, _text_in(library, path, cancel))


def attach_image(
    library: "Library", chat: "Chat", pasted: QImage, name: str, cancel: Event
) -> Attachment:
    """Attach an image from the clipboard. Raises the same errors as `attach_file`."""
    image = encode_image(pasted)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(image.data)
        return chat.attachments.keep_image(name, image, _text_in(library, path, cancel))


def _text_in(library: "Library", path: Path, cancel: Event) -> Attachment | None:
    """The text in an image; None if it has none or text recognition is not installed."""
    try:
        return library.documents.attach(path, cancel=cancel)
    except AppError:
        return None
