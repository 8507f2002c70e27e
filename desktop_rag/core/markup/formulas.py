r"""Finds the LaTeX formulas in a Markdown text: $…$, $$…$$, \(…\) and \[…\]. Pure.

A dollar sign is mostly money, and a bracket after a backslash is mostly a bracket. So what stands
between them must look like a formula; in doubt it is text.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from desktop_rag.core.markup.plain_markdown import code_spans

LONGEST = 1_000
_OPENINGS = re.compile(r"\$\$?|\\[(\[]")
_MAYBE_OPENINGS = re.compile(rf"{_OPENINGS.pattern}|\\\Z")
_CLOSINGS = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}
_BLANK_LINE = re.compile(r"\n[ \t>]*\n")
_COMMAND = re.compile(r"(?<!\\)\\[A-Za-z]+|(?<![\\\w])_|\w_[\w{]")
_SIGNAL = re.compile(r"\\[A-Za-z]|[\^_=<>{}]")
_TEXT_COMMAND = re.compile(r"\\[A-Za-z]+(?:\s*\{[A-Za-z ,.-]*\})?")
# Punctuation, citations, and the window's own marks.
_BEHIND = re.compile(r"(?:[\s.,;:]|\[\d{1,3}\]|[\U00100000-\U0010ffff])*")
_WORD = re.compile(r"[A-Za-z]{3,}")
_SHORT_WORD = re.compile(r"[A-Za-z]{2,}")
_OTHER_LETTER = re.compile(r"[^\W\d_a-zA-Z\u00b5\u00c0-\u024f\u0370-\u03ff\U0001d400-\U0001d7ff]")
# Words of prose are few in a formula that names its quantities: $speed = distance / time$.
_MOST_WORDS = 4
_LONGEST_OPEN = 200


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula at [start, end) of a text, delimiters included."""

    start: int
    end: int
    latex: str
    is_display: bool


def formula_at(text: str, at: int) -> Formula | None:
    """The formula that begins at this offset; None when there is none."""
    opening = _OPENINGS.match(text, at)
    if opening is None or _is_escaped(text, at):
        return None
    first, closing = opening.end(), _CLOSINGS[opening[0]]
    last = _closing_at(text, first, closing)
    if last < 0:
        return None
    latex, end = text[first:last], last + len(closing)
    if not latex.strip() or not _is_formula(text, at, end, opening[0], latex):
        return None
    return Formula(at, end, latex.strip(), opening[0] in {"$$", r"\["})


def formulas(text: str) -> list[Formula]:
    """All formulas outside code, in order."""
    return list(_formulas(text)) if _may_have_one(text) else []


def without_formulas(text: str, put: Callable[[Formula], str] = lambda _: " ") -> str:
    """The text with `put(formula)` in place of each formula, by default a space."""
    parts: list[str] = []
    done = 0
    for formula in formulas(text):
        parts += [text[done : formula.start], put(formula)]
        done = formula.end
    return "".join([*parts, text[done:]])


def verbatim_spans(text: str) -> list[tuple[int, int]]:
    """The spans of code and formulas in order: what is in them is neither prose nor Markdown."""
    found = formulas(text)
    code = code_spans(text)
    return sorted([*code, *((f.start, f.end) for f in found)]) if found else code


def open_formula(text: str) -> int:
    """Where a formula begins that the end of a growing text leaves open; else the text's length."""
    if not _may_have_one(text) and not text.endswith("\\"):
        return len(text)
    tail = max(0, text.rfind("\n\n"))
    taken = sorted([*code_spans(text), *((f.start, f.end) for f in _formulas(text))])
    for match in _MAYBE_OPENINGS.finditer(text, tail):
        at = match.start()
        if not _is_inside(taken, at) and not _is_escaped(text, at) and _may_go_on(text, match):
            return at
    return len(text)


def _may_have_one(text: str) -> bool:
    return "$" in text or r"\(" in text or r"\[" in text


def _formulas(text: str) -> Iterator[Formula]:
    code = code_spans(text)
    at = 0
    while opening := _OPENINGS.search(text, at):
        at = opening.start()
        if not _is_inside(code, at) and (found := formula_at(text, at)):
            yield found
            at = found.end
        else:
            at = opening.end()


def _is_inside(spans: list[tuple[int, int]], at: int) -> bool:
    index = bisect_right(spans, (at, len(spans) and spans[-1][1])) - 1
    return index >= 0 and spans[index][0] <= at < spans[index][1]


def _is_escaped(text: str, at: int) -> bool:
    backslashes = 0
    while at - backslashes > 0 and text[at - backslashes - 1] == "\\":
        backslashes += 1
    return backslashes % 2 == 1


def _closing_at(text: str, first: int, closing: str) -> int:
    """The place of the closing delimiter, before the next blank line; -1 for none."""
    limit = min(len(text), first + LONGEST + len(closing))
    if blank := _BLANK_LINE.search(text, first, limit):
        limit = blank.start()
    if closing == "$" and (end := text.find("\n", first, limit)) >= 0:
        limit = end
    at = text.find(closing, first, limit)
    while at >= 0 and _is_escaped(text, at):
        at = text.find(closing, at + 1, limit)
    return at


def _is_formula(text: str, at: int, end: int, opening: str, latex: str) -> bool:
    if _OTHER_LETTER.search(_TEXT_COMMAND.sub("", latex)):
        return False
    if opening == "$":
        return _is_tight(text, at, end) and _is_like_formula(latex)
    if opening == r"\[":
        # Markdown also writes an ordinary bracket so.
        return bool(_COMMAND.search(latex)) or (
            _has_room(text, at, end) and _is_on_its_own(text, at, end) and _is_like_formula(latex)
        )
    # On a line of its own it is no money, so its quantities may have names.
    is_named = bool(_SIGNAL.search(latex)) and _is_on_its_own(text, at, end)
    return is_named or _is_like_formula(latex)


def _is_tight(text: str, at: int, end: int) -> bool:
    """True when the dollar signs touch the formula and no word touches them from outside."""
    before, after = text[at - 1 : at], text[end : end + 1]
    inside = text[at + 1], text[end - 2]
    return not (before.isalnum() or after.isalnum() or any(map(str.isspace, inside)))


def _is_on_its_own(text: str, at: int, end: int) -> bool:
    before = text[text.rfind("\n", 0, at) + 1 : at]
    after = text[end : (text.find("\n", end) + 1 or len(text) + 1) - 1]
    return not before.strip(" \t>") and bool(_BEHIND.fullmatch(after))


def _has_room(text: str, at: int, end: int) -> bool:
    """True when spaces are inside; the brackets of a quoted text have none."""
    return text[at + 2].isspace() and text[end - 3].isspace()


def _is_like_formula(latex: str) -> bool:
    said = _TEXT_COMMAND.sub(" ", latex)
    words = _WORD.findall(said)
    has_signal = bool(_SIGNAL.search(latex))
    if latex.lstrip()[:1].isdigit() and "\\" not in latex:
        # Most likely an amount of money.
        return not (words if has_signal else _SHORT_WORD.findall(said))
    return len(words) <= (_MOST_WORDS if has_signal else 1)


def _may_go_on(text: str, opening: re.Match[str]) -> bool:
    """True when the text from here on may still become a formula."""
    rest = text[opening.end() :]
    if len(rest) > LONGEST or opening[0] == "\\":
        return not rest
    closing = _CLOSINGS[opening[0]]
    if opening[0] != "$":
        return closing not in rest and not _BLANK_LINE.search(rest)
    before = text[opening.start() - 1 : opening.start()]
    if before.isalnum() or rest[:1].isspace() or "$" in rest or "\n" in rest:
        return False
    return len(rest) <= _LONGEST_OPEN and _may_be_like_formula(rest)


def _may_be_like_formula(rest: str) -> bool:
    if _SIGNAL.search(rest):
        return _is_like_formula(rest)
    return len(_SHORT_WORD.findall(rest)) <= (0 if rest[:1].isdigit() else 1)
