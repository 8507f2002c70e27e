"""What was opened in a reading pane, to go back and forward through. Pure."""

from desktop_rag.ui.viewers.document_span import DocumentSpan

_MAX_PLACES = 200


class ReadingHistory:
    """A list of places with a current one, as a browser has it."""

    def __init__(self) -> None:
        self._places: list[DocumentSpan] = []
        self._at = -1

    @property
    def current(self) -> DocumentSpan | None:
        """The place that is open."""
        return self._places[self._at] if self._at >= 0 else None

    @property
    def can_go_back(self) -> bool:
        """True if there is an earlier place."""
        return self._at > 0

    @property
    def can_go_forward(self) -> bool:
        """True if the person went back."""
        return self._at + 1 < len(self._places)

    def visit(self, place: DocumentSpan) -> None:
        """Open a place; what was ahead is forgotten."""
        if place == self.current:
            return
        self._places[self._at + 1 :] = [place]
        del self._places[:-_MAX_PLACES]
        self._at = len(self._places) - 1

    def replace(self, place: DocumentSpan) -> None:
        """Open a place instead of the current one, as when several are only glanced at."""
        del self._places[max(0, self._at) :]
        self._at = len(self._places) - 1
        self.visit(place)

    def go(self, by: int) -> DocumentSpan | None:
        """Go back (-1) or forward (1); None at the end."""
        if not 0 <= self._at + by < len(self._places):
            return None
        self._at += by
        return self._places[self._at]
