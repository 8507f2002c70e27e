"""Normalises the notations in which models cite. Pure, any thread.

Models write [1], [1, 3], 【1†source】, ¹ or (source 2); the result has [1], [1][3] and so on, only
with numbers of sources that were sent.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from desktop_rag.answer.citing.citation_forms import RANGE, marker, source_line
from desktop_rag.answer.citing.citation_places import (
    QuotedParts,
    is_element,
    is_exponent,
    is_interval,
)
from desktop_rag.core.markup.formulas import verbatim_spans

_DEFINITION_START = re.compile(r"(?:^|\n)[ \t>*+-]*$")
# "[1]: http://…" and "[^1]: …" are definitions.
_DEFINED = ("square", "footnote")
_COLONS = re.compile(":*")
_BLANKS = re.compile(r"[ \t]*")
_LONGEST_LOOK_BACK = 60
# Removing a marker can form another one from its surroundings, which takes another round.
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation at [start, end) of a text. `is_glued`: it directly follows another one."""

    start: int
    end: int
    numbers: tuple[int, ...]
    is_glued: bool


def normalise(text: str, known: frozenset[int]) -> tuple[str, int]:
    """The text with each citation as [n], and the number of unknown ones that were removed.

    Code, links, quoted footnotes, exponents, check boxes, intervals and array elements are left
    alone.
    """
    dropped = 0
    for round_number in range(_ROUNDS + 1):
        # In the last round a filler keeps the rest from forming another marker.
        normalised, count = _normalise_once(text, known, "" if round_number < _ROUNDS else "…")
        dropped += count
        if normalised == text:
            break
        text = normalised
    return text, dropped


def citations(text: str) -> Iterator[Citation]:
    """The citations of a text in order, in any notation."""
    # Brackets in formulas are no citations either: \\sqrt[3]{x}.
    code = verbatim_spans(text)
    code_starts = [start for start, _ in code]
    quoted = QuotedParts(text)
    skipped_end = taken_end = -1
    for match in _matches(text):
        start, end = match.span()
        form = match.lastgroup or ""
        before = bisect_right(code_starts, start) - 1
        if before >= 0 and start < code[before][1] and (start, end) != code[before]:
            continue
        if start == skipped_end or _is_other(text, match, form, quoted):
            skipped_end = end
            continue
        if (
            form in ("square", "footnote")
            and text.startswith(":", end)
            and _starts_line(text, start)
        ):
            # "[1]: http://…" would turn every [1] of the answer into a link.
            end = _end_of(_COLONS, text, end)
        first = match.start("listed") if form == "listed" else start
        yield Citation(first, end, _numbers(match[form]), first == taken_end)
        taken_end = end


def _matches(text: str) -> Iterator[re.Match[str]]:
    """The places that look like citations, in order and apart."""
    lines = list(source_line().finditer(text))
    done = 0
    for line in lines:
        yield from marker().finditer(text, done, line.start())
        yield line
        done = line.end()
    yield from marker().finditer(text, done)


def _is_other(text: str, match: re.Match[str], form: str, quoted: QuotedParts) -> bool:
    """True for what only looks like a citation."""
    start, end = match.span()
    if form in ("square", "double", "named", "signed") and is_element(text, start, end):
        return True
    if form in ("square", "escaped"):
        return is_interval(text, start, match[form])
    if form.startswith("raised") or form == "footnote":
        is_power = form != "footnote" and is_exponent(text, start, end)
        return is_power or quoted.has(start)
    return False


def _numbers(written: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for first, last in RANGE.findall(unicodedata.normalize("NFKC", written)):
        low, high = int(first), int(last or first)
        numbers += range(low, high + 1) if low <= high else (low, high)
    return tuple(dict.fromkeys(numbers))


def _starts_line(text: str, start: int) -> bool:
    return bool(_DEFINITION_START.search(text[max(0, start - _LONGEST_LOOK_BACK) : start]))


def _normalise_once(text: str, known: frozenset[int], filler: str) -> tuple[str, int]:
    parts: list[str] = []
    done = dropped = 0
    for run in _runs(text):
        start, end = run[0].start, run[-1].end
        numbers = dict.fromkeys(n for citation in run for n in citation.numbers)
        kept = "".join(f"[{n}]" for n in numbers if n in known)
        dropped += sum(n not in known for n in numbers)
        before = text[done:start]
        if not kept and not filler:
            before, end = _without_gap(text, before, end)
        parts += [before, kept or filler]
        done = end
    return "".join([*parts, text[done:]]), dropped


def _runs(text: str) -> list[list[Citation]]:
    """The citations, grouped with those that directly follow."""
    runs: list[list[Citation]] = []
    for citation in citations(text):
        if citation.is_glued:
            runs[-1].append(citation)
        else:
            runs.append([citation])
    return runs


def _without_gap(text: str, before: str, end: int) -> tuple[str, int]:
    """The text before and the end, without one of the gaps around removed citations."""
    following = text[end : end + 1]
    if following and not (following.isspace() or following in ".,;:!?…)"):
        return before, end
    stripped = before.rstrip(" \t")
    if stripped and not stripped.endswith("\n"):
        return stripped, end
    return before, _end_of(_BLANKS, text, end)


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start
