"""Text in pictures, by the optional extra `ocr`, whose models run on this machine.

Runs in the parser process.
"""

import importlib.util
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from desktop_rag.core.pictures.picture_text import PictureText
from desktop_rag.core.pictures.waiting_pictures import TO_HAVE_THEM_READ
from desktop_rag.core.telemetry import disable_telemetry
from desktop_rag.ingest.read.foundation.reading_order import Line, in_reading_order

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # It gives boxes, texts and scores, each of them None where nothing was found.
    Engine = Callable[[NDArray[np.uint8]], Any]

log = logging.getLogger(__name__)

READ_FROM_PICTURES = "Text was read from pictures; there may be mistakes in it."
OCR_HINT = f"{TO_HAVE_THEM_READ}install the extra: pip install 'desktop-rag[ocr]'."
_OFF_HINT = f"{TO_HAVE_THEM_READ}switch on “Read text in scanned pages and images” in the settings."
_MIN_SIDE_PX = 16
_MIN_SCORE = 0.5
_DOUBTFUL_SCORE = 0.75
_TURNING_MARGIN = 0.1
# A larger picture is read no better.
MAX_SIDE_PX = 2400
_DETECTION_SIDE_PX = 1280


def ocr_hint() -> str:
    """What a person can do so that pictures are read, while they aren't."""
    return _OFF_HINT if is_ocr_installed() else OCR_HINT


def is_ocr_installed() -> bool:
    """True when the extra is installed, whether it is switched on or not."""
    return importlib.util.find_spec("rapidocr") is not None


class OcrFailedError(Exception):
    """The extra can't read this picture, or any; the message says why."""


class Ocr:
    """Reads pictures, for one file after another. Its models are loaded at the first picture.

    `left` counts those of the file that are to be read later.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._engine: Engine | None = None
        self._pictures_left = 0
        self._known: Mapping[str, PictureText] = {}
        self._only_known = False
        self._learned: Callable[[str, PictureText], None] = lambda _place, _text: None
        self.left = 0

    def start_file(
        self,
        max_pictures: int,
        learned: Callable[[str, PictureText], None],
        known: Mapping[str, PictureText] | None = None,
        *,
        only_known: bool = False,
    ) -> None:
        """Begin a new file, whose pictures at the `known` places were read before.

        With `only_known` others are left for later. `learned` is called after each picture read.
        """
        self._pictures_left = max_pictures
        self._learned = learned
        self._known = known or {}
        self._only_known = only_known
        self.left = 0

    @property
    def is_installed(self) -> bool:
        """True when the extra is installed."""
        return is_ocr_installed()

    @property
    def is_spent(self) -> bool:
        """True when the file has used up its pictures."""
        return self._pictures_left <= 0

    def read(self, place: str, draw: "Callable[[], NDArray[np.uint8]]") -> str | None:
        """The lines in the picture at a place of the file, in reading order; None: not now.

        `draw` gives it as (height, width, 3 of blue, green, red). A picture that lies on its side
        or on its head is turned. Raises OcrFailedError.
        """
        self._pictures_left -= 1
        found = self._known.get(place)
        if found is None and self._only_known:
            self.left += 1
            return None
        if found is None:
            found = self._read(draw())
            self._learned(place, found)
        if found.failure:
            raise OcrFailedError(found.failure)
        return found.text

    def _read(self, picture: "NDArray[np.uint8]") -> PictureText:
        if min(picture.shape[:2]) < _MIN_SIDE_PX:
            return PictureText("")
        try:
            if self._engine is None:
                self._engine = _load_engine(self._threads)
            found = _best(self._engine, picture)
        except MemoryError:
            raise
        except Exception as exc:  # of the models, of native code, of a damaged installation
            log.warning("a picture can't be read", exc_info=True)
            return PictureText("", type(exc).__name__)
        return PictureText(in_reading_order(found.lines) if found.lines else "")


@dataclass(frozen=True, slots=True)
class _OcrLines:
    """The lines that were read with some certainty, and how well all of them were (0..1)."""

    lines: list[Line]
    score: float

    @property
    def lies_on_its_side(self) -> bool:
        upright = sum(len(line.text) for line in self.lines if line.right - line.left > line.height)
        return upright * 2 < sum(len(line.text) for line in self.lines)


def _best(engine: "Engine", picture: "NDArray[np.uint8]") -> _OcrLines:
    import numpy as np

    found = _read_lines(engine, picture)
    turns: tuple[int, ...] = ()
    needed_score = found.score
    if found.lies_on_its_side:
        # Its lines may have been read well, and yet in the wrong order.
        turns, needed_score = (1, 3), found.score - _TURNING_MARGIN
    elif found.score < _DOUBTFUL_SCORE:
        turns = (2,)
    for quarters in turns:
        turned = _read_lines(engine, np.ascontiguousarray(np.rot90(picture, quarters)))
        if turned.score > needed_score and not turned.lies_on_its_side:
            found, needed_score = turned, turned.score
    return found


def _read_lines(engine: "Engine", picture: "NDArray[np.uint8]") -> _OcrLines:
    result = engine(picture)
    if result.boxes is None or result.txts is None or not result.txts:
        return _OcrLines([], 0.0)
    lines: list[Line] = []
    chars, certain = 0, 0.0
    for box, text, score in zip(result.boxes, result.txts, result.scores, strict=True):
        chars += len(text)
        certain += len(text) * score
        if score >= _MIN_SCORE:
            (left, top), (right, bottom) = box.min(axis=0), box.max(axis=0)
            lines.append(Line(float(left), float(top), float(right), float(bottom), str(text)))
    return _OcrLines(lines, certain / max(1, chars))


def _load_engine(threads: int) -> "Engine":
    disable_telemetry()
    import cv2
    from rapidocr import RapidOCR

    cv2.setNumThreads(threads)
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.max_side_len": MAX_SIDE_PX,
            # Doubtful results hint that the picture is turned, so they are sorted out here.
            "Global.text_score": 0.0,
            # Lines that stand on their head are a page that does.
            "Global.use_cls": False,
            # As given it would be as large as the picture: four times the memory, and no better.
            "Det.limit_type": "max",
            "Det.limit_side_len": _DETECTION_SIDE_PX,
            # Lines of unlike length in one batch are padded to the longest.
            "Rec.rec_batch_num": 1,
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
