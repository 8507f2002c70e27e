"""The tokenizer for indexing, search and excerpts, for any language. Any thread."""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain, pairwise

import regex

from desktop_rag.core.text import with_digits_apart

# Increased when the same text yields different terms. Documents are then rechunked; until that is
# done, older ones match only on terms that stayed the same.
TERMS_VERSION = 4

_MAX_TERM_CHARS = 64
# Limits of the cache per language: its size, and the longest unspaced run worth caching.
_MAX_CACHED_WORDS = 50_000
_MAX_CACHED_RUN = 4
_MIN_LONG_DIGITS = 4

# --- word boundaries -----------------------------------------------------------------------------

# A unit may follow: 5.5kg.
_NUMBER = r"\d++(?:[.,'’]\d++){1,8}+(?!(?![^\W\d_]{2,4}(?![^\W_]))[^\W_])"
# Python's own regex engine is four times as fast but ends a word at a vowel sign. It is correct for
# Latin, Greek, Cyrillic and Armenian text with any punctuation.
_SIMPLE_TEXT = re.compile(
    "[\0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u058f\u1e00-\u200b\u200e-\u20cf\u2100-\u2bff"
    "\ue000-\uf8ff\ufffd\U0001f000-\U0001faff]*"
)
_SIMPLE_TOKEN = re.compile(rf"{_NUMBER}|[^\W_]+(?:['’][^\W_]+)*")
# Scripts without spaces between words (and Korean, for its many word endings).
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
_LONG_NUMBER = re.compile(rf"\d{{{_MIN_LONG_DIGITS},}}")
_IS_NUMBER = re.compile(_NUMBER)
# 1 250 000, which may as well be three cells of a row.
_SPACED_THOUSANDS = re.compile(r"\b(?<![.,'’])\d{1,3}(?: \d{3})+(?![\w'’]|[.,]\d)")
# 12km, unlike 19th and 3D.
_MEASURE = re.compile(r"(\d+)((?!st|nd|rd|th)[^\W\d_]{2,4})")
# 1,234.5 and 1'234; 1.234,5 and 1.234.567.
_THOUSANDS = re.compile(r"\d{1,3}(?:[,'’]\d{3})+(?:\.\d+)?")
_DOTTED_THOUSANDS = re.compile(r"\d{1,3}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
_NO_SEPARATORS = str.maketrans("", "", ",'’")
_DECIMAL_COMMA = str.maketrans({".": "", ",": "."})
# Characters without width inside words.
_INVISIBLE = {ord(sign): None for sign in "\u200b\u2060\ufeff"}
# Soft hyphens, joiners and optional diacritics: Cyrillic stress marks, Hebrew and Arabic vowel
# points.
_OPTIONAL = re.compile("[\u00ad\u200c\u200d\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]")
_DOTLESS_I = "\u0131"
# Spelling variants: apostrophes, and the Cyrillic io, usually printed as ie.
_SPELLING_VARIANTS = str.maketrans("’\u02bc\u0451", "''\u0435")
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
# Scripts of an algorithm, where not Latin only.
_SCRIPTS = {
    "arabic": {"ARABIC"}, "armenian": {"ARMENIAN"}, "greek": {"GREEK"}, "hindi": {"DEVANAGARI"},
    "nepali": {"DEVANAGARI"}, "persian": {"ARABIC"}, "russian": {"CYRILLIC"},
    "serbian": {"LATIN", "CYRILLIC"}, "tamil": {"TAMIL"}, "yiddish": {"HEBREW"},
}  # fmt: skip
# Algorithms for words in another script than the document's, or for unsupported languages.
_BY_SCRIPT = {
    "ARABIC": "arabic", "ARMENIAN": "armenian", "CYRILLIC": "russian", "DEVANAGARI": "hindi",
    "GREEK": "greek", "LATIN": "english", "TAMIL": "tamil",
}  # fmt: skip


def terms(text: str, language: str = "") -> list[str]:
    """The search terms of a text in order: folded, stemmed words, or character bigrams.

    `language` is the text's two-letter code; "" chooses by the script of each word. Scripts without
    spaces yield overlapping bigrams, so that any word in them is found. A number is one term
    whatever its thousands separators, beside its parts where these are spaces; digit runs of four
    or more in it, such as the year of a date, are terms too. 12km is 12 km. There is no stop list.
    """
    found = _term_cache(language)
    return list(chain.from_iterable(map(found.__getitem__, _tokens(text))))


def term_counts(text: str, language: str = "") -> Counter[str]:
    """The frequency of each search term in the text; `language` as for `terms`."""
    found = _term_cache(language)
    return Counter(chain.from_iterable(map(found.__getitem__, _tokens(text))))


def word_groups(text: str, languages: Iterable[str]) -> list[tuple[str, ...]]:
    """The distinct words of a question as groups of alternative terms, in word order.

    A word has one term per stemming by `languages`, those of the documents. Each bigram of an
    unspaced script is a group, as is a long number inside a word: the 2018 of FY2018.
    """
    ways = [*map(_term_cache, dict.fromkeys(languages))] or [_term_cache("")]
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
    """True when the words of the phrase occur in the text consecutively, as written.

    Case, accents and punctuation are ignored. A phrase without words occurs in every text.
    """
    return _normalised_words(phrase) in _normalised_words(text)


def _tokens(text: str) -> list[str]:
    token = _SIMPLE_TOKEN
    if not text.isascii():
        text = unicodedata.normalize("NFKC", with_digits_apart(text.translate(_INVISIBLE)))
        simple = _SIMPLE_TEXT.match(text)
        token = token if simple is not None and simple.end() == len(text) else _TOKEN
    spaced = [number.replace(" ", "") for number in _SPACED_THOUSANDS.findall(text)]
    return token.findall(text) + spaced


@cache
def _for_algorithm(algorithm: str) -> "_TermCache":
    return _TermCache(algorithm)


def _term_cache(language: str) -> "_TermCache":
    return _for_algorithm(_ALGORITHMS.get(language, "english"))


class _TermCache(dict[str, tuple[str, ...]]):
    def __init__(self, algorithm: str) -> None:
        super().__init__()
        self._algorithm = algorithm
        self._scripts = _SCRIPTS.get(algorithm, {"LATIN"})
        # Stemmers are stateful, so they are not shared between threads without a lock.
        self._lock = threading.Lock()
        self._stemmers: dict[str, Callable[[str], str]] = {}

    def __missing__(self, token: str) -> tuple[str, ...]:
        if _IS_UNSPACED.match(token):
            found = _pairs(token)
            longest = _MAX_CACHED_RUN
        else:
            found = self._of_word(token)
            longest = _MAX_TERM_CHARS
        if len(token) <= longest:
            if len(self) >= _MAX_CACHED_WORDS:
                self.clear()
            self[token] = found
        return found

    def _of_word(self, token: str) -> tuple[str, ...]:
        word = _ascii_digits(token)
        if _IS_NUMBER.fullmatch(word):
            number = _plain_number(word)
            return tuple(dict.fromkeys((number, *_LONG_NUMBER.findall(number))))
        if measure := _MEASURE.fullmatch(word):
            return measure[1], self._stem(measure[2])
        return (word[:_MAX_TERM_CHARS] if word.isdigit() else self._stem(word),)

    def _stem(self, token: str) -> str:
        script = _script(token)
        algorithm = self._algorithm if script in self._scripts else _BY_SCRIPT.get(script, "")
        if algorithm == "turkish":
            token = token.replace("I", _DOTLESS_I)
        word = _folded(token)
        if len(word) > _MAX_TERM_CHARS:
            return word[:_MAX_TERM_CHARS]
        if script == "LATIN":
            word = word.removesuffix("'s")
        if algorithm == "english":
            word = _without_accents(word)
        elif algorithm == "catalan":
            word = _CATALAN_ELISION.sub("", word, count=1)
        # A stemmer may return nothing, and a word must not be lost.
        stem = self._stemmed(algorithm, word) or word
        return _without_accents(stem) if script in {"LATIN", "GREEK"} else stem

    def _stemmed(self, algorithm: str, word: str) -> str:
        if not algorithm:
            return word
        with self._lock:
            if algorithm not in self._stemmers:
                import snowballstemmer

                self._stemmers[algorithm] = snowballstemmer.stemmer(algorithm).stemWord
            return self._stemmers[algorithm](word)


def _pairs(run: str) -> tuple[str, ...]:
    # Vowel signs belong to the preceding letter.
    signs = list(run) if run.isalpha() else _GRAPHEME.findall(run)
    return tuple(one + other for one, other in pairwise(signs)) or (run,)


def _plain_number(number: str) -> str:
    """Normalise 1,234.5 and 1.234,5 to 1234.5 and 3,14 to 3.14; keep dates, versions and lists."""
    if _THOUSANDS.fullmatch(number):
        number = number.translate(_NO_SEPARATORS)
    elif _DOTTED_THOUSANDS.fullmatch(number):
        number = number.translate(_DECIMAL_COMMA)
    elif number.count(",") == 1 and "." not in number:
        number = number.replace(",", ".")
    return number[:_MAX_TERM_CHARS]


def _script(word: str) -> str:
    if word.isascii():
        return "LATIN"
    first = next((character for character in word if character.isalpha()), "")
    return unicodedata.name(first, "").partition(" ")[0] if first else ""


def _folded(token: str) -> str:
    word = unicodedata.normalize("NFC", _OPTIONAL.sub("", token.casefold())) or token
    return word.translate(_SPELLING_VARIANTS)


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word)
    return _OPTIONAL.sub("", letters).translate(_PLAIN_LETTERS)


def _ascii_digits(token: str) -> str:
    if token.isascii():
        return token
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in token)


def _normalised_words(text: str) -> str:
    """The words separated by spaces; for unspaced scripts, the characters."""
    return " ".join(["", *chain.from_iterable(map(_normalised_token, _tokens(text))), ""])


def _normalised_token(token: str) -> list[str]:
    if _IS_UNSPACED.match(token):
        return _GRAPHEME.findall(token)
    word = _ascii_digits(token)
    return [_plain_number(word) if _IS_NUMBER.fullmatch(word) else _without_accents(_folded(word))]
