"""Normalises the notations in which models cite. Pure, any thread.

Models write [1], [1, 3], 【1†source】 or (source 2); the result has [1], [1][3] and so on, only
with numbers of sources that were sent.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from desktop_rag.core.markup.formulas import verbatim_spans

_SOURCE = r"(?:sources?|src|quellen?|fuentes?|fontes?|fonti|bronnen|bron)"
_WORD = rf"(?:{_SOURCE}|documents?|docs?|references?|refs?|citations?|passages?|excerpts?)"
# Not 0, which begins intervals and lists, and not a year.
_NUMBER = r"[1-9]\d{0,2}(?!\d)"
_NAMED = rf"{_WORD}[ \t]?[:.#]?[ \t]?"
_ITEM = rf"(?:{_NAMED})?{_NUMBER}(?:[ \t]?[-–—][ \t]?{_NUMBER})?"
_AND = r"[ \t]?(?:[,;&+]|,?[ \t](?:and|und|et|y|e|en))[ \t]?"
_LIST = rf"{_ITEM}(?:{_AND}{_ITEM})*"
_PAGE = r"(?:[,;:][ \t]?(?:pages?|pp?|lines?|S|Seite)\.?[ \t]?\d+(?:[ \t]?[-–—][ \t]?\d+)?)?"
_MARKER = re.compile(
    rf"(?i)\[(?P<named>{_NAMED}{_LIST})(?:[ \t]?[:,–—-][^\[\]`\n]{{0,120}})?\](?!\()"
    rf"|\[\[(?P<double>{_LIST})\]\](?!\()"
    rf"|\[(?P<square>{_LIST}){_PAGE}\](?!\()"
    rf"|【(?P<lenticular>{_LIST})(?:[ \t]?[:†][^】`\n]{{0,120}})?】"
    rf"|\((?:see[ \t]|cf\.?[ \t])?(?P<round>{_SOURCE}[ \t]?[:.#]?[ \t]?{_LIST})"
    r"(?:[ \t]?[:,–—-][^()`\n]{0,120})?\)"
)
_RANGE = re.compile(rf"({_NUMBER})(?:[ \t]?[-–—][ \t]?({_NUMBER}))?")
# A [1] after one of these is an array element, not a citation.
_IDENTIFIER = re.compile(r"(?:^|\W)(?:[a-z]|\w*_\w*|\w*[a-z][A-Z]\w*|arr|args|argv|idx|vec)$")
_DEFINITION_START = re.compile(r"(?:^|\n)[ \t>*+-]*$")
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

    Code, links, footnotes, check boxes and array elements are left alone.
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
    # Brackets in formulas are no citations either: \sqrt[3]{x}.
    code = verbatim_spans(text)
    code_starts = [start for start, _ in code]
    skipped_end = taken_end = -1
    for match in _MARKER.finditer(text):
        start, end = match.span()
        before = bisect_right(code_starts, start) - 1
        if before >= 0 and start < code[before][1]:
            continue
        if start == skipped_end or _is_element(text, start):
            skipped_end = end
            continue
        if match["square"] and text.startswith(":", end) and _starts_line(text, start):
            # "[1]: http://…" would turn every [1] of the answer into a link.
            end = _end_of(_COLONS, text, end)
        yield Citation(start, end, _numbers(match), start == taken_end)
        taken_end = end


def _numbers(match: re.Match[str]) -> tuple[int, ...]:
    written = next(group for group in match.groups() if group is not None)
    numbers: list[int] = []
    for first, last in _RANGE.findall(written):
        low, high = int(first), int(last or first)
        numbers += range(low, high + 1) if low <= high else (low, high)
    return tuple(dict.fromkeys(numbers))


def _is_element(text: str, start: int) -> bool:
    if start == 0 or not (text[start - 1].isalnum() or text[start - 1] == "_"):
        return False
    return bool(_IDENTIFIER.search(text[max(0, start - _LONGEST_LOOK_BACK) : start]))


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
