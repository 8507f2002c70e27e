"""Draws the formulas of a document's chapter, within limits. Worker threads.

A document may hold thousands of formulas, or one that takes long. What is beyond the limits, wrong
or unknown stays text.
"""

import time
from collections.abc import Mapping

from desktop_rag.core.markup.formulas import formulas
from desktop_rag.ui.markdown.formula_drawing import Drawing, draw
from desktop_rag.ui.markdown.formula_object import formula_name
from desktop_rag.ui.viewers.document_span import Span

_MOST = 400
# Of the processor, so that a busy computer draws as many; the first formula loads the library.
_MOST_S = 4.0


class FormulaPen:
    """Draws for one chapter; call it for the drawing of a formula, None for none."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._begun = time.thread_time()
        self._drawn: dict[tuple[str, bool], Drawing | None] = {}

    def __call__(self, latex: str, is_display: bool) -> Drawing | None:
        """The drawing; `is_display` for a formula on lines of its own."""
        key = latex, is_display
        if key not in self._drawn:
            is_beyond = len(self._drawn) >= self._most
            if is_beyond or time.thread_time() - self._begun > _MOST_S:
                return None
            self._drawn[key] = draw(latex, is_display)
        return self._drawn[key]

    def pictures_in(self, source: str) -> tuple[Span, ...]:
        """Where the formulas that were drawn stand in a source text, in order."""
        found = formulas(source)
        return tuple((f.start, f.end) for f in found if self._drawn.get((f.latex, f.is_display)))

    @property
    def drawings(self) -> Mapping[str, Drawing]:
        """All drawings by the names of their images."""
        return {formula_name(*key): drawn for key, drawn in self._drawn.items() if drawn}
