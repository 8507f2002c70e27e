"""Markdown as plain text, without its marks, for places that show a piece of it. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_TICKS = re.compile(r"`+")


def code_spans(text: str) -> list[tuple[int, int]]:
    """Spans [start, end) of fenced blocks and inline code, in order.

    An unclosed block runs to the end, as while an answer streams. Indentation alone is no code:
    models indent lists more often than code.
    """
    spans: list[tuple[int, int]] = []
    paragraph = start = 0
    fence = ""
    at = 0
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line.rstrip("\r\n"))
        if fence:
            if line.strip(" \t\r\n>").startswith(fence) and not line.strip(" \t\r\n>" + fence[0]):
                spans.append((start, at + len(line)))
                fence = ""
            paragraph = at + len(line)
        elif match:
            spans += _inline(text, paragraph, at)
            start, fence = at, match[1]
        elif not line.strip():
            spans += _inline(text, paragraph, at)
            paragraph = at + len(line)
        at += len(line)
    return spans + ([(start, at)] if fence else _inline(text, paragraph, at))


def _inline(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Code between two equal runs of backticks in the paragraph [start, end)."""
    runs = [match.span() for match in _TICKS.finditer(text, start, end)]
    by_length: dict[int, list[int]] = {}
    for index, (first, last) in enumerate(runs):
        by_length.setdefault(last - first, []).append(index)
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        first, last = runs[index]
        equal = by_length[last - first]
        position = bisect_right(equal, index)
        if position < len(equal):
            index = equal[position]
            spans.append((first, runs[index][1]))
        index += 1
    return spans


_ENDINGS = frozenset({".md", ".markdown", ".mdown", ".mkd"})
_NOT_PAGES = frozenset({".pdf", ".txt"})
_FENCE_LINE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^\n]*\n?", re.MULTILINE)
# Lines that are only marks: the rule below a table's head, and any other rule.
_RULE = re.compile(
    r"^[ \t>]*(?:\|[ \t|:-]*-[ \t|:-]*|:?-+:?(?:[ \t]*\|[ \t]*:?-+:?)+|[-=*_]{3,})[ \t]*(?:\n|\Z)",
    re.MULTILINE,
)
_LINE_MARK = re.compile(r"^(?:[ \t]*>)+[ \t]?|^[ \t]{0,3}#{1,6}[ \t]+", re.MULTILINE)
_COMMENT = re.compile(r"<!--[^>]{0,500}-->")
_TARGET = r"\]\((?:[^()\s]|\([^()\s]{0,200}\)){0,800}(?:[ \t]+[\"'][^\"'\n]{0,200}[\"'])?\)"
_IMAGE = re.compile(rf"(!\[)[^\[\]\n]{{0,300}}({_TARGET})")
_LINK = re.compile(rf"(?<![\w!\]])(\[)(?:[^\[\]\n]|!\[[^\[\]\n]{{0,300}}\]){{1,500}}?({_TARGET})")
_EMPHASIS = (
    re.compile(r"(?<![\w*\\])(\*{1,3})(?=[^\s*])[^*\n]{0,300}?(?<=[^\s*\\])(\1)(?!\*)"),
    re.compile(r"(?<![\w\\])(_{1,3})(?=[^\s_])[^\n]{0,300}?(?<=[^\s_\\])(\1)(?!\w)"),
)
_CODE = re.compile(r"(`{1,2})(?=[^`])[^`\n]{1,500}(\1)(?!`)")
_ESCAPE = re.compile(r"(\\)[\\`*_{}\[\]()#+.!|<>~-]")
_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_CELL = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class PlainMarkdown:
    """The text to show, and a mapping of places of the original to it."""

    text: str
    _removed: tuple[tuple[int, int], ...]

    def place(self, offset: int) -> int:
        """The place of an offset of the original text."""
        starts = [start for start, _ in self._removed]
        known = self._removed[: bisect_right(starts, offset)]
        return offset - sum(min(end, offset) - start for start, end in known)


def is_markdown(path: str, url: str = "") -> bool:
    """Whether a document's text is Markdown: such files, and pages, which are read as Markdown."""
    suffix = PurePath(path).suffix.lower()
    return suffix in _ENDINGS or (bool(url) and suffix not in _NOT_PAGES)


def shown_text(text: str, path: str, url: str = "") -> str:
    """A piece of a document as plain text, without the marks if it is Markdown."""
    return plain_markdown(text).text if is_markdown(path, url) else text


def plain_markdown(text: str) -> PlainMarkdown:
    """The text without Markdown marks; code and HTML tags stay, bars of tables become dots."""
    code = code_spans(text)
    starts = [start for start, _ in code]

    def is_code(at: int) -> bool:
        before = bisect_right(starts, at) - 1
        return before >= 0 and at < code[before][1]

    found = [span for span in _marks(text) if not is_code(span[0])]
    found += [match.span() for match in _FENCE_LINE.finditer(text)]
    found += [match.span(n) for match in _CODE.finditer(text) for n in (1, 2)]
    rows = [match.span() for match in _ROW.finditer(text) if not is_code(match.start())]
    found += [bar for start, end in rows for bar in _bars(text, start, end)]
    shown = list(text)
    for start, end in rows:
        for match in _CELL.finditer(text, start, end):
            shown[match.start()] = "·"
    removed = _joined(found)
    pieces, at = [], 0
    for start, end in removed:
        pieces += shown[at:start]
        at = end
    return PlainMarkdown("".join([*pieces, *shown[at:]]), removed)


def _marks(text: str) -> Iterator[tuple[int, int]]:
    for whole in (_RULE, _LINE_MARK, _COMMENT):
        yield from (match.span() for match in whole.finditer(text))
    for pair in (_IMAGE, _LINK, *_EMPHASIS):
        yield from (match.span(n) for match in pair.finditer(text) for n in (1, 2))
    yield from (match.span(1) for match in _ESCAPE.finditer(text))


def _bars(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The bars that begin and end a table row."""
    row = text[start:end]
    yield start, start + len(row) - len(row.lstrip(" \t|"))
    yield start + len(row.rstrip(" \t|")), end


def _joined(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        elif end > start:
            joined.append((start, end))
    return tuple(joined)
