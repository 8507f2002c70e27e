"""Splits passages into windows of a few sentences, which are compared with questions one by one.

The vector of a long passage blurs its sentences; a question is often about one of them. Pure.
"""

import re

from desktop_rag.core.text import sentences

# The size of a window. The multilingual model is at its best with single sentences: for Chinese
# questions about the English paragraphs of xquad, nDCG@10 by meaning is .862 with 30, .837 with 60.
WORDS = 60
MULTILINGUAL_WORDS = 30
# Scripts without spaces: about two characters make a word.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_CHARACTERS_PER_WORD = 2
# A table row or a formula is long with few spaces.
_CHARS_PER_WORD = 8


def windows(text: str, most_words: int = WORDS) -> list[tuple[int, int]]:
    """Spans [start, end) of whole sentences, up to about so many words each; none for a text of
    one.
    """
    spans: list[tuple[int, int]] = []
    used = 0
    for start, end in sentences(text):
        words = _words(text[start:end])
        if spans and used + words <= most_words:
            spans[-1] = (spans[-1][0], end)
            used += words
        else:
            spans.append((start, end))
            used = words
    return spans if len(spans) > 1 else []


def _words(sentence: str) -> int:
    unspaced = len(_UNSPACED.findall(sentence)) // _CHARACTERS_PER_WORD
    return max(1, len(sentence.split()), unspaced, len(sentence) // _CHARS_PER_WORD)
