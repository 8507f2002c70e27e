"""The share of a reference text found in another: the measure of `files.py`."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+")
# An address behind a link may hold brackets in pairs.
_MARKUP = re.compile(
    r"<!--.*?-->|</?[a-z][^<>]*>|(?<=\])\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)",
    re.DOTALL | re.IGNORECASE,
)
_FORMULA = re.compile(r"\$[^$\n]*\$")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00:00\b(?:\.\d+)?")
# A moment to a fraction of a second, as computers write it: pages show the minute.
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?")
# Raised and lowered signs, which normalising would join to the word before: 10⁶, H₂O.
_SHIFTED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹ⁿⁱ]+|[₀-₉]+")
# The values of a chart, said below the cells that they are drawn from.
_CHART = re.compile(r"^(?:Bar|Column|Line|Pie|Scatter|Area) chart\n\n(?:\|.*\n?)+", re.MULTILINE)
# Words joined by mistake in the reference, such as `netoftaxexpenseof`.
_MIN_JOINED_CHARS = 6
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!|~>-])")


def words(text: str) -> Counter[str]:
    """The frequency of each word; raised and lowered signs are words of their own."""
    text = _SHIFTED.sub(r" \g<0> ", text)
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def share_found(wanted: Counter[str], found: Counter[str]) -> float:
    """The share of the occurrences in `wanted` that are also in `found`."""
    return (wanted & found).total() / wanted.total()


@dataclass(frozen=True)
class Page:
    """A page as its words, and as one run of letters and digits."""

    words: Counter[str]
    letters: str

    @classmethod
    def of(cls, text: str) -> "Page":
        """The page with this text."""
        folded = unicodedata.normalize("NFKC", text).casefold()
        return cls(words(text), "".join(_WORD.findall(folded)))

    def share_of(self, wanted: Counter[str]) -> float:
        """As `share_found`, but a long word also counts if only its spaces are missing."""
        missing = wanted - self.words
        joined = sum(n for word, n in missing.items() if self._holds_joined(word))
        return 1 - (missing.total() - joined) / wanted.total()

    def _holds_joined(self, word: str) -> bool:
        return len(word) >= _MIN_JOINED_CHARS and word in self.letters


def without_markup(markdown: str) -> str:
    """The words of a Markdown text as a reader sees them."""
    text = _FORMULA.sub(lambda formula: _COMMAND.sub(" ", formula[0]), markdown)
    text = "\n".join(without_copies(_CHART.sub("", text).split("\n")))
    text = _MOMENT.sub(r"\1 \2", _MIDNIGHT.sub(r"\1", text))
    return html.unescape(_ESCAPED.sub(r"\1", _MARKUP.sub(" ", text)))


def without_copies(lines: Iterable[str]) -> Iterator[str]:
    """The lines, without table cells that repeat the one before or above."""
    above: list[str] = []
    for line in lines:
        cells = [cell.strip() for cell in line.split("|")] if line.startswith("|") else []
        before = ["", *cells]
        kept = (
            cell
            for column, cell in enumerate(cells)
            if cell != before[column] and cell not in above[column : column + 1]
        )
        yield " | ".join(kept) if cells else line
        # The line between the heads of a table and its rows says nothing.
        above = above if cells and not line.strip("|-: ") else cells
