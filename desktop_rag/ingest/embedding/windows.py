"""Cuts passages into windows, a few sentences each, that are compared with questions one by one.

A passage of many sentences is about all of them a little; a question is often about one. Pure.
"""

import re

from desktop_rag.core.text import sentences

_WORDS = 60
# Scripts without spaces: about two signs make a word.
_SIGN = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_SIGNS_A_WORD = 2
# A table row or a formula has few spaces and is long all the same.
_CHARS_A_WORD = 8


def windows(text: str) -> list[tuple[int, int]]:
    """Spans [start, end) of whole sentences, up to about 60 words each; none for a text of one."""
    spans: list[tuple[int, int]] = []
    used = 0
    for start, end in sentences(text):
        words = _words(text[start:end])
        if spans and used + words <= _WORDS:
            spans[-1] = (spans[-1][0], end)
            used += words
        else:
            spans.append((start, end))
            used = words
    return spans if len(spans) > 1 else []


def _words(sentence: str) -> int:
    signs = len(_SIGN.findall(sentence)) // _SIGNS_A_WORD
    return max(1, len(sentence.split()), signs, len(sentence) // _CHARS_A_WORD)
