"""Which source certainly backs a sentence: one that says it word for word. Pure, any thread.

Anything less is not certain without understanding: what stands around may deny it ("it is a myth
that"), and a single other word may be what matters. White space, case, marks of Markdown, and kinds
of quotes and dashes change nothing.
"""

import re
import unicodedata
from collections.abc import Sequence

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.text import sentences

# What is shorter says too little to be told from a heading or a phrase.
_LEAST_LETTERS = 12
_MARKS = re.compile(r"[*_`~\\]|^\s*(?:>\s*)*[-+•]?\s+")
_QUOTES = str.maketrans(
    "\u2018\u2019\u201a\u201c\u201d\u201e«»\u2013\u2014\u2212", 3 * "'" + 5 * '"' + 3 * "-"
)
_AROUND = " \t\n.!?…。！？,;:\"'()"


class Support:
    """The sources of one answer, taken apart once for all of its sentences."""

    def __init__(self, sources: Sequence[SourceRef]) -> None:
        self._backing: dict[str, int] = {}
        for source in sources:
            for start, end in sentences(source.text):
                self._backing.setdefault(_plain(source.text[start:end]), source.n)

    def certain(self, sentence: str) -> int:
        """The number of the first source that certainly backs a sentence; 0 when none does."""
        plain = _plain(sentence)
        return self._backing.get(plain, 0) if len(plain) >= _LEAST_LETTERS else 0


def _plain(sentence: str) -> str:
    plain = _MARKS.sub("", f" {unicodedata.normalize('NFKC', sentence)}").translate(_QUOTES)
    return " ".join(plain.casefold().split()).strip(_AROUND)
