"""Images are sent upright, small enough and without camera metadata."""

import zlib
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from desktop_rag.core.errors import AppError
from desktop_rag.ui.composer.image_reading import (
    LONGEST_SIDE_PX,
    encode_image,
    is_image_name,
    read_image,
)


def chunk(content: bytes) -> bytes:
    """A PNG chunk: length, name, content, checksum."""
    return (len(content) - 4).to_bytes(4) + content + zlib.crc32(content).to_bytes(4)


# A header that claims 65,535 by 65,535 pixels, without any pixel data.
HUGE = (
    b"\x89PNG\r\n\x1a\n"
    + chunk(b"IHDR\x00\x00\xff\xff\x00\x00\xff\xff\x08\x02\x00\x00\x00")
    + chunk(b"IDAT" + zlib.compress(b""))
)


def picture(width: int, height: int) -> QImage:
    made = QImage(width, height, QImage.Format.Format_ARGB32)
    made.fill(Qt.GlobalColor.red)
    return made


def noise(width: int, height: int) -> QImage:
    """Noise, which PNG can't compress."""
    made = picture(width, height)
    seed = 1
    for y in range(height):
        for x in range(width):
            seed = seed * 1103515245 + 12345 & 0x7FFFFFFF
            made.setPixel(x, y, 0xFF000000 | seed >> 7)
    return made


def sent(path: Path) -> QImage:
    return QImage.fromData(read_image(path).data)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp", "a.bmp"])
def test_a_small_image_keeps_its_size(tmp_path: Path, name: str, qtbot: QtBot) -> None:
    assert picture(60, 40).save(str(tmp_path / name))
    image = sent(tmp_path / name)
    assert (image.width(), image.height()) == (60, 40)
    assert image.pixelColor(30, 20).red() > 240


def test_a_large_image_is_scaled_down_proportionally(tmp_path: Path, qtbot: QtBot) -> None:
    assert picture(4000, 1000).save(str(tmp_path / "a.jpg"))
    image = sent(tmp_path / "a.jpg")
    assert (image.width(), image.height()) == (LONGEST_SIDE_PX, LONGEST_SIDE_PX // 4)
    pasted = QImage.fromData(encode_image(picture(4000, 2)).data)
    assert (pasted.width(), pasted.height()) == (LONGEST_SIDE_PX, 1)


@pytest.mark.slow
def test_an_image_too_large_as_png_is_sent_as_jpeg(qtbot: QtBot) -> None:
    image = encode_image(noise(900, 700))
    assert image.mime == "image/jpeg"
    assert image.data.startswith(b"\xff\xd8")
    assert encode_image(picture(900, 700)).mime == "image/png"


def test_metadata_is_not_sent(tmp_path: Path, qtbot: QtBot) -> None:
    secret = picture(60, 40)
    secret.setText("Location", "51.5 N, 0.1 W, at home")
    assert secret.save(str(tmp_path / "a.png"))
    assert b"at home" in (tmp_path / "a.png").read_bytes()
    assert b"at home" not in read_image(tmp_path / "a.png").data


@pytest.mark.parametrize(
    ("content", "title"),
    [
        (b"", "not an image"),
        (b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", "not an image"),
        (b"\x89PNG\r\n\x1a\n" + bytes(30), "damaged"),
        (HUGE, "too large"),
    ],
)
def test_invalid_images_are_refused(
    tmp_path: Path, content: bytes, title: str, qtbot: QtBot
) -> None:
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(AppError, match=title) as told:
        read_image(tmp_path / "a.png")
    assert told.value.hint


def test_a_missing_image_is_an_error(tmp_path: Path, qtbot: QtBot) -> None:
    with pytest.raises(AppError, match="can't be opened"):
        read_image(tmp_path / "a.png")


def test_images_are_recognised_by_their_names() -> None:
    assert is_image_name("Photo.JPG")
    assert not is_image_name("drawing.svg")
    assert not is_image_name("png")
