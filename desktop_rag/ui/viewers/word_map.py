"""Where the words of a source text stand once it is rendered. Pure; any thread.

Rendering removes signs of Markdown and changes white space, but keeps the words in their order, so
both texts are aligned by their words. A formula that is drawn is a word: one sign in the rendered
text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from desktop_rag.ui.markdown.formula_object import OBJECT
from desktop_rag.ui.viewers.document_span import Span

# In scripts without spaces each character counts as a word.
_WORD = re.compile(rf"{OBJECT}|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f]|[^\W_]+")
# Alignment takes the square of this many words.
_MAX_WORDS = 4_000


class WordMap:
    """Maps spans of `source` to spans of `rendered`."""

    def __init__(self, source: str, rendered: str, pictures: Sequence[Span] = ()) -> None:
        """`pictures` are the spans of formulas that are drawn."""
        self._source = source
        self._rendered = rendered
        self._pictures = frozenset(pictures)
        words = list(_words(source, pictures))[:_MAX_WORDS]
        shown = [m.span() for m in _WORD.finditer(rendered)][:_MAX_WORDS]
        matcher = SequenceMatcher(
            None,
            [OBJECT if word in self._pictures else source[slice(*word)] for word in words],
            [rendered[slice(*word)] for word in shown],
            autojunk=False,
        )
        pairs = [
            (words[block.a + n], shown[block.b + n])
            for block in matcher.get_matching_blocks()
            for n in range(block.size)
        ]
        self._from = [word for word, _ in pairs]
        self._to = [word for _, word in pairs]
        self._starts = [start for start, _ in self._from]
        self._ends = [end for _, end in self._from]

    def rendered(self, start: int, end: int) -> Span | None:
        """Where the words of [start, end) stand; None if none of them is shown."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end) - 1
        if first > last:
            return None
        # Within a word, as many letters as in the source: only whole words were aligned. A formula
        # is marked whole.
        is_cut = self._from[first] not in self._pictures
        before = max(0, start - self._from[first][0]) if is_cut else 0
        is_cut = self._from[last] not in self._pictures
        after = max(0, self._from[last][1] - end) if is_cut else 0
        begin, stop = self._to[first][0] + before, self._to[last][1] - after
        return begin, stop + self._signs_behind(self._from[last][1], end, stop)

    def _signs_behind(self, at: int, end: int, shown_at: int) -> int:
        """How many signs behind the last word are the same in both texts, such as a full stop."""
        count = 0
        signs = self._source[at:end]
        for sign, shown in zip(
            signs, self._rendered[shown_at : shown_at + len(signs)], strict=False
        ):
            if sign != shown or sign.isspace():
                break
            count += 1
        return count


def _words(source: str, pictures: Sequence[Span]) -> Iterator[Span]:
    """The words of the source in order, each formula as one."""
    done = 0
    for start, end in pictures:
        yield from (m.span() for m in _WORD.finditer(source, done, start))
        yield start, end
        done = end
    yield from (m.span() for m in _WORD.finditer(source, done))
