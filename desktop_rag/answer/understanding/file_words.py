"""Words around the name of a file in a question: "what is in …", "the file …". Any thread.

They are listed by language in resources/questions/file_words.toml.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from desktop_rag.answer.writing.answers import AnswerRequest
from desktop_rag.core.language.languages import language_named, month_numbers
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.text import words

# Beside a name in languages without spaces.
_OPENING, _CLOSING = '“"「『《 ', '”"」』》 '
# The word before a name in a sentence: "the collection called “…".
_LAST_WORD = re.compile(
    r"(\w+)(?:\s+(?:called|named|titled|namens))?[\s:\"“”„«‘']*$", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_][\w.'’-]*(?<![.'’-])")
_KINDS = ("idle", "content", "summary", "inside", "file", "folder", "collection")


@dataclass(frozen=True, slots=True)
class FileWords:
    """The words of one language; with `has_pieces` it is written without spaces."""

    idle: frozenset[str]
    content: frozenset[str]
    summary: frozenset[str]
    inside: frozenset[str]
    file: frozenset[str]
    folder: frozenset[str]
    collection: frozenset[str]
    source: tuple[str, ...]
    has_pieces: bool
    code: str

    @property
    def around(self) -> frozenset[str]:
        """All words that may surround a name without asking for something in particular."""
        return self.idle.union(
            self.content, self.summary, self.inside, self.file, self.folder, self.collection
        )

    def read(self, text: str) -> frozenset[str] | None:
        """The words of the list in a text that has no others; None when it has others."""
        if not self.has_pieces:
            found = plain_words(text)
            return frozenset(found) if self.around.issuperset(found) else None
        held: set[str] = set()
        for piece in sorted(self.around, key=len, reverse=True):
            if piece in text:
                held.add(piece)
                text = text.replace(piece, " ")
        return None if any(map(str.isalnum, text)) else frozenset(held)


@cache
def file_words() -> tuple[FileWords, ...]:
    """The words of every language."""
    path = resources_dir() / "questions" / "file_words.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(_words_of(name, table) for name, table in tables.items())


def _words_of(name: str, table: dict[str, Any]) -> FileWords:
    held = {kind: frozenset(table[kind].split()) for kind in _KINDS}
    pieces, source = table.get("pieces", False), tuple(table["source"])
    return FileWords(**held, source=source, has_pieces=pieces, code=language_named(name))


@cache
def words_for(kind: str) -> frozenset[str]:
    """The words of a kind, such as those for a folder, in all languages."""
    return frozenset(word for language in file_words() for word in getattr(language, kind))


def plain_words(text: str) -> list[str]:
    """The words in lower case, split at apostrophes unless a list has them whole."""
    found: list[str] = []
    for word in words(text.replace("’", "'")):
        plain = word.casefold()
        found += [plain] if plain in words_for("around") else plain.split("'")
    return [word for word in found if word]


def asks_for_content(text: str) -> Sequence[tuple[FileWords, frozenset[str]]]:
    """The languages of whose listed words a text consists, with those words; empty for others."""
    read = [(language, language.read(text.casefold())) for language in file_words()]
    return [(language, held) for language, held in read if held is not None]


def asks_about_all(text: str) -> bool:
    """True for "Summarise the documents", "What is in my files?": of all, none by its name."""
    return any(
        held & (language.file | language.folder | language.collection)
        and held & (language.summary | language.content | language.inside)
        for language, held in asks_for_content(text)
    )


def language_around(text: str, names: Sequence[str]) -> str:
    """The code of the only language whose listed words surround the names in a text; else ""."""
    rest = text.casefold()
    for name in sorted(map(str.casefold, names), key=len, reverse=True):
        rest = rest.replace(name, " ")
    codes = [language.code for language, _ in asks_for_content(rest)]
    return codes[0] if len(codes) == 1 else ""


def is_beside(text_before: str, text_after: str, kind: str, *, names_more: bool) -> bool:
    """True when a word for a file (or, by `kind`, a folder) stands beside a name.

    Before it, words that say nothing may stand between. After it, only for a name that
    `names_more` than one common word: "an Excel file" names no file called Excel.
    """
    for language in file_words():
        nouns: frozenset[str] = getattr(language, kind)
        if language.has_pieces:
            before, after = text_before.rstrip(_OPENING), text_after.lstrip(_CLOSING)
            is_after = names_more and after.startswith(tuple(nouns))
            if before.endswith(tuple(nouns)) or is_after:
                return True
            continue
        if names_more and plain_words(text_after[:40])[:1] and _first(text_after) in nouns:
            return True
        for word in reversed(plain_words(text_before)[-4:]):
            if word in nouns:
                return names_more or bool(
                    re.search(r"(?:[\"“„«]|\b(?:called|named|titled))\s*$", text_before)
                )
            if word not in language.idle:
                break
    return False


def is_collection(text_before: str, text_after: str, *, is_as_written: bool) -> bool:
    """True when a word for a collection stands directly beside a name.

    Behind it only if the name is written as it is: "a stamp collection" names none called Stamp.
    """
    last = _LAST_WORD.search(text_before)
    for language in file_words():
        nouns = tuple(language.collection)
        if language.has_pieces:
            before, after = text_before.rstrip(_OPENING), text_after.lstrip(_CLOSING)
            if before.endswith(nouns) or after.startswith(nouns):
                return True
        elif (last and last[1].casefold() in nouns) or (
            is_as_written and _first(text_after) in nouns
        ):
            return True
    return False


def _first(text: str) -> str:
    """The first word, if nothing but quotation marks and spaces stands before it."""
    match = re.match(r"[\s\"”“»'’]*(\w+)", text)
    return match[1].casefold() if match else ""


def cites_source(text_before: str) -> str:
    """The phrase at the end of a text that names a source: "according to the"; else ""."""
    plain = re.sub(r"[\s\"“„«]+", " ", text_before.casefold()).strip()
    for language in file_words():
        for phrase in language.source:
            if (
                plain == phrase
                or plain.endswith(f" {phrase}")
                or (language.has_pieces and plain.endswith(phrase))
            ):
                return phrase
    return ""


_COMPARES = re.compile(
    r"(?i)\b(?:compar(?:e[rsz]?|ed|ing|ison|ons|a|ar|e-me|aci[oó]n|a[cç][aã]o|aison)|differ(?:s|ences?)?"
    r"|vergleich(?:e|en|t)?|unterschiede?n?|unterscheide[nt]|différen(?:ces?|t)|diffèrent"
    r"|diferenci?as?|difer(?:e|en|em)|differenz[ae]|differiscono|confronta(?:re)?|verschill?(?:en)?"
    r"|vergelijk(?:en|ing)?|porówna(?:j|ć|nie)|różni(?:ą|ce|ca)?|diferenças?)\b"
)


# "What changed in …", "what is new in …".
_CHANGES = re.compile(
    r"(?i)\b(?:chang(?:e[sd]?|ing)|what(?:['’]s| is) new|geändert|änder(?:t|n|ung|ungen)|neu an"
    r"|chang(?:é|ements?)|cambi(?:ado|ó|os?|ato|amenti|ata)|mud(?:ou|anças?)|veranderd?|zmieni(?:ło|ono)"
    r"|измени(?:лось|лся|лась)|değişti)\b"
)
# Between the things that are compared.
_BETWEEN = re.compile(
    r"(?i)between|with|an|in|to|vs|versus|than|from|sich|zwischen|mit|entre|avec|con|tra|fra|com"
)


def compares(request: AnswerRequest) -> bool:
    """True when the question compares at least two files that it names or that were chosen."""
    several = request.named is not None and len(request.named.document_ids) > 1
    return several and is_comparison(request.question)


def is_comparison(text: str) -> bool:
    """True when a text asks for a comparison, or for what has changed."""
    return bool(_COMPARES.search(text) or _CHANGES.search(text))


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done, and the places [start, end) of the things it is to be done with, or of
    the parts of the one thing where there is no comparison.

    It `is_certain` that a thing is meant where a summary or a comparison is asked for.
    """

    things: tuple[tuple[int, int], ...]
    is_certain: bool


def task_of(text: str) -> Task | None:
    """The task of "Summarise X", "What is in X", "Compare X and Y"; None for any other text."""
    comparing = is_comparison(text)
    found = [
        _things(text, language, comparing) for language in file_words() if not language.has_pieces
    ]
    held, things = max(found, key=lambda each: len(each[0]))
    of_all = [(each.summary, each.inside) for each in file_words()]
    asks = [any(held & words for words in kinds) for kinds in zip(*of_all, strict=True)]
    is_one = len(things) == 1
    # "the minutes of October"
    is_dated = bool(things) and _is_date(text[slice(*things[-1])])
    if not things or not (comparing or ((is_one or is_dated) and any(asks))):
        return None
    if comparing:
        return Task(tuple(things), is_certain=True)
    return Task(tuple(things), is_certain=asks[0] and is_one)


def _is_date(text: str) -> bool:
    return all(w.isdigit() or w.casefold() in month_numbers() for w in words(text))


def _things(
    text: str, language: FileWords, comparing: bool
) -> tuple[set[str], list[tuple[int, int]]]:
    """The listed words of a text, and the runs of its other words."""
    held, things, goes_on = set[str](), list[tuple[int, int]](), False
    for match in _WORD.finditer(text):
        plain = plain_words(match[0])
        is_asking = comparing and (is_comparison(match[0]) or _BETWEEN.fullmatch(match[0]))
        if is_asking or language.around.issuperset(plain):
            held.update(plain)
            goes_on = False
        else:
            start = things.pop()[0] if goes_on else match.start()
            things.append((start, match.end()))
            goes_on = True
    return held, things
