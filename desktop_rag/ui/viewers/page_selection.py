"""Words of printed pages that the person selects. Pure.

A place is a page (from 1) and the number of a word on it, in the order of the page's text.
"""

from collections.abc import Mapping, Sequence

from desktop_rag.core.anchors import Box, PageWord

Place = tuple[int, int]
Words = Mapping[int, Sequence[PageWord]]
# Beside a line, rather one of its words than one of a line above or below.
_LINE_WEIGHT = 4.0


def word_at(words: Sequence[PageWord], x: float, y: float) -> int | None:
    """The number of the word at these fractions of a page, or the nearest; None without words."""
    numbered = range(len(words))
    return min(numbered, key=lambda n: _distance(words[n].box, x, y), default=None)


def is_on_a_word(words: Sequence[PageWord], x: float, y: float) -> bool:
    """True when there is a word at these fractions of a page."""
    return any(_distance(word.box, x, y) == 0 for word in words)


def selected(words: Words, start: Place, end: Place) -> dict[int, range]:
    """The numbers of the selected words by page, both places included."""
    first, last = min(start, end), max(start, end)
    found: dict[int, range] = {}
    for page in range(first[0], last[0] + 1):
        begin = first[1] if page == first[0] else 0
        stop = last[1] + 1 if page == last[0] else len(words.get(page, ()))
        found[page] = range(begin, min(stop, len(words.get(page, ()))))
    return found


def text_of(words: Words, chosen: Mapping[int, range]) -> str:
    """The selected words, line by line; an empty line stands between pages."""
    pages: list[str] = []
    for page, numbers in chosen.items():
        parts = [words[page][n].text + ("\n" if words[page][n].ends_line else " ") for n in numbers]
        pages.append("".join(parts).strip())
    return "\n\n".join(filter(None, pages))


def _distance(box: Box, x: float, y: float) -> float:
    beside = max(box.left - x, 0.0, x - box.right)
    above = max(box.top - y, 0.0, y - box.bottom)
    return beside + _LINE_WEIGHT * above
