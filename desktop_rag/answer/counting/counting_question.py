"""Questions that ask how many there are of something, or for all of it. Any thread.

Their words are listed by language in resources/questions/counting_words.toml.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import dropwhile, takewhile
from typing import Any

from desktop_rag.answer.understanding.file_words import words_for
from desktop_rag.core.language.languages import function_words, function_words_of
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.text import words

_FORMS = ("files", "sections", "items", "tasks", "rows", "entries")
_KINDS = (*_FORMS, "measures", "negations")
_MORE_SETS = ("idle", "before", "open", "done")
_COMPARISONS = ("more", "least", "less", "most", "since", "until")
_LONGEST = 240
_ELISION = re.compile(r"(?i)\b(?:[dlcjmnst]|qu|dell|nell|all|sull)['’](?=\w)")
# A second question behind the first one is not answered by a number.
_SECOND = re.compile(
    r"(?i)[,;]?\s(?:and|und|et|y|e|en|i)\s(?:what|which|who|how|when|where|why|was|welche\w*|wer|wie"
    r"|wann|wo|warum|quel\w*|qui|comment|quand|pourquoi|qué|cuál\w*|cómo|cuándo|por qué|quale|quali"
    r"|come|quando|perché|wat|welke|wie|hoe|waarom|co|które|jak|dlaczego|qual|quais|como|o que)\b"
    r"|[?？].*\w"
)
# "Of these books, how many …": the things are named before.
_OF = re.compile(
    r"(?i)(?:of|von|parmi|de|entre|di|fra|tra|van|spośród|das|dos)\s+((?:\w+\s+){0,2}\w+)\s*,\s*$"
)

_ARTICLES = frozenset(
    (
        *("of", "the", "all", "my", "these", "those", "different", "der", "die", "alle", "meine"),
        *("des", "les", "mes", "los", "las", "mis", "i", "le", "gli", "os", "as", "van", "de"),
    )
)


@dataclass(frozen=True, slots=True)
class CountingWords:
    """The words of one language; see the file."""

    code: str
    counts: re.Pattern[str]
    lists: re.Pattern[str]
    sets: dict[str, frozenset[str]]
    comparisons: dict[str, tuple[str, ...]]

    def is_form(self, word: str) -> bool:
        """True for a word for files, sections, entries, which have no other name."""
        return any(word in self.sets[kind] for kind in _FORMS)

    def is_idle(self, word: str) -> bool:
        """True for a word that neither names a thing nor is a condition."""
        return word in self.sets["idle"] or word in _around()


@dataclass(frozen=True, slots=True)
class CountingQuestion:
    """A question for a number, or with `is_list` for all of something.

    `rest` is what follows the opening words, as written.
    """

    rest: str
    language: CountingWords
    is_list: bool = False


@cache
def counting_words() -> tuple[CountingWords, ...]:
    """The words of every language."""
    return tuple(_words_of(code, table) for code, table in _read().items() if code != "matter")


@cache
def matter_words() -> frozenset[str]:
    """The titles of what is no record, in all languages."""
    return frozenset(_read()["matter"].split())


@cache
def _read() -> dict[str, Any]:
    path = resources_dir() / "questions" / "counting_words.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _words_of(code: str, table: dict[str, Any]) -> CountingWords:
    def opening(name: str) -> re.Pattern[str]:
        return re.compile(rf"(?i)(?<!\w)(?:{'|'.join(table[name])})(?:(?!\w)|(?<=['’\s]))")

    sets = {kind: frozenset(table[kind].split()) for kind in (*_KINDS, *_MORE_SETS)}
    sets["idle"] |= function_words_of(code)
    comparisons = {kind: tuple(table[kind]) for kind in _COMPARISONS}
    return CountingWords(code, opening("count"), opening("list"), sets, comparisons)


def _around() -> frozenset[str]:
    """Words for files and folders, which say where to count."""
    return words_for("folder") | words_for("file")


def counting_question(question: str) -> CountingQuestion | None:
    """The question as one for a number or for all of something; None for any other."""
    text = " ".join(question.split()).strip(" ?？!.¿¡,;:")
    if not text or len(text) > _LONGEST or _SECOND.search(text):
        return None
    for language in counting_words():
        for pattern, is_list in ((language.counts, False), (language.lists, True)):
            match = pattern.search(text)
            rest = text[match.end() :].strip(" ,:") if match else ""
            before = text[: match.start()] if match else ""
            if named := _OF.match(before):
                before, rest = "", f"{named[1]} {rest}"
            if (
                match
                and rest
                and _is_opening(before, language)
                and not language.counts.search(rest)
            ):
                return CountingQuestion(rest, language, is_list)
    return None


def _is_opening(before: str, language: CountingWords) -> bool:
    known = language.sets["before"]
    return all(word in known or word in _around() for word in plain_words(before))


def plain_words(text: str) -> list[str]:
    """The words in lower case, without elided articles."""
    return [word.casefold().replace("’", "'") for word in words(_ELISION.sub("", text))]


def names_thing(question: CountingQuestion) -> bool:
    """True when the opening is followed by a noun: not in "How many use butter?"."""
    for word in plain_words(question.rest):
        if word not in _ARTICLES:
            sets = question.language.sets
            return not (question.language.is_idle(word) or word in sets["open"] | sets["done"])
    return False


def head_words(question: CountingQuestion) -> list[str]:
    """The first words of content that stand together, which name what is counted.

    `stores` in "How many stores does the chain have?"; "open tasks" in "How many open tasks are
    there?", as adjectives stand before or behind their noun.
    """
    content = set(content_words(question))
    spoken = dropwhile(lambda word: word not in content, plain_words(question.rest))
    return list(takewhile(content.__contains__, spoken))


def asks_for_rows(text: str) -> bool:
    """True for a question that may ask how many rows or entries something has."""
    question = counting_question(text)
    if question is None or question.is_list:
        return False
    sets = question.language.sets
    return not (sets["rows"] | sets["entries"]).isdisjoint(plain_words(question.rest))


def counting_language(text: str) -> str:
    """The code of the language in which a text asks how many; "" for any other text."""
    question = counting_question(text)
    return question.language.code if question else ""


def content_words(question: CountingQuestion) -> list[str]:
    """The words that name what is counted, or under which condition, in order."""
    language = question.language
    found = plain_words(question.rest)
    idle = function_words(found)
    return [w for w in found if w not in idle and not language.is_idle(w)]
