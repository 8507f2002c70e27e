"""The things that a question names: "the rent", "of Best Buy", "2022". Pure; any thread.

By lists of words and by capital letters, for the languages in short_questions.toml.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from desktop_rag.core.language.function_words import most_likely
from desktop_rag.core.paths import resources_dir

_WORD = re.compile(r"[^\W_](?:[\w'’.,&/-]*\w)?")
_POSSESSIVE = re.compile(r"['’]s?$")
_YEAR = re.compile(r"(?:19|20)\d\d")
# A preposition, articles, and a year or own words; see `_kinds`.
_THING = re.compile("(P?)(A*)(Y|[on]o*)")
_DEFINITE = "definite"


@dataclass(frozen=True, slots=True)
class QuestionLanguage:
    """The words of one language; see resources/retrieval/short_questions.toml."""

    about: re.Pattern[str]
    begins: frozenset[str]
    ends: frozenset[str]
    asks: frozenset[str]
    measures: frozenset[str]
    prepositions: dict[str, str]
    articles: dict[str, str]
    doing: frozenset[str]
    being: frozenset[str]
    moments: frozenset[str]
    has_capital_nouns: bool


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A word at [start, end) of a question, without a possessive ending."""

    text: str
    start: int
    end: int

    @property
    def plain(self) -> str:
        """The word in lower case."""
        return self.text.casefold()

    @property
    def is_year(self) -> bool:
        """True for a number of a year."""
        return bool(_YEAR.fullmatch(self.text))


@dataclass(frozen=True, slots=True)
class Thing:
    """What a question names by words of its `own`, at [first, end) of its text.

    With the article it begins at `start`, with the preposition too at `whole`. `preposition` is in
    its plain form, `article` the kind of one. What `is_owned` follows a possessive.
    """

    own: tuple[str, ...]
    whole: int
    start: int
    first: int
    end: int
    preposition: str
    article: str
    is_owned: bool
    is_name: bool
    is_year: bool


def question_words(text: str) -> list[QuestionWord]:
    """The words with their places."""
    found: list[QuestionWord] = []
    for match in _WORD.finditer(text):
        plain = _POSSESSIVE.sub("", match[0])
        found.append(QuestionWord(plain, match.start(), match.start() + len(plain)))
    return found


def things(text: str, language: QuestionLanguage, *, is_sentence: bool) -> Iterator[Thing]:
    """The things in a text, in its order. A sentence begins with a capital and may have a verb."""
    found = question_words(text)
    capital = [n for n, word in enumerate(found) if word.text[0].isupper()]
    for match in _THING.finditer(_kinds(text, found, language, is_sentence=is_sentence)):
        first, last = match.start(3), match.end(3) - 1
        if language.has_capital_nouns and found[last].text[0].islower():
            continue
        is_owned = not match[2] and first > 0 and text[found[first - 1].end] in "'’"
        article = language.articles.get(found[match.start(2)].plain, "") if match[2] else ""
        # The first word of a question has a capital letter, whatever it is.
        is_first = is_sentence and first == 0 and len(capital) > last - first + 1
        yield Thing(
            tuple(word.plain for word in found[first : last + 1]),
            found[match.start()].start,
            found[match.end(2) - 1 if match[2] else first].start,
            found[first].start,
            found[last].end,
            language.prepositions[found[match.start()].plain] if match[1] else "",
            _DEFINITE if is_owned else article,
            is_owned=is_owned,
            is_name=not (article or is_first or language.has_capital_nouns)
            and all(n in capital for n in range(first, last + 1)),
            is_year=match[3] == "Y",
        )


def _kinds(
    text: str, found: Sequence[QuestionWord], language: QuestionLanguage, *, is_sentence: bool
) -> str:
    """P for a preposition, A for an article, Y for a year, o for an own word of a thing, n for the
    first one of a thing beside another, and - for the rest.
    """
    kinds: list[str] = []
    for n, word in enumerate(found):
        if word.plain in language.prepositions:
            kind = "P"
        elif word.plain in language.articles:
            kind = "A"
        elif word.plain in language.asks or word.plain in language.measures:
            kind = "-"
        elif word.is_year:
            kind = "Y"
        elif n and kinds[-1] in "on" and _divides(text, found[n - 1], word, language):
            kind = "n"
        else:
            kind = "o"
        kinds.append(kind)
    if is_sentence and (verb := _verb("".join(kinds), found, language)):
        kinds[verb] = "-"
    return "".join(kinds)


def _divides(
    text: str, before: QuestionWord, word: QuestionWord, language: QuestionLanguage
) -> bool:
    """True when a word doesn't belong to the same thing as the one before it."""
    if text[before.end : word.start].strip():
        return True
    if language.has_capital_nouns:
        return before.text[0].isupper() and word.text[0].islower()
    is_number = before.text[0].isdigit() or word.text[0].isdigit()
    return not is_number and before.text[0].isupper() != word.text[0].isupper()


def _verb(kinds: str, found: Sequence[QuestionWord], language: QuestionLanguage) -> int:
    """The place of the verb behind its subject: of "bake" in "does the rye loaf bake"; 0 for none.

    "What is the fine for …" has none.
    """
    does = {n for n, word in enumerate(found) if word.plain in language.doing}
    first = min(does | {n for n, w in enumerate(found) if w.plain in language.being}, default=-1)
    if first < 0:
        return 0
    if first in does:
        ends = [m.end() for m in re.finditer("[on]o+", kinds) if m.start() > first]
        return max(ends) - 1 if len(found) in ends else min(ends, default=1) - 1
    is_moment = first == 0 or found[first - 1].plain in language.moments
    subject = re.compile("A*[on]o+").match(kinds, first + 1) if is_moment else None
    return subject.end() - 1 if subject else 0


def asking_words(question: str) -> frozenset[str]:
    """The words of a question that only ask, in lower case, as in "since when" and "how high"."""
    said = [word.text for word in question_words(question)]
    language = question_languages().get(most_likely(said))
    if language is None:
        return frozenset()
    known = language.asks | language.measures | language.prepositions.keys()
    return known.intersection(word.casefold() for word in said)


@cache
def question_languages() -> dict[str, QuestionLanguage]:
    """The languages by two-letter code."""
    path = resources_dir() / "retrieval" / "short_questions.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {code: _language(table) for code, table in tables.items()}


def _language(table: dict[str, Any]) -> QuestionLanguage:
    def all_of(kind: str) -> frozenset[str]:
        return frozenset(table.get(kind, "").split())

    forms = table.get("contracted", "").split()
    about = "|".join(re.escape(phrase) for phrase in table["about"].split("|"))
    return QuestionLanguage(
        re.compile(rf"(?i)(?:{about})(?!\w)"),
        all_of("begins"),
        all_of("ends"),
        all_of("asks"),
        all_of("measures"),
        {each: each for each in all_of("prepositions")}
        | dict(zip(forms[::2], forms[1::2], strict=True)),
        {each: kind for kind in (_DEFINITE, "indefinite") for each in all_of(kind)},
        all_of("doing"),
        all_of("being"),
        all_of("moments"),
        has_capital_nouns=table.get("capital_nouns", False),
    )
