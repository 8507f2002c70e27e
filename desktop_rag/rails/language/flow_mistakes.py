"""What people write in files of flows by habit, and what to write instead. Pure; any thread."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_COLANG_2 = "`{word}` belongs to Colang 2."
_UNKNOWN = "`{word}` is not known here."
_ACTION = "`execute action(name=value)`"
_FLOW = "`define flow`"
# The word that a line begins with: what is wrong with it, and what could stand there.
_WORDS = {
    "activate": (_COLANG_2, ("`do` and the name of a subflow",)),
    "await": (_COLANG_2, (_ACTION, "`do` and the name of a subflow")),
    "start": (_COLANG_2, (_ACTION, "`do` and the name of a subflow")),
    "send": (_COLANG_2, ("`create event name(key=value)`",)),
    "match": (_COLANG_2, ("`event name(key=value)`",)),
    "flow": ("A flow begins with `define`.", (_FLOW,)),
    "subflow": ("A subflow begins with `define`.", ("`define subflow`",)),
    "import": ("All files of the folder are read: this line is not needed.", ("`define`",)),
    "include": ("All files of the folder are read: this line is not needed.", ("`define`",)),
    "call": (_UNKNOWN, ("`do` and the name of a subflow",)),
    "run": (_UNKNOWN, (_ACTION,)),
    "new": (_UNKNOWN, ("`create event name(key=value)`",)),
    "post": (_UNKNOWN, ("`create event name(key=value)`",)),
    "for": (_UNKNOWN, ("`while`",)),
    "any": (_UNKNOWN, ("`when` … `else when` …",)),
    "infer": (_UNKNOWN, ("`user`", "`bot`")),
    "expect": (_UNKNOWN, ("`event name(key=value)`",)),
    "try": (_UNKNOWN, ("`define subflow handle failed action`",)),
}
_WORD = re.compile(r"[a-z]+\b")
# Curled and pointed quotation marks, as word processors write them.
_CURLED = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2018\u2019\u201a"
_CALL = re.compile(r"\b(?:execute|do|event)\b.*[(,]\s*$")
_DO = re.compile(r"\s*do\b")
_AWAITED = re.compile(r"=\s*await\s+$")


class Mistake(NamedTuple):
    """What is wrong, and words for what could stand there."""

    problem: str
    expected: tuple[str, ...]


def mistake_at(line: str, at: int) -> Mistake | None:
    """The known mistake where reading a line stopped, at a place counted from zero; else None."""
    before, rest = line[:at], line[at:]
    word = _WORD.match(rest)
    if word and not before.strip() and word[0] in _WORDS:
        problem, expected = _WORDS[word[0]]
        return Mistake(problem.format(word=word[0]), expected)
    signs = _signs(before, rest)
    return next(
        (Mistake(problem, expected) for is_made, problem, expected in signs if is_made), None
    )


def _signs(before: str, rest: str) -> Iterator[tuple[bool, str, tuple[str, ...]]]:
    """Each mistake that shows in what stands before and behind, and whether it is made."""
    mark = rest[:1]
    is_quoted = mark in ('"', "'")
    yield bool(_AWAITED.search(before)), _COLANG_2.format(word="await"), (_ACTION,)
    yield before.strip() == "meta", "The entries of `meta` stand below it.", ("`key: value`",)
    yield (
        bool(mark) and mark in _CURLED,
        "Texts stand in straight quotation marks.",
        ('`"text"`',),
    )
    yield (
        is_quoted and before.endswith("f"),
        "A text needs no `f`: it fills in $name by itself.",
        ('`"text"`',),
    )
    yield (
        is_quoted and rest.count(mark) == 1,
        "This text has no end on its line.",
        ("a text in quotation marks", 'several lines in """three quotation marks"""'),
    )
    yield (
        bool(_CALL.search(before)),
        "A value in brackets needs a name.",
        ("a name with its value: `name=value`",),
    )
    yield (
        mark == "$" and bool(_DO.match(before)),
        "A value for a subflow stands in brackets.",
        ("`do name(key=$value)`",),
    )
