"""Detects texts in different languages, whose words cannot be compared. Pure.

By function words and script; an unclear case counts as the same language.
"""

from dataclasses import dataclass

import regex

from desktop_rag.answer.checking.claims.words import is_frequent
from desktop_rag.core.language.function_words import english_share, language_of
from desktop_rag.core.text import words

# The beginning of a text that decides its language.
_CHARACTERS = 4000
_LETTER = regex.compile(r"\p{L}")
_LATIN = regex.compile(r"\p{Latin}")
_MOSTLY = 0.8
# English sentences have at least this share of function words, and lists of so many words at least
# this share of words in the frequency list.
_LEAST_ENGLISH = 0.1
_LEAST_WORDS, _LEAST_FREQUENT = 3, 0.4


@dataclass(frozen=True, slots=True)
class Writing:
    """The code of the language, "" when unclear, and the share of Latin letters, 0 to 1."""

    language: str
    latin: float

    def differs_from(self, other: "Writing") -> bool:
        """True when the other is clearly in another language."""
        if self.language and other.language:
            return self.language != other.language
        shares = sorted((self.latin, other.latin))
        return shares[0] <= 1 - _MOSTLY and shares[1] >= _MOSTLY


def writing_of(text: str) -> Writing:
    """The language of a text, by its beginning."""
    text = text[:_CHARACTERS]
    letters = len(_LETTER.findall(text))
    latin = len(_LATIN.findall(text))
    return Writing(language_of(words(text)), latin / letters if letters else 0.5)


def is_english(text: str) -> bool:
    """True unless a text is clearly in another language than English."""
    writing = writing_of(text)
    if writing.language:
        return writing.language == "en"
    found = words(text[:_CHARACTERS])
    if writing.latin < _MOSTLY:
        return False
    if english_share(found) >= _LEAST_ENGLISH:
        return True
    # Sentences in a language without a list of function words have hardly any English ones. A list
    # or a table has none in English either, but its words are.
    plain = [word.casefold() for word in found if word.isalpha()]
    if len(plain) < _LEAST_WORDS:
        return True
    return sum(map(is_frequent, plain)) >= _LEAST_FREQUENT * len(plain)
