"""Where the pages of a document lie, one below the other. Pure; lengths in pixels."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

GAP_PX = 12


class PageLayout:
    """Pages centred in a column. At zoom 1 the widest page fills the width."""

    def __init__(self, sizes: Sequence[tuple[float, float]], width_px: int, zoom: float) -> None:
        """`sizes` are the widths and heights of the pages in any unit."""
        room_px = max(1, width_px - 2 * GAP_PX)
        scale = zoom * room_px / max(width for width, _ in sizes)
        self._sizes = [
            (max(1, round(width * scale)), max(1, round(height * scale))) for width, height in sizes
        ]
        heights = (height + GAP_PX for _, height in self._sizes)
        self._tops = list(accumulate(heights, initial=GAP_PX))
        self.width_px = max(width_px, 2 * GAP_PX + max(width for width, _ in self._sizes))

    @property
    def height_px(self) -> int:
        """The height of the whole column."""
        return self._tops[-1]

    def rect(self, page: int) -> tuple[int, int, int, int]:
        """Left, top, width and height of a page (from 1)."""
        width, height = self._sizes[page - 1]
        return (self.width_px - width) // 2, self._tops[page - 1], width, height

    def page_at(self, y: float) -> int:
        """The page at a height, or the nearest one."""
        return min(max(1, bisect_right(self._tops, y)), len(self._sizes))
