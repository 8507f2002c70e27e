"""Search terms in any language: the one tokenizer for indexing, search and excerpts. Pure.

Any thread may ask; what was found out about a word is kept for the next time it is met.
"""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain, pairwise

import regex
import snowballstemmer

# Raised when the same text gives other terms than before: documents are then cut anew, and until
# that is done what was indexed earlier is found by the words whose terms stayed the same.
TERMS_VERSION = 2

_LONGEST_TERM = 64
# What is remembered for each language, and the longest run of signs that may come again.
_MOST_WORDS = 50_000
_LONGEST_REMEMBERED_RUN = 4
_LEAST_DIGITS = 4

# --- where words begin and end -------------------------------------------------------------------

_NUMBER = r"\d++(?:[.,'’]\d++){1,8}+(?![^\W_])"
# Python's own engine is four times as fast, but ends a word at a vowel sign. It does for text in
# Latin, Greek, Cyrillic and Armenian letters with all kinds of signs.
_EASY = re.compile(
    "[\0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u058f\u1e00-\u200b\u200e-\u20cf\u2100-\u2bff"
    "\ue000-\uf8ff\ufffd\U0001f000-\U0001faff]*"
)
_EASY_TOKEN = re.compile(rf"{_NUMBER}|[^\W_]+(?:['’][^\W_]+)*")
# Scripts that put no space between words (and Korean, whose words end in many ways).
_UNSPACED = (
    r"[[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]"
    r"&&[\p{L}\p{Nl}]]"
)
_WORD = (
    rf"[[\p{{L}}\p{{N}}]--{_UNSPACED}]"
    rf"(?:[[\p{{L}}\p{{N}}\p{{M}}]--{_UNSPACED}]|[\u00ad\u200c\u200d](?=\p{{L}}))*+"
)
_TOKEN = regex.compile(
    rf"(?V1){_NUMBER}|{_UNSPACED}[{_UNSPACED}\p{{M}}]*+|{_WORD}(?:['’]{_WORD})*+"
)
_IS_UNSPACED = regex.compile(rf"(?V1){_UNSPACED}")
_GRAPHEME = regex.compile(r"\X")
_LONG_NUMBER = re.compile(rf"\d{{{_LEAST_DIGITS},}}")
_IS_NUMBER = re.compile(_NUMBER)
# 1,234.5 and 1'234; 1.234,5 and 1.234.567.
_THOUSANDS = re.compile(r"\d{1,3}(?:[,'’]\d{3})+(?:\.\d+)?")
_DOTTED_THOUSANDS = re.compile(r"\d{1,3}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
_NO_SEPARATORS = str.maketrans("", "", ",'’")
_DECIMAL_COMMA = str.maketrans({".": "", ",": "."})
# Soft hyphens and joiners inside words, and marks that writers may leave out: stress in Cyrillic,
# vowel points in Hebrew and Arabic.
_OPTIONAL = re.compile("[\u00ad\u200c\u200d\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]")
_DOTLESS_I = "\u0131"
# Two ways to write one thing: apostrophes, and the Cyrillic io, which most print as ie.
_ONE_OF_TWO = str.maketrans("’\u02bc\u0451", "''\u0435")
_PLAIN_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", _DOTLESS_I: "i"}
)
_CATALAN_ELISION = re.compile(r"(?:[ldmnst]|qu)'(?=.{2})")

# --- stemming ------------------------------------------------------------------------------------

_ALGORITHMS = {
    "ar": "arabic", "bs": "serbian", "ca": "catalan", "cs": "czech", "da": "danish",
    "de": "german", "el": "greek", "en": "english", "eo": "esperanto", "es": "spanish",
    "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hr": "serbian", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali",
    "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
# The scripts an algorithm knows, where that is not Latin alone.
_SCRIPTS = {
    "arabic": {"ARABIC"}, "armenian": {"ARMENIAN"}, "greek": {"GREEK"}, "hindi": {"DEVANAGARI"},
    "nepali": {"DEVANAGARI"}, "persian": {"ARABIC"}, "russian": {"CYRILLIC"},
    "serbian": {"LATIN", "CYRILLIC"}, "tamil": {"TAMIL"}, "yiddish": {"HEBREW"},
}  # fmt: skip
# For words in another script than the document's, and where its language has no algorithm.
_BY_SCRIPT = {
    "ARABIC": "arabic", "ARMENIAN": "armenian", "CYRILLIC": "russian", "DEVANAGARI": "hindi",
    "GREEK": "greek", "LATIN": "english", "TAMIL": "tamil",
}  # fmt: skip


def terms(text: str, language: str = "") -> list[str]:
    """The search terms of a text in order: folded, stemmed words, or pairs of signs.

    `language` is the two-letter code of the text's language, "" to go by the script of each word.
    Scripts without spaces give each two signs that stand together, so that any word in them is
    found. A number is one term, however its thousands are marked; those of four or more digits
    in it, as the year in a date, are terms too. No word is too common to be a term.
    """
    found = _found(language)
    return list(chain.from_iterable(map(found.__getitem__, _tokens(text))))


def term_counts(text: str, language: str = "") -> Counter[str]:
    """How often each search term stands in the text; `language` as for `terms`."""
    found = _found(language)
    return Counter(chain.from_iterable(map(found.__getitem__, _tokens(text))))


def word_groups(text: str, languages: Iterable[str]) -> list[tuple[str, ...]]:
    """For a question: each different word as its alternative terms, in the order of the words.

    A word has one term for every way in which `languages`, those of the documents, stem it. Each
    pair of signs of a script without spaces is a group, as is a long number inside a word: the
    2018 of FY2018.
    """
    ways = [*map(_found, dict.fromkeys(languages))] or [_found("")]
    groups: list[tuple[str, ...]] = []
    for token in _tokens(text):
        stemmed = [found[token] for found in ways]
        if len(stemmed[0]) == 1:
            groups.append(tuple(dict.fromkeys(term for (term,) in stemmed)))
            groups += [(number,) for number in _LONG_NUMBER.findall(_ascii_digits(token))]
        else:
            groups += [(term,) for term in stemmed[0]]
    return list(dict.fromkeys(groups))


def holds_phrase(text: str, phrase: str) -> bool:
    """Whether the words of the phrase stand in the text as they are written, one after another.

    Case, accents and what stands between the words make no difference. A phrase without a word is
    in every text.
    """
    return _spelled(phrase) in _spelled(text)


def _tokens(text: str) -> list[str]:
    if text.isascii():
        return _EASY_TOKEN.findall(text)
    text = unicodedata.normalize("NFKC", text)
    easy = _EASY.match(text)
    is_easy = easy is not None and easy.end() == len(text)
    return _EASY_TOKEN.findall(text) if is_easy else _TOKEN.findall(text)


@cache
def _for_algorithm(algorithm: str) -> "_FoundTerms":
    return _FoundTerms(algorithm)


def _found(language: str) -> "_FoundTerms":
    return _for_algorithm(_ALGORITHMS.get(language, "english"))


class _FoundTerms(dict[str, tuple[str, ...]]):
    """The terms of every token that was met in texts of a language."""

    def __init__(self, algorithm: str) -> None:
        super().__init__()
        self._algorithm = algorithm
        self._scripts = _SCRIPTS.get(algorithm, {"LATIN"})
        # A stemmer keeps the word it works on inside itself.
        self._lock = threading.Lock()
        self._stemmers: dict[str, Callable[[str], str]] = {}

    def __missing__(self, token: str) -> tuple[str, ...]:
        if _IS_UNSPACED.match(token):
            found = _pairs(token)
            longest = _LONGEST_REMEMBERED_RUN
        else:
            found = self._of_word(token)
            longest = _LONGEST_TERM
        if len(token) <= longest:
            if len(self) >= _MOST_WORDS:
                self.clear()
            self[token] = found
        return found

    def _of_word(self, token: str) -> tuple[str, ...]:
        word = _ascii_digits(token)
        if _IS_NUMBER.fullmatch(word):
            number = _plain_number(word)
            return tuple(dict.fromkeys((number, *_LONG_NUMBER.findall(number))))
        return (word[:_LONGEST_TERM] if word.isdigit() else self._stem(word),)

    def _stem(self, token: str) -> str:
        script = _script(token)
        algorithm = self._algorithm if script in self._scripts else _BY_SCRIPT.get(script, "")
        if algorithm == "turkish":
            token = token.replace("I", _DOTLESS_I)
        word = _folded(token)
        if len(word) > _LONGEST_TERM:
            return word[:_LONGEST_TERM]
        if script == "LATIN":
            word = word.removesuffix("'s")
        if algorithm == "english":
            word = _without_accents(word)
        elif algorithm == "catalan":
            word = _CATALAN_ELISION.sub("", word, count=1)
        # A stemmer may leave nothing, and a word must not be lost.
        stem = self._stemmed(algorithm, word) or word
        return _without_accents(stem) if script in {"LATIN", "GREEK"} else stem

    def _stemmed(self, algorithm: str, word: str) -> str:
        if not algorithm:
            return word
        with self._lock:
            if algorithm not in self._stemmers:
                self._stemmers[algorithm] = snowballstemmer.stemmer(algorithm).stemWord
            return self._stemmers[algorithm](word)


def _pairs(run: str) -> tuple[str, ...]:
    # Vowel signs belong to the letter before them.
    signs = list(run) if run.isalpha() else _GRAPHEME.findall(run)
    return tuple(one + other for one, other in pairwise(signs)) or (run,)


def _plain_number(number: str) -> str:
    """1,234.5 and 1.234,5 as 1234.5; 3,14 as 3.14; dates, versions and lists as they are."""
    if _THOUSANDS.fullmatch(number):
        number = number.translate(_NO_SEPARATORS)
    elif _DOTTED_THOUSANDS.fullmatch(number):
        number = number.translate(_DECIMAL_COMMA)
    elif number.count(",") == 1 and "." not in number:
        number = number.replace(",", ".")
    return number[:_LONGEST_TERM]


def _script(word: str) -> str:
    if word.isascii():
        return "LATIN"
    first = next((character for character in word if character.isalpha()), "")
    return unicodedata.name(first, "").partition(" ")[0] if first else ""


def _folded(token: str) -> str:
    word = unicodedata.normalize("NFC", _OPTIONAL.sub("", token.casefold())) or token
    return word.translate(_ONE_OF_TWO)


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word)
    return _OPTIONAL.sub("", letters).translate(_PLAIN_LETTERS)


def _ascii_digits(token: str) -> str:
    if token.isascii():
        return token
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in token)


def _spelled(text: str) -> str:
    """The words with a space around each; of a script without spaces, the signs."""
    return " ".join(["", *chain.from_iterable(map(_spelled_token, _tokens(text))), ""])


def _spelled_token(token: str) -> list[str]:
    if _IS_UNSPACED.match(token):
        return _GRAPHEME.findall(token)
    word = _ascii_digits(token)
    return [_plain_number(word) if _IS_NUMBER.fullmatch(word) else _without_accents(_folded(word))]
