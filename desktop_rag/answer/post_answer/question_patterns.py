"""Questions from the headings and definitions of documents, by patterns of their language.

Pure; any thread. A heading is quoted, so that the question is grammatical whatever its form. In a
language without patterns there are no questions.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import PurePath

from desktop_rag.core.language.function_words import function_words
from desktop_rag.core.parsed import Heading
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.terms import terms
from desktop_rag.core.text import sentences, words

_SHORTEST, _LONGEST = 6, 60
_MOST_WORDS = 8
_LEAST_LETTERS = 0.85
_LEAST_CONTENT_LETTERS = 4
# A part with less text below it has no answer.
_LEAST_PART_CHARS = 30
_LEAST_PART_WORDS = 5
_LEAST_PART_LETTERS = 0.6
_NUMBERED = (
    "note|chapter|section|part|item|article|appendix|kapitel|abschnitt|teil|chapitre|capítulo"
)
_NUMBERING = re.compile(
    rf"^\s*(?:§\s*|(?i:{_NUMBERED})\s+)?(?:\d+[A-Za-z]?(?:\.\d+)*|[IVXLC]+)[.):]?\s+"
    r"(?:[-–—]\s+)?(?=\w)"
)
_BROKEN = re.compile(
    r"(?i)\w:\w|[|;=<>{}\\$%…]|\.\.|[.:,]$|\b(?:cont(?:inued|'d)?|in millions)\b",
)
# A link beside the heading of a page, such as "[edit]".
_LINK = re.compile(r"\s*\[[^\[\]]*\]$")
_MOST_TERM_WORDS = 4


@dataclass(frozen=True, slots=True)
class Pattern:
    """The patterns of a language; see resources/questions/follow_up_patterns.toml."""

    about: str
    what_is: str
    quotes: str
    defines: re.Pattern[str]
    vague: frozenset[str]
    ends: frozenset[str]
    articles: frozenset[str]
    pointing: frozenset[str]
    pronouns: frozenset[str]

    def quoted(self, text: str) -> str:
        """The text in the quotation marks of the language."""
        first, last = self.quotes
        return f"{first} {text} {last}" if self.about.endswith(" ?") else f"{first}{text}{last}"


@dataclass(frozen=True, slots=True)
class PatternQuestion:
    """A question, and the words and the part [start, end) of the document that answer it."""

    text: str
    subject: str
    start: int
    end: int


@cache
def patterns() -> dict[str, Pattern]:
    """The patterns by two-letter code."""
    path = resources_dir() / "questions" / "follow_up_patterns.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        code: Pattern(
            table["about"],
            table["what_is"],
            table["quotes"],
            re.compile(table["defines"]),
            frozenset(table["vague"].split()),
            frozenset(table["ends"].split()),
            frozenset(table["articles"].split()),
            frozenset(table["pointing"].split()),
            frozenset(table["pronouns"].split()),
        )
        for code, table in tables.items()
    }


def heading_questions(
    name: str,
    text: str,
    headings: tuple[Heading, ...],
    pattern: Pattern,
    title: str = "",
    *,
    asked_in: Pattern | None = None,
) -> Iterator[PatternQuestion]:
    """A question for each heading that names a subject and has enough text below it.

    `name` is how the question names the document. A heading says nothing new when its words are
    all in the name or the `title` of the document. `asked_in` is the language of the questions
    where it isn't that of the document.
    """
    asked = asked_in or pattern
    plain = [plain_heading(heading.title) for heading in headings]
    known = [_content(each) for each in (PurePath(name).stem.replace("_", " "), title)]
    ends = [*(heading.offset for heading in headings), len(text)][1:]
    for heading, part, end in zip(headings, plain, ends, strict=True):
        is_new = plain.count(part) == 1 and not any(map(_content(part).issubset, known))
        if not (is_new and _names_subject(part, pattern)):
            continue
        if _has_prose(text[heading.offset : end], heading.title):
            shown = part.capitalize() if part.isupper() else part
            question = asked.about.format(document=asked.quoted(name), part=asked.quoted(shown))
            yield PatternQuestion(question, shown, heading.offset, end)


def definition_questions(text: str, start: int, pattern: Pattern) -> Iterator[PatternQuestion]:
    """A question for each term that a passage beginning at `start` defines."""
    for first, last in sentences(text):
        match = pattern.defines.match(" ".join(text[first:last].split()))
        # What stands above, such as a heading, is no part of the term.
        line = text[first:last].strip().partition("\n")[0]
        is_on_line = match and len(line.split()) >= len(match["term"].split())
        if match and is_on_line and (term := _term(match["term"], pattern)):
            yield PatternQuestion(
                pattern.what_is.format(term=term), term, start + first, start + last
            )


def _content(text: str) -> frozenset[str]:
    """The terms of a name, without function words."""
    said = words(text)
    idle = function_words(said)
    return frozenset(term for word in said if word not in idle for term in terms(word))


def plain_heading(title: str) -> str:
    """The words of a heading, without its number and marks."""
    return _NUMBERING.sub("", _LINK.sub("", " ".join(title.split()))).strip(" #*_–—-")


def _names_subject(title: str, pattern: Pattern) -> bool:
    """True for a title that reads as the name of a subject, not as a cut line or a label."""
    said = words(title)
    if not (_SHORTEST <= len(title) <= _LONGEST and 1 <= len(said) <= _MOST_WORDS):
        return False
    letters = sum(character.isalpha() or character in " '’-" for character in title)
    is_clean = letters >= _LEAST_LETTERS * len(title) and not _BROKEN.search(title)
    if not is_clean or not title[0].isupper() or title.count("(") != title.count(")"):
        return False
    plain = [word.casefold() for word in said]
    idle = function_words(plain) | pattern.vague
    content = [w for w in plain if w not in idle and len(w) >= _LEAST_CONTENT_LETTERS]
    is_whole = plain[-1] not in pattern.ends and not _is_repeated(plain)
    return bool(content) and is_whole and pattern.pronouns.isdisjoint(plain)


def _is_repeated(plain: list[str]) -> bool:
    return any(one == other for one, other in pairwise(plain))


def _has_prose(part: str, title: str) -> bool:
    body = " ".join(part.split())[len(" ".join(title.split())) :].strip()
    letters = sum(character.isalpha() or character == " " for character in body)
    is_long = len(body) >= _LEAST_PART_CHARS and len(body.split()) >= _LEAST_PART_WORDS
    return is_long and letters >= _LEAST_PART_LETTERS * len(body)


def _term(written: str, pattern: Pattern) -> str:
    """A defined term as it stands within a sentence; "" when it only points at something."""
    said = words(written)
    plain = [word.casefold() for word in said]
    idle = function_words([*plain, "is", "the"])
    content = [w for w in plain if w not in idle and len(w) >= _LEAST_CONTENT_LETTERS]
    is_article = plain[:1] and plain[0] in pattern.articles
    points = any(word in pattern.pointing for word in plain)
    rest = plain[1:] if is_article else plain
    is_odd = points or _is_repeated(plain) or any(w in idle or w in pattern.vague for w in rest)
    if not content or is_odd or len(said) > _MOST_TERM_WORDS:
        return ""
    return f"{plain[0]} {' '.join(said[1:])}" if is_article else written
