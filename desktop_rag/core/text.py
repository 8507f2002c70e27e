"""Words, stems and sentences: the one tokenizer for indexing, search and excerpts. Pure."""

import re
import threading
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import snowballstemmer

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LONGEST_TERM = 64
_CHARACTERS_A_TOKEN = 3
# A sentence ends at . ! ? or … with its closing quotes or brackets, before a space and something
# that can start a sentence; also at a blank line, and before a list item or a table row.
_SENTENCE_END = re.compile(
    r"(?:[.!?…]['\"”’)\]]*(?=\s+[\"“‘'(\[]?[^\Wa-z_])|[。！？]|\n\s*\n"
    r"|\n(?=\s*(?:[-*•|#]|\d+[.)])\s|[^\n]* \| ))"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|Nos|Fig|vs|etc|e\.g|i\.e|cf|approx|Inc|Ltd|Co|Corp|Jr|Sr"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec))\.$"
)
_local = threading.local()


def terms(text: str) -> list[str]:
    """The search terms of a text in order: words, case-folded and stemmed."""
    return [_stem(word) for word in _WORD.findall(text)]


def term_counts(text: str) -> Counter[str]:
    """How often each search term stands in the text."""
    return Counter(terms(text))


def words(text: str) -> list[str]:
    """The words as written, without punctuation."""
    return _WORD.findall(text)


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    folded = word.casefold().replace("’", "'").removesuffix("'s")
    if len(folded) > _LONGEST_TERM:
        return folded[:_LONGEST_TERM]
    # A stemmer keeps the word it works on inside itself, so each thread has its own.
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = snowballstemmer.stemmer("english")
    return stemmer.stemWord(folded)


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans [start, end) of the sentences, without the white space around them."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if _ABBREVIATION.search(text, max(start, match.start() - 8), match.end()):
            continue
        _append_stripped(spans, text, start, match.end())
        start = match.end()
    _append_stripped(spans, text, start, len(text))
    return spans


def _append_stripped(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        spans.append((start, end))


def rough_token_counts(texts: Sequence[str]) -> list[int]:
    """For when there is no embedder to ask: about one token for every three characters."""
    return [-(-len(text) // _CHARACTERS_A_TOKEN) for text in texts]
