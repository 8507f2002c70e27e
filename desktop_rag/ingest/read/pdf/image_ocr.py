"""Pictures: the text in them, where the optional extra `ocr` is installed.

Decoding is done by the extra's own library, under limits that are checked before it starts. Runs
in the parser process.
"""

from functools import partial
from typing import TYPE_CHECKING

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.ocr import (
    MAX_SIDE_PX,
    READ_FROM_PICTURES,
    Ocr,
    OcrFailedError,
    ocr_hint,
)
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP", "GIF")
# A page at 600 dots an inch has 35 million.
_MAX_PIXELS = 40_000_000
_PAGE_BREAK = "\n\n"


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft with the text of a picture; each frame of a TIFF is a page."""
    if draft.ocr is None or not draft.ocr.is_installed:
        raise Unreadable("no text", "No text found", f"It is a picture. {ocr_hint()}")
    import io

    from PIL import Image, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = _MAX_PIXELS
    try:
        with Image.open(io.BytesIO(source.data), formats=_FORMATS) as image:
            _read_frames(image, draft, draft.ocr)
    except UnidentifiedImageError as exc:
        raise Unreadable("damaged", "The file is damaged", "It is no valid picture.") from exc
    except Image.DecompressionBombError as exc:
        raise _too_many_pixels() from exc
    except OcrFailedError as exc:
        raise Unreadable("no text", "No text found", f"Reading the picture failed: {exc}") from exc
    except (OSError, SyntaxError, ValueError) as exc:  # what its decoders raise
        raise Unreadable("damaged", "The file is damaged", "It is no valid picture.") from exc
    if not draft.length:
        raise Unreadable("no text", "No text found", "There is none in the picture.")
    return ""


def _read_frames(image: "Image", draft: DocumentDraft, ocr: Ocr) -> None:
    # Of an animation the first frame is enough; a TIFF may be a whole fax.
    count = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
    is_first = True
    for number in range(1, count + 1):
        if ocr.is_spent:
            draft.warn(f"Only {number - 1} of its {count} pages were read.")
            break
        image.seek(number - 1)
        text = ocr.read(draft.place(number), partial(_pixels, image))
        if not text or text.isspace():
            continue
        if not is_first:
            draft.add(_PAGE_BREAK)
        draft.mark(Anchor(page=number) if count > 1 else Anchor())
        draft.add(text)
        is_first = False
    if not is_first:
        draft.warn(READ_FROM_PICTURES)


def _pixels(image: "Image") -> "NDArray[np.uint8]":
    """Upright, on white, of the size that reading takes, as (height, width, blue green red)."""
    import numpy as np
    from PIL import Image, ImageOps

    if image.width * image.height > _MAX_PIXELS:
        raise _too_many_pixels()
    # A large JPEG is decoded to a half or a quarter of its size at once.
    image.draft("RGB", (MAX_SIDE_PX, MAX_SIDE_PX))
    plain = image.convert("RGBA" if image.has_transparency_data else "RGB")
    plain.thumbnail((MAX_SIDE_PX, MAX_SIDE_PX))
    upright = ImageOps.exif_transpose(plain)
    if upright.mode == "RGBA":
        paper = Image.new("RGBA", upright.size, "white")
        paper.alpha_composite(upright)
        upright = paper.convert("RGB")
    return np.ascontiguousarray(np.asarray(upright)[:, :, ::-1])


def _too_many_pixels() -> Unreadable:
    return Unreadable("too large", "The picture is too large", "It has too many pixels.")
