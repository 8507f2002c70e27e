"""The named values of a record: lines "Name: value", cells, front matter, parts by title. Pure."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from desktop_rag.core.parsed import Heading

_LONGEST_NAME = 40
_LONGEST_VALUE = 400
# "Name: value", in a list or bold or not; also Name:: value, and the value on the lines below.
FIELD = re.compile(
    r"(?m)^(?P<indent>[ \t]*)(?:[>:][ \t]*)*(?:[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?)?"
    rf"(?:[*_]{{1,2}}|`)?(?P<name>[^\W_][\w ./()'’&-]{{0,{_LONGEST_NAME}}}?)(?:[*_]{{1,2}}|`)?"
    r"[ \t]?(?:::?|：|[ \t]=)[*_]{0,2}(?=[ \t]|$)[ \t]*(?P<value>[^\n]*)$"
)
# More of them on the same line: "Pie (Status: open; Time: 20 minutes)".
_INLINE = re.compile(
    r"(?:(?<=[;(|•])|(?<=\S [–—-]))[ \t]*[*_]{0,2}(?P<name>[^\W\d_][\w ]{0,30}?)[*_]{0,2}:[*_]{0,2}"
    r"[ \t]+(?P<value>[^;()|\n]*)"
)
_CHECKED = re.compile(r"[ \t]*(?:[-*+•]|\d{1,4}[.)])[ \t]+\[(?P<mark>[ xX✓✔-])\]")
_PAIR = re.compile(r"(?m)^[ \t]*\|[ \t]*(?P<name>[^|\n]{1,40}?)[ \t]*\|(?P<value>[^|\n]*)\|[ \t]*$")
_RULE = re.compile(r"[\s:-]*")
_BELOW = re.compile(r"\n(?P<items>(?:[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+[^\n]*(?:\n|\Z))+)")
_MARKS = re.compile(
    r"^(?:\s*(?:>|#{1,6}(?=\s)|[-*+•](?=\s)|\d{1,4}[.)](?=\s)|\[[ xX✓✔-]\](?=\s)))+\s*"
)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)|\[\[(?:[^\]|\n]*\|)?([^\]\n]*)\]\]")
_EMPHASIS = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)|~~|</?\w[^<>\n]{0,80}>")
_LEAD = re.compile(r"(?:\*\*|__)[^*_\n]{2,}(?:\*\*|__)|\[\[[^\]\n]+\]\]|\[[^\]\n]+\]\([^)\n]*\)")
_LONGEST_TITLE = 120
# The name of the field that says whether a task is done, and its values.
STATE = "☐"
OPEN, DONE = "open", "done"


def plain_line(line: str) -> str:
    """A line without the marks of lists, headings, links and emphasis, cut when it is long."""
    text = _LINK.sub(lambda m: m[1] or m[2] or "", _MARKS.sub("", line))
    text = " ".join(_EMPHASIS.sub("", text).replace("\\|", "|").split()).strip("|# ")
    if len(text) <= _LONGEST_TITLE:
        return text
    return f"{text[:_LONGEST_TITLE].rsplit(' ', 1)[0]} …"


def title_of(line: str) -> str:
    """What stands in bold or is linked at the beginning of a line, else the line."""
    text = _MARKS.sub("", line)
    lead = _LEAD.match(text)
    return plain_line(lead[0] if lead else text)


def fields_of(
    text: str,
    *,
    header: Sequence[str] = (),
    front: Mapping[str, str] | None = None,
    parts: Sequence[tuple[Heading, int]] = (),
) -> dict[str, str]:
    """The fields that occur once in the text of a record, by name in lower case.

    `header` names the cells when it is the row of a table; `parts` are the headings inside it, each
    with the offset in `text` at which its part ends, their offsets being those in `text`.
    """
    found = {name.casefold(): value for name, value in (front or {}).items()}
    if header:
        cells = text.strip().strip("|").split("|")
        named = zip(header, map(plain_line, cells), strict=False)
        return {**found, **{name.casefold(): value for name, value in named if name and value}}
    said = [*_written(text), *_pairs(text), *_titled(text, parts)]
    times = Counter(name for name, _ in said)
    found |= {name: value[:_LONGEST_VALUE] for name, value in said}
    if checked := _CHECKED.match(text):
        found[STATE] = DONE if checked["mark"].strip(" -") else OPEN
    return {name: value for name, value in found.items() if times[name] <= 1}


def _written(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for match in FIELD.finditer(text):
        written = match["value"]
        more = _INLINE.search(written)
        value = plain_line(written[: more.start()].rstrip(" ;(|") if more else written)
        if not value and (below := _BELOW.match(text, match.end())):
            value = ", ".join(map(plain_line, below["items"].splitlines()))
        found.append((match["name"].casefold().strip(), value))
    inline = (
        (m["name"].casefold().strip(), plain_line(m["value"])) for m in _INLINE.finditer(text)
    )
    return [*found, *inline]


def _pairs(text: str) -> list[tuple[str, str]]:
    """The rows of tables with two columns, a name and a value."""
    return [
        (plain_line(m["name"]).casefold(), plain_line(m["value"]))
        for m in _PAIR.finditer(text)
        if not _RULE.fullmatch(m["name"])
    ]


def _titled(text: str, parts: Sequence[tuple[Heading, int]]) -> list[tuple[str, str]]:
    """The parts of a record by their titles, each with its text."""
    return [
        (heading.title.casefold().strip(), _body(text[heading.offset : end]))
        for heading, end in parts
    ]


def _body(text: str) -> str:
    lines = text.partition("\n")[2].splitlines()
    return ", ".join(line for line in map(plain_line, lines) if line)
