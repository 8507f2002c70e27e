"""Finds names of files in a question, however their letter case and separators are written. Pure.

A name with its ending is always meant. Without it, a name is also a few common words: something
beside it must tell that the file is meant.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from desktop_rag.answer.understanding.file_words import (
    FileWords,
    asks_for_content,
    cites_source,
    is_beside,
    is_collection,
)

# Characters of scripts that are written with spaces: one beside a name is part of a longer word.
_SPACED = r"[^\W_\u2e80-\uffff]"
_SEPARATOR = r"[\s_\-.,&+()'’–—]{0,3}"
_ENDING = re.compile(r"\.[\w-]{1,8}$")
_OTHER_ENDING = re.compile(r"\.[A-Za-z]\w{1,4}\b")
_QUOTES = ("\"“”„«»'‘’「『《", "\"“”»'‘’」』》")
_TYPED_FOLDERS = re.compile(r"(?:[^\s\"“”„«»]*[/\\])$")
_SLASHES = re.compile(r"[/\\]")
_LEAST_SQUEEZED = 3
_LONGEST_NAME = 150
# A name of one word with so many digits and letters is no word of a language.
_MANY = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """A name at [start, end) of a question, and the paths of the files that bear it."""

    start: int
    end: int
    paths: tuple[str, ...]
    has_ending: bool


@dataclass
class _Found:
    start: int
    end: int
    has_ending: bool
    paths: list[str] = field(default_factory=list[str])


def squeezed(text: str) -> str:
    """The letters and digits of a text in lower case, as names are compared."""
    plain = unicodedata.normalize("NFC", text).casefold()
    return "".join(character for character in plain if character.isalnum())


def mentioned_files(text: str, paths: Iterable[str]) -> list[Mention]:
    """The files that a text names, by their paths; the text is in Unicode form NFC."""
    found = _without_overlaps(_spans(text, paths))
    meant = [one for one in found if one.has_ending or _is_meant(text, one)]
    if len(meant) < len(found):
        # "What is in the annual report?" asks for nothing but a file.
        rest = asks_for_content(without(text, [(f.start, f.end) for f in found]))
        is_meant = [f in meant or _is_asked_for(text, f, rest) for f in found]
        meant = [one for one, is_one in zip(found, is_meant, strict=True) if is_one]
    return [
        Mention(one.start - len(typed), one.end, _in_folder(typed, one.paths), one.has_ending)
        for one in sorted(meant, key=lambda one: one.start)
        for typed in [_typed_folder(text[: one.start], one.paths)]
    ]


def mentioned_folders(text: str, folders: Iterable[str]) -> list[Mention]:
    """The folders that a text names beside a word for a folder, or with a slash at the end.

    Of folders inside each other that have the same name, the outer one.
    """
    found: list[_Found] = []
    for one in _without_overlaps(_spans(text, folders, has_ending=False)):
        before, after = text[: one.start], text[one.end :]
        has_slash = bool(re.match(r"[/\\](?!\w)", after))
        if has_slash or is_beside(before, after, "folder", names_more=True):
            found.append(one)
    return [Mention(f.start, f.end, tuple(_outermost(f.paths)), has_ending=False) for f in found]


def mentioned_collections(text: str, names: Iterable[str]) -> list[Mention]:
    """The collections that a text names directly beside a word for a collection."""
    # A slash divides no name of a collection.
    by_plain = {_SLASHES.sub(" ", name): name for name in names}
    found = _without_overlaps(_spans(_SLASHES.sub(" ", text), by_plain, has_ending=False, least=1))
    return [
        Mention(one.start, one.end, tuple(by_plain[path] for path in one.paths), has_ending=False)
        for one in found
        if is_collection(
            text[: one.start],
            text[one.end :],
            is_as_written=text[one.start : one.end] in by_plain.values(),
        )
    ]


def _outermost(paths: Sequence[str]) -> list[str]:
    kept = [
        path for path in paths if not any(p in PurePath(path).parents for p in map(PurePath, paths))
    ]
    return list(dict.fromkeys(kept))


def without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text without these spans and the quotation marks around them."""
    kept, done = list[str](), 0
    for start, end in sorted(spans):
        kept.append(text[done:start].rstrip(_QUOTES[0]))
        done = end
        while done < len(text) and text[done] in _QUOTES[1]:
            done += 1
    return " ".join(" ".join([*kept, text[done:]]).split())


def _spans(
    text: str, paths: Iterable[str], *, has_ending: bool = True, least: int = _LEAST_SQUEEZED
) -> list[_Found]:
    """Every place where a name of at least so many letters occurs, with the files of that name.

    Without `has_ending` the names are those of folders, which have none.
    """
    by_place: dict[tuple[int, int, bool], _Found] = {}
    for path in paths:
        name = unicodedata.normalize("NFC", PurePath(path).name)[:_LONGEST_NAME]
        ending = _ENDING.search(name) if has_ending else None
        stem = name[: ending.start()] if ending else name
        letters = [c for c in stem if c.isalnum()]
        if len(letters) < least:
            continue
        body = _SEPARATOR.join(map(re.escape, letters))
        tail = re.escape(ending[0][1:]) if ending else ""
        last = rf"(?P<ending>[\s._-]{{1,2}}{tail}(?!{_SPACED}))?" if tail else "(?P<ending>(?!))?"
        first = "" if letters[0] >= "\u2e80" else rf"(?<!{_SPACED})"
        behind = "" if letters[-1] >= "\u2e80" else rf"(?!{_SPACED})"
        for match in re.finditer(rf"{first}{body}{behind}{last}", text, re.IGNORECASE):
            if not match["ending"] and _OTHER_ENDING.match(text, match.end()):
                continue
            place = (*match.span(), bool(match["ending"]))
            by_place.setdefault(place, _Found(*place)).paths.append(path)
    return list(by_place.values())


def _without_overlaps(found: list[_Found]) -> list[_Found]:
    """The longest of overlapping names."""
    kept: list[_Found] = []
    for one in sorted(found, key=lambda f: (not f.has_ending, f.start - f.end)):
        if all(one.end <= other.start or other.end <= one.start for other in kept):
            kept.append(one)
    return kept


def _is_meant(text: str, one: _Found) -> bool:
    """True when what stands beside a name without its ending tells that it is a file."""
    before, after = text[: one.start], text[one.end :]
    names_more = _names_more(one.paths[0])
    if is_beside(before, after, "file", names_more=names_more) or _is_technical(text, one):
        return True
    is_quoted = before[-1:] in _QUOTES[0] and after[:1] in _QUOTES[1]
    return names_more and bool((before and after and is_quoted) or cites_source(before))


def _is_asked_for(text: str, one: _Found, rest: Sequence[tuple[FileWords, frozenset[str]]]) -> bool:
    """True when the rest of a question asks what is in something, which is this name."""
    is_long = _names_more(one.paths[0]) or _is_shouted(text[one.start : one.end], one.paths[0])
    return any(
        held & language.summary
        or (is_long and held & (language.content | language.inside | language.file))
        for language, held in rest
    )  # fmt: skip


def _stem(path: str) -> str:
    return _ENDING.sub("", PurePath(path).name)


def _names_more(path: str) -> bool:
    """True for a name of several words, or with a digit, or in a script without spaces."""
    stem = _stem(path)
    parts = re.findall(r"[^\W\d_]+|\d+", stem)
    is_unspaced = stem[:1] >= "\u2e80" and len(stem) > _LEAST_SQUEEZED
    return len(parts) > 1 or is_unspaced


def _is_technical(text: str, one: _Found) -> bool:
    """True for a name written as it is, in one piece, that is no word of a language."""
    stem, written = _stem(one.paths[0]), text[one.start : one.end]
    if written.casefold() != unicodedata.normalize("NFC", stem).casefold() or " " in stem:
        return False
    marks = sum(c in "-_.+" for c in stem)
    digits, letters = sum(map(str.isdigit, stem)), sum(map(str.isalpha, stem))
    return "_" in stem or (marks > 0 and digits >= _MANY and letters >= _MANY)


def _is_shouted(written: str, path: str) -> bool:
    """True for README as it is written."""
    return len(written) > _MANY and written.isupper() and written == _stem(path)


def _typed_folder(before: str, paths: Sequence[str]) -> str:
    """The folders typed before a name, if one of the files is in them: "reports/2025/"."""
    typed = _TYPED_FOLDERS.search(before)
    wanted = squeezed(typed[0]) if typed else ""
    ends = (squeezed(str(PurePath(path).parent)).endswith(wanted) for path in paths)
    return typed[0] if typed and wanted and any(ends) else ""


def _in_folder(typed: str, paths: Sequence[str]) -> tuple[str, ...]:
    wanted = squeezed(typed)
    return tuple(p for p in paths if squeezed(str(PurePath(p).parent)).endswith(wanted))
