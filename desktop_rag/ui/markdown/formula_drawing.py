"""Draws LaTeX formulas as outlines with ziamath. Any thread, one formula at a time.

The library is imported with the first formula. A model's LaTeX is untrusted: macro definitions are
refused, and so is what would take long or be drawn incorrectly.
"""

import math
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from xml.etree import ElementTree as ET

from PySide6.QtCore import QObject, Signal

from desktop_rag.ui.foundation.bridge import Bridge

# The SVG's placeholder for a colour.
COLOUR = "currentColor"
_UNITS = 100
_MARGIN = 1.0
# Around the measured size, for scripts that exceed it.
PADDING_EM = 0.3
_KEPT = 1_000
_WIDEST_EM, _HIGHEST_EM = 200.0, 80.0
_DEFINITION = re.compile(
    r"\\(?:[gex]?def|let|(?:re)?newcommand|providecommand|DeclareMathOperator|newenvironment)\b"
)
# They number or name a formula; formulas have no numbers here.
_UNNUMBERED = re.compile(r"\\(?:nonumber|notag)\b|\\label\s*\{[^{}]*\}")
_TAG = re.compile(r"\\tag\*?\s*\{([^{}]*)\}")
# The library lays a part out again for each level around it: the time grows by this factor a level.
_LEVEL_FACTOR, _FENCE_FACTOR = 1.45, 2.3
# About a quarter of a second each.
_MOST_WORK = 3_000.0
_DEEPEST_BRACES = 8
_SHAPES = frozenset({"svg", "g", "path", "rect"})
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Drawing:
    """A formula in an SVG without colours; measures are in em, from the base line.

    The SVG is `PADDING_EM` larger on each side.
    """

    svg: str
    width: float
    ascent: float
    descent: float


class _UndrawableError(Exception):
    """The formula stays source."""


@lru_cache(_KEPT)
def draw(latex: str, is_display: bool) -> Drawing | None:
    """The drawing; None for LaTeX that is wrong, unknown or too complex."""
    with _lock:
        try:
            return _drawn(latex, is_display)
        except _UndrawableError:
            return None


def _drawn(latex: str, is_display: bool) -> Drawing:
    from ziamath.config import config
    from ziamath.tex import tex2mml
    from ziamath.zmath import Math

    if _DEFINITION.search(latex) or _depth(latex) > _DEEPEST_BRACES:
        raise _UndrawableError
    latex = _TAG.sub(r"\\qquad (\\text{\1})", _UNNUMBERED.sub("", latex))
    config.svg2 = False
    try:
        mathml = ET.fromstring(tex2mml(latex, inline=not is_display))
        _check(mathml)
        formula = Math(mathml, size=_UNITS, margin=_MARGIN)
        _check_letters(mathml, formula)
        shapes = formula.svgxml()
        (width, height), offset = formula.getsize(), formula.getyofst()
    except _UndrawableError:
        raise
    except Exception as error:
        # Wrong LaTeX has no error of its own in these libraries, and much of it fails an assertion.
        raise _UndrawableError from error
    return _measured(shapes, width, height, offset)


def _measured(shapes: ET.Element, width: float, height: float, offset: float) -> Drawing:
    em = tuple(value / _UNITS for value in (width, height + offset, -offset))
    if not (0 < em[0] <= _WIDEST_EM and 0 < height / _UNITS <= _HIGHEST_EM):
        raise _UndrawableError
    if not all(map(math.isfinite, em)):
        raise _UndrawableError
    for element in shapes.iter():
        if element.tag.rpartition("}")[2] not in _SHAPES:
            raise _UndrawableError
        for name in ("fill", "stroke"):
            if element.get(name, "none") != "none":
                element.set(name, COLOUR)
        if element.tag.endswith("path") and element.get("fill") is None:
            element.set("fill", COLOUR)
    left, top, *_ = map(float, shapes.get("viewBox", "").split())
    padding = PADDING_EM * _UNITS
    box = (left - padding, top - padding, width + 2 * padding, height + 2 * padding)
    shapes.set("viewBox", " ".join(map(str, box)))
    shapes.set("width", str(box[2]))
    shapes.set("height", str(box[3]))
    return Drawing(ET.tostring(shapes, encoding="unicode"), *em)


def _check(mathml: ET.Element) -> None:
    """Refuse unknown commands, which the library would print, and what takes long."""
    if any("\\" in (element.text or "") for element in mathml.iter()):
        raise _UndrawableError
    if _work(mathml) > _MOST_WORK:
        raise _UndrawableError


def _work(element: ET.Element) -> float:
    parts = list(element)
    if not parts:
        return 1.0 + len(element.text or "") / 2
    has_fence = any(part.get("stretchy") == "true" for part in parts)
    factor = _FENCE_FACTOR if has_fence else _LEVEL_FACTOR
    return 1.0 + factor * sum(map(_work, parts))


def _depth(latex: str) -> int:
    steps = accumulate({"{": 1, "}": -1}.get(character, 0) for character in latex)
    return max(steps, default=0)


def _check_letters(mathml: ET.Element, formula: object) -> None:
    font = formula.font  # type: ignore[attr-defined]
    for character in {letter for element in mathml.iter() for letter in element.text or ""}:
        if not character.isspace() and font.glyphindex(character) == 0:
            raise _UndrawableError


# The LaTeX, and True for a formula on lines of its own.
Key = tuple[str, bool]
_KEPT_DRAWINGS = 2_000


class FormulaDrawer(QObject):
    """Draws formulas on worker threads and keeps the drawings. Qt thread.

    `drawn` says that formulas requested by `has_all` are drawn, or known to be undrawable.
    """

    drawn = Signal()

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._drawings: dict[Key, Drawing | None] = {}
        self._asked: set[Key] = set()

    def drawing(self, latex: str, is_display: bool) -> Drawing | None:
        """The drawing; None while it is not drawn, and for what can't be drawn."""
        return self._drawings.get((latex, is_display))

    def has_all(self, keys: Iterable[Key]) -> bool:
        """True when all of them are drawn; the others will be, in the background."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._drawings]
        if wanted := [key for key in missing if key not in self._asked]:
            self._asked.update(wanted)
            self._bridge.run(self, lambda: {key: draw(*key) for key in wanted}, self._on_drawn)
        return not missing

    def _on_drawn(self, drawings: dict[Key, Drawing | None]) -> None:
        self._asked.difference_update(drawings)
        self._drawings |= drawings
        # What is on the screen has its drawings itself.
        for key in list(self._drawings)[: max(0, len(self._drawings) - _KEPT_DRAWINGS)]:
            del self._drawings[key]
        self.drawn.emit()
