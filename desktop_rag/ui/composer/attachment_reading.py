"""Reads what is attached: files by the library, images here and, for the text in them, there too.

Worker threads.
"""

import tempfile
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtGui import QImage

from desktop_rag.core.attachment import Attachment
from desktop_rag.core.errors import AppError
from desktop_rag.ui.composer.image_reading import as_sent, is_image_name, read_image

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ingest.library import Library


def attach_file(library: "Library", chat: "Chat", path: Path, cancel: Event) -> Attachment:
    """Read a file to be asked about in a chat.

    Raises:
        AppError: with the reason, when it can't be read.
        Cancelled: soon after `cancel` is set.
    """
    if not is_image_name(path.name):
        return library.attach(path, cancel=cancel)
    image = read_image(path)
    return chat.attachments.keep_image(path.name, image, _text_in(library, path, cancel))


def attach_picture(
    library: "Library", chat: "Chat", picture: QImage, name: str, cancel: Event
) -> Attachment:
    """A picture from the clipboard, to be asked about in a chat. Raises as `attach_file`."""
    image = as_sent(picture)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(image.data)
        return chat.attachments.keep_image(name, image, _text_in(library, path, cancel))


def _text_in(library: "Library", path: Path, cancel: Event) -> Attachment | None:
    """The text in an image; None without any, or without the extra that reads it."""
    try:
        return library.attach(path, cancel=cancel)
    except AppError:
        return None
