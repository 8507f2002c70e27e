"""Reads text in pictures, in reading order, by the optional extra `ocr` on this machine.

Runs in the parser process.
"""

import logging
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from desktop_rag.core.log import disable_telemetry
from desktop_rag.core.pictures import TO_HAVE_THEM_READ, PictureText, is_ocr_installed

log = logging.getLogger(__name__)

# A gutter between columns is wider than this part of a line's height …
_GUTTER = 0.8
# … and columns of prose have lines at least so long; narrower ones are columns of a table.
_PROSE_CHARS = 20
_MIN_PROSE_LINES = 3
# Headlines and footers run across a gutter; more than this part of the lines is no gutter.
_MAX_ACROSS = 0.3
_MAX_GUTTERS = 20
_MAX_COLUMNS = 8
# Lines are in one row when they share this part of the lower one's height.
_SAME_ROW = 0.5
# Between blocks is more than this part of a line's height.
_BLOCK_GAP = 1.0
_CELL_BORDER = "  "


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, or a piece of one, and its box from the top left."""

    left: float
    top: float
    right: float
    bottom: float
    text: str

    @property
    def height(self) -> float:
        """The height of the box."""
        return self.bottom - self.top


def in_reading_order(lines: Sequence[Line]) -> str:
    """The text as a person reads it: column by column, a table's rows as lines, blocks apart."""
    blocks = _columns(list(lines), depth=0)
    return "\n\n".join(text for block in blocks for text in _paragraphs(block))


def _columns(lines: list[Line], depth: int) -> list[list[Line]]:
    """Blocks of one column each. A line across a gutter separates the columns above and below."""
    gutter = _gutter(lines) if depth < _MAX_COLUMNS else None
    if gutter is None:
        return [lines] if lines else []
    blocks: list[list[Line]] = []
    for runs_across, group in groupby(
        sorted(lines, key=_middle), key=lambda line: line.left < gutter < line.right
    ):
        block = list(group)
        if runs_across:
            blocks.append(block)
            continue
        blocks += _columns([line for line in block if line.right <= gutter], depth + 1)
        blocks += _columns([line for line in block if line.left >= gutter], depth + 1)
    return blocks


def _gutter(lines: list[Line]) -> float | None:
    """The position (from the left) with prose on both sides and few lines across."""
    if len(lines) < 2 * _MIN_PROSE_LINES:
        return None
    gap = _GUTTER * median(line.height for line in lines)
    lefts = sorted(line.left for line in lines)
    rights = sorted(line.right for line in lines)
    crossing = {
        left: len(lines)
        - bisect_right(rights, left - gap)
        - (len(lines) - bisect_left(lefts, left))
        for left in lefts
    }
    for left in sorted(crossing, key=lambda left: crossing[left])[:_MAX_GUTTERS]:
        middle = left - gap / 2
        sides = (
            [line for line in lines if line.right <= middle],
            [line for line in lines if line.left >= middle],
        )
        if crossing[left] <= _MAX_ACROSS * len(lines) and all(map(_is_prose, sides)):
            return middle
    return None


def _middle(line: Line) -> float:
    return line.top + line.bottom


def _is_prose(lines: list[Line]) -> bool:
    if len(lines) < _MIN_PROSE_LINES:
        return False
    return median(len(line.text) for line in lines) >= _PROSE_CHARS


def _paragraphs(block: list[Line]) -> list[str]:
    """The rows from top to bottom; wide gaps between them separate paragraphs."""
    rows = _rows(block)
    gap = _BLOCK_GAP * median(line.height for line in block)
    paragraphs: list[list[str]] = [[_joined(rows[0])]]
    for before, row in pairwise(rows):
        if _edge(row, min, "top") - _edge(before, max, "bottom") > gap:
            paragraphs.append([])
        paragraphs[-1].append(_joined(row))
    return ["\n".join(paragraph) for paragraph in paragraphs]


def _rows(block: list[Line]) -> list[list[Line]]:
    rows: list[list[Line]] = []
    for line in sorted(block, key=_middle):
        if rows and _share(rows[-1][-1], line) > _SAME_ROW:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _share(first: Line, second: Line) -> float:
    common = min(first.bottom, second.bottom) - max(first.top, second.top)
    return common / max(1.0, min(first.height, second.height))


def _joined(row: list[Line]) -> str:
    return _CELL_BORDER.join(line.text for line in sorted(row, key=lambda line: line.left))


def _edge(row: list[Line], choose: Callable[..., float], side: str) -> float:
    return choose(getattr(line, side) for line in row)


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # Returns boxes, texts and scores, each None where nothing was found.
    Engine = Callable[[NDArray[np.uint8]], Any]


READ_FROM_PICTURES = "Text was read from pictures; there may be mistakes in it."
_MISSING_HINT = f"{TO_HAVE_THEM_READ}install the extra “ocr”: Settings › Documents says how."
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
    return _OFF_HINT if is_ocr_installed() else _MISSING_HINT


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
