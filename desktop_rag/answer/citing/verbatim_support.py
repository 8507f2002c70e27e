"""Finds the source that says a sentence word for word, and so certainly supports it.

Pure, any thread. Anything less is uncertain: the context may deny it ("it is a myth that"), and a
single word may matter. White space, case, Markdown, and the kinds of quotes and dashes are ignored.
"""

import re
import unicodedata
from collections.abc import Sequence

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.text import sentences

# A shorter sentence may be a heading or a phrase.
_LEAST_LETTERS = 12
_MARKS = re.compile(r"[*_`~\\]|^\s*(?:>\s*)*[-+•]?\s+")
_QUOTES = str.maketrans(
    "\u2018\u2019\u201a\u201c\u201d\u201e«»\u2013\u2014\u2212", 3 * "'" + 5 * '"' + 3 * "-"
)
_AROUND = " \t\n.!?…。！？,;:\"'()"


class VerbatimSupport:
    """The sentences of the sources of one answer, indexed once."""

    def __init__(self, sources: Sequence[SourceRef]) -> None:
        self._source_of: dict[str, int] = {}
        for source in sources:
            for start, end in sentences(source.text):
                self._source_of.setdefault(_plain(source.text[start:end]), source.n)

    def source_of(self, sentence: str) -> int:
        """The number of the first source that has the sentence word for word; 0 for none."""
        plain = _plain(sentence)
        return self._source_of.get(plain, 0) if len(plain) >= _LEAST_LETTERS else 0


def _plain(sentence: str) -> str:
    plain = _MARKS.sub("", f" {unicodedata.normalize('NFKC', sentence)}").translate(_QUOTES)
    return " ".join(plain.casefold().split()).strip(_AROUND)
