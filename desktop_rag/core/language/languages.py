"""Languages: function words, the language of a question, its name, number words. Any thread.

Function words carry no subject and mislead lexical search: "why" and "does" are rare in documents,
so BM25 would weigh them like the subject.
"""

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import regex

from desktop_rag.core.paths import resources_dir
from desktop_rag.core.text import words

# A language is recognised by this many of its function words and this share of all words.
_MIN_WORDS = 3
_MIN_SHARE = 0.2
_MIN_LEAD = 1.5


def function_words(words: Sequence[str]) -> frozenset[str]:
    """The function words among a question's words; never all of them.

    `words` are as written. The language is the one whose list matches most words, the first on a
    tie, so that "die" is an article only beside other German words.
    """
    folded = {word: word.casefold().replace("’", "'") for word in words}
    best = max(
        _words_by_language().values(),
        key=lambda known: sum(plain in known for plain in folded.values()),
    )
    found = frozenset(word for word, plain in folded.items() if plain in best)
    return found if len(found) < len(folded) else frozenset()


def function_words_of(code: str) -> frozenset[str]:
    """The function words of a language; none for one that has no list."""
    return _words_by_language().get(code, frozenset())


def language_of(words: Sequence[str]) -> str:
    """The code of the language with the most function words; "" when it is unclear.

    The result is clear when no other language matches at all, or with three matches that make up a
    fifth of the words and exceed the second-best language by half.
    """
    hits = _hits(words)
    best, second = sorted(hits, key=hits.__getitem__, reverse=True)[:2]
    is_many = hits[best] >= max(_MIN_WORDS, _MIN_SHARE * len(words), _MIN_LEAD * hits[second])
    return best if is_many or (hits[best] and not hits[second]) else ""


def most_likely(words: Sequence[str]) -> str:
    """The code of the language with more function words than any other; "" when there is none."""
    hits = _hits(words)
    best, second = sorted(hits, key=hits.__getitem__, reverse=True)[:2]
    return best if hits[best] > hits[second] else ""


def is_likely_english(words: Sequence[str]) -> bool:
    """True when English has more function words among these than any other, at least two."""
    return _hits(words)["en"] > 1 and most_likely(words) == "en"


def may_be_english(words: Sequence[str]) -> bool:
    """True unless another language has more function words among these."""
    hits = _hits(words)
    return hits["en"] == max(hits.values())


def is_hardly_english(words: Sequence[str]) -> bool:
    """True when another language has more function words among these, at least two."""
    hits = _hits(words)
    return max(hits.values()) > max(hits["en"], 1)


def english_share(words: Sequence[str]) -> float:
    """The share of English function words, 0 to 1; in texts it is seldom below .2."""
    english = _words_by_language()["en"]
    return sum(word.casefold() in english for word in words) / max(len(words), 1)


def _hits(words: Sequence[str]) -> dict[str, int]:
    """The number of function words per language."""
    folded = [word.casefold().replace("’", "'") for word in words]
    return {
        code: sum(word in known for word in folded) for code, known in _words_by_language().items()
    }


@cache
def _words_by_language() -> dict[str, frozenset[str]]:
    path = resources_dir() / "retrieval" / "function_words.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {code: frozenset(words.split()) for code, words in tables.items()}


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
# Letters that only one language with a Latin alphabet has in so many words.
_LETTERS = {
    "vi": re.compile("[\u0103\u0111\u01a1\u01b0\u1ea0-\u1ef9]", re.IGNORECASE),
    "tr": re.compile("[\u011f\u0131\u0130\u015f]"),
}
_LETTERED_SHARE = 0.25
_PLAIN = re.compile("[A-Za-z]+")
# Names with an accent occur in English questions too.
_ACCENTED_SHARE = 0.4


def question_language(text: str) -> str:
    """The code of the language of a question; "" when it may be English.

    Tried in turn: its script, letters of one language, its function words, letters that English
    lacks. A script that no model reads gives a code that no model has.
    """
    for code, script in _SCRIPTS.items():
        if script.search(text):
            return code
    text = unicodedata.normalize("NFC", text)
    letters = [letter for letter in text if letter.isalpha()]
    if 2 * sum(bool(_LATIN.match(letter)) for letter in letters) < len(letters):
        return _UNREAD
    found = words(text)
    is_english = is_likely_english(found)
    for code, own in _LETTERS.items():
        count = sum(bool(own.search(word)) for word in found)
        if count and count >= _LETTERED_SHARE * len(found) and not is_english:
            return code
    if known := language_of(found):
        return known
    if is_english:
        return _ENGLISH
    if is_hardly_english(found):
        return OTHER_LATIN
    accented = sum(not _PLAIN.fullmatch(word) for word in found if word.isalpha())
    return OTHER_LATIN if accented > _ACCENTED_SHARE * max(len(found), 1) else UNKNOWN


def likely_language(text: str) -> str:
    """The code of the language that a text is most likely in; "" when nothing tells."""
    known = question_language(text)
    return most_likely(words(text)) if known in {OTHER_LATIN, UNKNOWN} else known


def language_named(name: str) -> str:
    """The code of the language with this name, in English, German or itself; "" for others."""
    return _codes().get(name.strip().casefold(), "")


@cache
def _codes() -> dict[str, str]:
    path = resources_dir() / "questions" / "language_names.toml"
    named = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: code for code, names in named.items() for name in names.split()}


@cache
def word_ranks() -> dict[str, int]:
    """The most frequent English words with their ranks."""
    path = resources_dir() / "claims" / "frequent_words.txt"
    found = path.read_text(encoding="utf-8").split()
    return {word: rank for rank, word in enumerate(found)}


# The beginning of a text that decides its language.
_BEGINNING_CHARS = 4000
_ANY_LETTER = regex.compile(r"\p{L}")
_LATIN_LETTER = regex.compile(r"\p{Latin}")
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
        """True when the other is clearly in another language, by function words or script."""
        if self.language and other.language:
            return self.language != other.language
        shares = sorted((self.latin, other.latin))
        return shares[0] <= 1 - _MOSTLY and shares[1] >= _MOSTLY


def writing_of(text: str) -> Writing:
    """The language of a text, by its beginning."""
    text = text[:_BEGINNING_CHARS]
    letters = len(_ANY_LETTER.findall(text))
    latin = len(_LATIN_LETTER.findall(text))
    return Writing(language_of(words(text)), latin / letters if letters else 0.5)


def is_english(text: str) -> bool:
    """True unless a text is clearly in another language than English."""
    writing = writing_of(text)
    if writing.language:
        return writing.language == "en"
    found = words(text[:_BEGINNING_CHARS])
    if writing.latin < _MOSTLY:
        return False
    if english_share(found) >= _LEAST_ENGLISH:
        return True
    # Sentences in a language without a list of function words have hardly any English ones. A list
    # or a table has none in English either, but its words are.
    plain = [word.casefold() for word in found if word.isalpha()]
    if len(plain) < _LEAST_WORDS:
        return True
    return sum(word in word_ranks() for word in plain) >= _LEAST_FREQUENT * len(plain)


# The English words for whole numbers below a hundred.
SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {
    **{word: value for value, word in enumerate(SMALL.split())},
    **{word: 10 * tens for tens, word in enumerate(TENS.split(), 2)},
}
# Without the pronoun, and a word that rarely means a number.
NUMBER_WORDS = {word: f"{value}" for word, value in _VALUES.items() if word not in {"zero", "one"}}


@cache
def month_numbers() -> dict[str, int]:
    """The number of each month by its names in all languages, in lower case."""
    path = resources_dir() / "claims" / "words.toml"
    lines = tomllib.loads(path.read_text(encoding="utf-8"))["months"].strip().splitlines()
    return {word: number for number, line in enumerate(lines, 1) for word in line.split()}


@cache
def weekdays() -> frozenset[str]:
    """The days of the week in all languages, in lower case."""
    path = resources_dir() / "claims" / "words.toml"
    return frozenset(tomllib.loads(path.read_text(encoding="utf-8"))["weekdays"].split())


def is_open_question(text: str) -> bool:
    """True when the text begins like an open question ("how"), or asks why anywhere.

    Passages answer those in words of their own. The words of all languages are tried.
    """
    return _pattern().search(text.casefold()) is not None


@cache
def _pattern() -> re.Pattern[str]:
    path = resources_dir() / "retrieval" / "open_questions.toml"
    languages = tomllib.loads(path.read_text(encoding="utf-8")).values()
    first = [word for table in languages for word in table.get("first", ())]
    anywhere = [word for table in languages for word in table.get("anywhere", ())]
    amounts = [word for table in languages for word in table.get("amounts", ())]
    apart = [word for table in languages for word in table.get("unspaced", ())]
    return re.compile(
        rf"^\W*(?:{_any(first)})\b(?!\W+(?:{_any(amounts)})\b)"
        rf"|\b(?:{_any(anywhere)})\b|{_any(apart)}"
    )


def _any(found: list[str]) -> str:
    return "|".join(map(re.escape, found))
