"""The share of a reference text found in another: the measure of `files.py`."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+")
_MARKUP = re.compile(r"<!--.*?-->|</?[a-z][^<>]*>|(?<=\])\([^()\s]*\)", re.DOTALL | re.IGNORECASE)
_FORMULA = re.compile(r"\$[^$\n]*\$")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00:00\b")
# Words joined by mistake in the reference, such as `netoftaxexpenseof`.
_MIN_JOINED_CHARS = 6
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!|~>-])")


def words(text: str) -> Counter[str]:
    """The frequency of each word."""
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
    text = _MIDNIGHT.sub(r"\1", "\n".join(without_copies(text.split("\n"))))
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
        above = cells
