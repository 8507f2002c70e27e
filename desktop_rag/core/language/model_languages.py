"""The languages that each bundled embedding model reads, and the language of a question. Pure."""

import re

from desktop_rag.core.language.function_words import (
    is_hardly_english,
    is_likely_english,
    language_of,
    most_likely,
)
from desktop_rag.core.text import words

UNKNOWN = ""
_ENGLISH = "en"
# Documents whose language is unknown are short, mostly file names and numbers.
ENGLISH_MODEL = frozenset({_ENGLISH, UNKNOWN})
# The languages of the Universal Sentence Encoder Multilingual 3 (Yang et al. 2019).
MULTILINGUAL_MODEL = frozenset(
    {"ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"}
) | {UNKNOWN}
# What a question in a script or language gets that is recognised, but not which one it is.
OTHER_LATIN = "latin"
_UNREAD = "unread"
QUESTIONS_OF_ENGLISH_MODEL = ENGLISH_MODEL
QUESTIONS_OF_MULTILINGUAL_MODEL = MULTILINGUAL_MODEL | {OTHER_LATIN}

_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\u1100-\u11ff\uac00-\ud7af]"),
    "zh": re.compile("[\u3400-\u9fff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
}
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_PLAIN = re.compile("[A-Za-z]+")
# Names with an accent occur in English questions too.
_ACCENTED_SHARE = 0.4


def question_language(text: str) -> str:
    """The code of the language of a question; "" when it may be English.

    By its script, else by its function words, else by letters that English lacks. A script that no
    model reads gives a code that none has.
    """
    for code, script in _SCRIPTS.items():
        if script.search(text):
            return code
    letters = [letter for letter in text if letter.isalpha()]
    if letters and not any(_LATIN.match(letter) for letter in letters):
        return _UNREAD
    found = words(text)
    if known := language_of(found):
        return known
    if is_likely_english(found):
        return _ENGLISH
    if is_hardly_english(found):
        return OTHER_LATIN
    accented = sum(not _PLAIN.fullmatch(word) for word in found if word.isalpha())
    return OTHER_LATIN if accented > _ACCENTED_SHARE * max(len(found), 1) else UNKNOWN


def likely_language(text: str) -> str:
    """The code of the language that a text is most likely written in; "" when nothing tells."""
    known = question_language(text)
    return most_likely(words(text)) if known in {OTHER_LATIN, UNKNOWN} else known
