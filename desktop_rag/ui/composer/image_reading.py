"""Reads attachments, and prepares images for a model: upright, scaled down, without metadata.

Qt decodes images, within fixed limits. Worker threads.
"""

import tempfile
from pathlib import Path
from threading import Event

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QColor, QImage, QImageReader, QPainter

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Attachment, Image
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.ingest.library import Library

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff"})
_FORMATS = frozenset({b"png", b"jpeg", b"webp", b"bmp", b"gif", b"tiff"})
# Models scale larger images down; servers refuse very large ones.
LONGEST_SIDE_PX = 1568
_MAX_PIXELS = 100_000_000
# A screenshot stays sharp as PNG; a photo would be many times larger.
_MAX_PNG_BYTES = 1_500_000
_JPEG_QUALITY = 88
_HINT = tr("Open it in an image editor, save it as PNG or JPEG, and attach that file.")


def is_image_name(name: str) -> bool:
    """True if a file with this name is attached as an image."""
    return Path(name).suffix.lower() in IMAGE_SUFFIXES


def read_image(path: Path) -> Image:
    """Read an image file for sending; of an animation or multi-page TIFF, the first frame.

    Raises:
        AppError: when the file can't be opened, is not an image, or is too large.
    """
    reader = QImageReader(str(path))
    reader.setDecideFormatFromContent(True)
    reader.setAutoTransform(True)
    if not path.is_file():
        raise AppError(
            tr("The file can't be opened."), tr("There is no file at {path}.", path=path)
        )
    if bytes(reader.format().data()) not in _FORMATS:
        raise AppError(tr("This file is not an image."), _HINT)
    size = reader.size()
    if size.width() * size.height() > _MAX_PIXELS:
        raise AppError(
            tr("The image is too large."),
            tr("The limit is 100 megapixels. Make it smaller. {HINT}", HINT=_HINT),
        )
    if _is_large(size):
        # Large photos are scaled down while decoding.
        reader.setScaledSize(_fitting(size))
    picture = reader.read()
    if picture.isNull():
        raise AppError(tr("The image is damaged."), _HINT)
    return encode_image(picture)


def encode_image(picture: QImage) -> Image:
    """Scale a decoded image down and encode it for sending."""
    if _is_large(picture.size()):
        picture = picture.scaled(
            _fitting(picture.size()),
            Qt.AspectRatioMode.IgnoreAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
    png = _encoded(picture, "PNG", -1)
    if len(png) <= _MAX_PNG_BYTES:
        return Image("image/png", png)
    return Image("image/jpeg", _encoded(_on_white(picture), "JPEG", _JPEG_QUALITY))


def _is_large(size: QSize) -> bool:
    return max(size.width(), size.height()) > LONGEST_SIDE_PX


def _fitting(size: QSize) -> QSize:
    longest = QSize(LONGEST_SIDE_PX, LONGEST_SIDE_PX)
    return size.scaled(longest, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))


def _on_white(picture: QImage) -> QImage:
    """The image on a white background, because JPEG would turn transparency black."""
    paper = QImage(picture.size(), QImage.Format.Format_RGB32)
    paper.fill(QColor("white"))
    painter = QPainter(paper)
    painter.drawImage(0, 0, picture)
    painter.end()
    return paper


def _encoded(picture: QImage, form: str, quality: int) -> bytes:
    # Camera metadata, the location above all, is private.
    for key in picture.textKeys():
        picture.setText(key, "")
    held = QByteArray()
    buffer = QBuffer(held)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, form, quality)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return bytes(held.data())


def attach_file(library: Library, chat: Chat, path: Path, cancel: Event) -> Attachment:
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
    library: Library, chat: Chat, pasted: QImage, name: str, cancel: Event
) -> Attachment:
    """Attach an image from the clipboard. Raises the same errors as `attach_file`."""
    image = encode_image(pasted)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(image.data)
        return chat.attachments.keep_image(name, image, _text_in(library, path, cancel))


def _text_in(library: Library, path: Path, cancel: Event) -> Attachment | None:
    """The text in an image; None if it has none or text recognition is not installed."""
    try:
        return library.documents.attach(path, cancel=cancel)
    except AppError:
        return None
