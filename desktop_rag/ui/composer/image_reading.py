"""Pictures made ready to be sent to a model: upright, no larger than it looks at, without what a
camera wrote into them. Any thread; Qt's own decoders do the work, within limits set beforehand.
"""

from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QColor, QImage, QImageReader, QPainter

from desktop_rag.core.attachment import Image
from desktop_rag.core.errors import AppError

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff"})
_FORMATS = frozenset({b"png", b"jpeg", b"webp", b"bmp", b"gif", b"tiff"})
# Models scale what is larger down; their servers refuse what is very large.
LONGEST_SIDE_PX = 1568
_MOST_PIXELS = 100_000_000
# A screenshot stays sharp as PNG; a photo would take many times the room.
_LARGEST_PNG_BYTES = 1_500_000
_JPEG_QUALITY = 88
_WAY_OUT = "Save it as PNG or JPEG in a picture program, and attach that."


def is_image_name(name: str) -> bool:
    """Whether a file of this name is attached as an image."""
    return Path(name).suffix.lower() in IMAGE_SUFFIXES


def read_image(path: Path) -> Image:
    """The picture in a file, ready to be sent; of a moving one or a fax the first.

    Raises:
        AppError: when it can't be opened, is no picture, or too large.
    """
    reader = QImageReader(str(path))
    reader.setDecideFormatFromContent(True)
    reader.setAutoTransform(True)
    if not path.is_file():
        raise AppError("The file can't be opened.", f"Nothing was found at {path}.")
    if bytes(reader.format().data()) not in _FORMATS:
        raise AppError("It is no picture.", _WAY_OUT)
    size = reader.size()
    if size.width() * size.height() > _MOST_PIXELS:
        raise AppError("The picture is too large.", f"It has too many pixels. {_WAY_OUT}")
    if _is_large(size):
        # A large photo is decoded to a part of its size at once.
        reader.setScaledSize(_fitting(size))
    picture = reader.read()
    if picture.isNull():
        raise AppError("The picture is damaged.", _WAY_OUT)
    return as_sent(picture)


def as_sent(picture: QImage) -> Image:
    """A picture that is there already, ready to be sent."""
    if _is_large(picture.size()):
        picture = picture.scaled(
            _fitting(picture.size()),
            Qt.AspectRatioMode.IgnoreAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
    png = _encoded(picture, "PNG", -1)
    if len(png) <= _LARGEST_PNG_BYTES:
        return Image("image/png", png)
    return Image("image/jpeg", _encoded(_on_white(picture), "JPEG", _JPEG_QUALITY))


def _is_large(size: QSize) -> bool:
    return max(size.width(), size.height()) > LONGEST_SIDE_PX


def _fitting(size: QSize) -> QSize:
    longest = QSize(LONGEST_SIDE_PX, LONGEST_SIDE_PX)
    return size.scaled(longest, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))


def _on_white(picture: QImage) -> QImage:
    """JPEG knows no transparency: it would be black."""
    paper = QImage(picture.size(), QImage.Format.Format_RGB32)
    paper.fill(QColor("white"))
    painter = QPainter(paper)
    painter.drawImage(0, 0, picture)
    painter.end()
    return paper


def _encoded(picture: QImage, form: str, quality: int) -> bytes:
    # What a camera wrote into it, the place above all, is nobody's business.
    for key in picture.textKeys():
        picture.setText(key, "")
    held = QByteArray()
    buffer = QBuffer(held)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, form, quality)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return bytes(held.data())
