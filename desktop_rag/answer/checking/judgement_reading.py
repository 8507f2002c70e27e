"""Reads a model's judgements of claims in the forms that models really write. Pure, any thread.

Asked for JSON, they write JSON, fenced or with words around it, single objects, lists without ids,
objects by id, lists that break off, or prose. What could be read as two things is left out.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from desktop_rag.core.claims import Verdict

LONGEST_REASON_CHARS = 400
_VERDICTS = {
    Verdict.SUPPORTED: (
        "supported", "fully supported", "supports", "support", "entailed", "entailment", "yes",
        "true", "correct", "consistent",
    ),
    Verdict.PARTLY: (
        "partly", "partly supported", "partially", "partially supported", "partial",
        "supported in part",
    ),
    Verdict.CONTRADICTED: (
        "contradicted", "contradicts", "contradiction", "contradictory", "refuted", "false",
        "incorrect", "inconsistent",
    ),
    Verdict.NOT_IN_SOURCES: (
        "missing", "not supported", "unsupported", "not in the sources", "not in the passages",
        "not found", "not mentioned", "not stated", "no evidence", "not enough information",
        "neutral", "unknown", "absent",
    ),
}  # fmt: skip
_WORDS = {word: verdict for verdict, words in _VERDICTS.items() for word in words}
_VERDICT_KEYS = ("verdict", "label", "judgement", "judgment", "result", "answer", "status")
_REASON_KEYS = ("why", "reason", "explanation", "rationale", "sentence", "comment", "because")
_ID_KEYS = ("id", "n", "number", "claim", "index", "sentence_id", "claim_id")
_DECODER = json.JSONDecoder(strict=False)
# Python's own notation, and a comma after the last item.
_OBJECT = re.compile(r"\{[^{}]*\}")
_LONGEST_ID_CHARS = 16
_DIGITS = re.compile(r"\d{1,3}")
_NO_LETTERS = re.compile(r"[\W\d_]+")
_ANY_VERDICT = "|".join(sorted(map(re.escape, _WORDS), key=len, reverse=True))
# `2. **Verdict:** Contradicted — it says 20.`; a number, a label and marks may be missing.
_PROSE = re.compile(
    r"^[\s>#*_|`-]*(?:(?:claim|sentence|id)?\W{0,3}(?P<id>\d{1,3})\W{1,4})?"
    r"(?:(?:verdict|judge?ment|answer|result|label)\W{1,5})?"
    r"(?P<verdict>"
    + _ANY_VERDICT
    + r")[*_`\"'”]*(?:[\s:.;–—|*_`-]*$|\s*[:.;–—|-]+[*_`\s]+(?P<why>\S.*)$"
    r"|\s*\((?P<aside>.+)\)\W*$|\s+(?P<by>(?:by|because|since|as)\b.+[^?]$))",
    re.IGNORECASE,
)
# "supported: no", and a list of all choices.
_TAKES_BACK = re.compile(
    r"(?:no|not|false|" + _ANY_VERDICT + r")\b\W*(?:$|[|,:;])|(?:or|and)\b", re.IGNORECASE
)
_WHY = re.compile(
    r"^[\s>#*_|`-]*(?:why|reason|explanation|rationale|because)\b[*_`\s]*[:–—-]?[*_`\s]*(?P<why>\S.*)$",
    re.IGNORECASE,
)
_QUOTES = "\"'`*_ \t"


_Found = tuple[int | None, "Judgement"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of a model on a claim, and its sentence about it, "" for none."""

    verdict: Verdict
    reason: str = ""


def read_judgements(written: str, ids: Sequence[int]) -> dict[int, Judgement]:
    """The judgements by id; without those of unknown ids, and without what cannot be read.

    Where no id is known, judgements count in their order if there is one for each of the `ids`. An
    id that is judged twice, differently, is left out.
    """
    found = list(_from_json(written)) or list(_from_prose(written))
    if len(found) == len(ids) and _is_in_order([number for number, _ in found], ids):
        return dict(zip(ids, (judgement for _, judgement in found), strict=True))
    kept: dict[int, Judgement] = {}
    disputed: set[int] = set()
    for number, judgement in found:
        if number is None or number not in ids:
            continue
        if number in kept and kept[number].verdict is not judgement.verdict:
            disputed.add(number)
        kept.setdefault(number, judgement)
    return {number: judgement for number, judgement in kept.items() if number not in disputed}


def _is_in_order(numbers: Sequence[int | None], ids: Sequence[int]) -> bool:
    """True when the numbers are none of the ids, but count from 0 or 1, or are missing."""
    counted = [list(range(first, first + len(ids))) for first in (0, 1)]
    return not set(numbers) & set(ids) and (
        all(number is None for number in numbers) or list(numbers) in counted
    )


def _from_json(written: str) -> Iterator[_Found]:
    for value in _values(written):
        yield from _judgements_in(value)


def _values(written: str) -> Iterator[object]:
    """The JSON values of a text, the outermost that are complete."""
    place = 0
    while (place := _next_opening(written, place)) >= 0:
        try:
            value, place = _DECODER.raw_decode(written, place)
        except (ValueError, RecursionError):
            literal = _OBJECT.match(written, place)
            place = literal.end() if literal else place + 1
            if literal and (value := _literal(literal[0])):
                yield value
        else:
            yield value


def _next_opening(written: str, place: int) -> int:
    places = [found for mark in "{[" if (found := written.find(mark, place)) >= 0]
    return min(places, default=-1)


def _literal(written: str) -> object:
    """An object that only Python or a forgiving reader takes; None when neither does."""
    try:
        return ast.literal_eval(written)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _judgements_in(value: object) -> Iterator[_Found]:
    if isinstance(value, list):
        for item in cast("list[object]", value):
            verdict = _verdict(item)
            if verdict:
                yield None, Judgement(verdict)
            elif isinstance(item, dict):
                yield from _judgements_in(cast("object", item))
    elif isinstance(value, dict):
        yield from _of_object(cast("dict[Any, Any]", value))


def _of_object(fields: Mapping[Any, Any]) -> Iterator[_Found]:
    named = {str(key).strip().casefold(): value for key, value in fields.items()}
    verdicts = [v for key in _VERDICT_KEYS if (v := _verdict(named.get(key)))]
    if verdicts:
        reason = next((named[key] for key in _REASON_KEYS if isinstance(named.get(key), str)), "")
        number = next((n for key in _ID_KEYS if (n := _number(named.get(key))) is not None), None)
        yield number, Judgement(verdicts[0], _sentence(reason))
        return
    for key, value in named.items():
        number = _number(key)
        if number is None:
            yield from _judgements_in(value)
        elif verdict := _verdict(value):
            yield number, Judgement(verdict)
        elif isinstance(value, dict):
            for _, judgement in _of_object(cast("dict[Any, Any]", value)):
                yield number, judgement


def _from_prose(written: str) -> Iterator[_Found]:
    """Lines that begin with a verdict; the reason may have a line of its own."""
    lines = [line for line in written.splitlines() if line.strip(" \t`")]
    for place, line in enumerate(lines):
        if found := _PROSE.match(line):
            said = found["why"] or found["aside"] or found["by"] or ""
            if _TAKES_BACK.match(said):
                continue
            after = _WHY.match(lines[place + 1]) if place + 1 < len(lines) else None
            said = said or (after["why"] if after else "")
            named = _WHY.match(said)
            number = int(found["id"]) if found["id"] else None
            verdict = _WORDS[found["verdict"].casefold()]
            yield number, Judgement(verdict, _sentence(named["why"] if named else said))


def _verdict(value: object) -> Verdict | None:
    if isinstance(value, bool):
        return Verdict.SUPPORTED if value else None
    if not isinstance(value, str):
        return None
    return _WORDS.get(_NO_LETTERS.sub(" ", value).strip().casefold())


def _number(value: object) -> int | None:
    """The number of `2`, `"2"`, `"[2]"` and `"claim 2"`."""
    if isinstance(value, int):
        return None if isinstance(value, bool) else value
    if not isinstance(value, str) or len(value) > _LONGEST_ID_CHARS:
        return None
    digits = _DIGITS.findall(value)
    return int(digits[0]) if len(digits) == 1 else None


def _sentence(said: str) -> str:
    """A reason on one line, without marks around it, cut where it is long."""
    plain = " ".join(said.split()).strip(_QUOTES)
    if len(plain) <= LONGEST_REASON_CHARS:
        return plain
    return plain[:LONGEST_REASON_CHARS].rsplit(" ", 1)[0] + " …"
