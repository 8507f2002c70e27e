"""Tells the language of a text from a piece of its middle.

Loads its model at the first text. Runs in the parser process.
"""

import logging
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

log = logging.getLogger(__name__)

_SAMPLE_CHARS = 1500
# More is taken, since much of it may be no prose.
_RAW_CHARS = 6000
_MIN_LETTERS = 40
_MIN_PROBABILITY = 0.7
# Not a word of a language: with signs or digits in it, or dots between its letters.
_NOISE = re.compile(r"[\d_@/\\{}=<>|#$*+()\[\]]|\w[.:]\w")
_MAX_WORD_CHARS = 40
# Scripts that write a word in a sign or two, as do those from here on, say more per letter.
_FIRST_DENSE = "\u2e80"
_DENSE_WEIGHT = 3
_CODE_CHARS = 2
# Languages without a code of two letters that are written as one that has it.
_WRITTEN_AS = {
    "wuu": "zh", "yue": "zh", "ary": "ar", "arz": "ar", "grc": "el", "hbo": "he", "sdh": "ku",
    "uzs": "uz", "gug": "gn", "fuv": "ff", "kik": "ki",
}  # fmt: skip


def language_of(text: str) -> str:
    """The two-letter code of a text's main language, "" where it can't be told."""
    sample = _sample(text)
    letters = sum(_DENSE_WEIGHT if c >= _FIRST_DENSE else 1 for c in sample if c.isalpha())
    if letters < _MIN_LETTERS:
        return ""
    try:
        ranked = _identifier().rank(sample)
    except OSError:
        # The model is unpacked into a temporary file, for which the disk may have no room.
        log.info("the language model can't be loaded", exc_info=True)
        return ""
    shares: dict[str, float] = {}
    for code, probability in ranked:
        written = _WRITTEN_AS.get(str(code), str(code))
        shares[written] = shares.get(written, 0.0) + probability
    best = max(shares, key=shares.__getitem__)
    return best if len(best) == _CODE_CHARS and shares[best] >= _MIN_PROBABILITY else ""


def _sample(text: str) -> str:
    start = max((len(text) - _RAW_CHARS) // 2, 0)
    raw = text[start : start + _RAW_CHARS]
    return " ".join(word for word in raw.split() if _is_word(word))[:_SAMPLE_CHARS]


def _is_word(text: str) -> bool:
    if not text.isascii():
        return True  # Some scripts have no spaces, so this may be a whole paragraph.
    return len(text) <= _MAX_WORD_CHARS and not _NOISE.search(text)


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import LanguageIdentifier

    return LanguageIdentifier.from_model_file("data/model.npz.xz", norm_probs=True)
