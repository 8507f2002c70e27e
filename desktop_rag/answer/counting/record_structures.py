"""Finds the structures of records in documents, what the records of each share, and their names.

Records are named by the folder, file, heading, column or type they stand under, and by words that
most of their titles have. Pure; any thread.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, cached_property
from itertools import takewhile

from desktop_rag.answer.counting.counting_question import plain_words
from desktop_rag.core.domain import Document
from desktop_rag.core.parsed import Heading, TableHeader
from desktop_rag.core.places import Places
from desktop_rag.core.terms import terms


class Kind(StrEnum):
    """The form of records in documents, outer forms first; answer_texts.toml names them."""

    FILE = "file"
    SECTION = "section"
    PART = "part"
    ENTRY = "entry"
    TERM = "term"
    TITLED = "titled"
    ROW = "row"
    TASK = "task"
    ITEM = "item"
    NUMBERED = "numbered"


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document with its text and structure."""

    document: Document
    text: str
    places: str = ""
    headings: tuple[Heading, ...] = ()
    tables: tuple[TableHeader, ...] = ()

    @property
    def name(self) -> str:
        """The title, or the file name."""
        return self.document.title or self.document.path.stem


@dataclass(frozen=True, slots=True)
class Record:
    """One entry: the text [start, end) of a document.

    `fields` are its named values by the name in lower case, `path` the titles of the headings above
    it, the nearest last.
    """

    source: ReadDocument
    start: int
    end: int
    title: str
    fields: Mapping[str, str]
    path: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text of the record."""
        return self.source.text[self.start : self.end]


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
    text: str, *, header: Sequence[str] = (), parts: Sequence[tuple[Heading, int]] = ()
) -> dict[str, str]:
    """The fields that occur once in the text of a record, by name in lower case.

    `header` names the cells when it is the row of a table; `parts` are the headings inside it, each
    with the offset in `text` at which its part ends, their offsets being those in `text`.
    """
    if header:
        cells = text.strip().strip("|").split("|")
        named = zip(header, map(plain_line, cells), strict=False)
        return {name.casefold(): value for name, value in named if name and value}
    said = [*_written(text), *_titled(text, parts)]
    times = Counter(name for name, _ in said)
    found = {name: value[:_LONGEST_VALUE] for name, value in said}
    if checked := _CHECKED.match(text):
        found[STATE] = DONE if checked["mark"].strip(" -") else OPEN
    return {name: value for name, value in found.items() if times[name] <= 1}


def _written(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for match in FIELD.finditer(text):
        written = match["value"]
        more = _INLINE.search(written)
        value = plain_line(written[: more.start()].rstrip(" ;(|") if more else written)
        found.append((match["name"].casefold().strip(), value))
    inline = (
        (m["name"].casefold().strip(), plain_line(m["value"])) for m in _INLINE.finditer(text)
    )
    return [*found, *inline]


def _titled(text: str, parts: Sequence[tuple[Heading, int]]) -> list[tuple[str, str]]:
    return [
        (heading.title.casefold().strip(), _body(text[heading.offset : end]))
        for heading, end in parts
    ]


def _body(text: str) -> str:
    lines = text.partition("\n")[2].splitlines()
    return ", ".join(line for line in map(plain_line, lines) if line)


_HIDDEN = re.compile(
    r"(?ms)^[ \t]{0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]{0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|<!--.*?(?:-->|\Z)"
)
_NOT_NEWLINE = re.compile(r"[^\n]")
_RULE = re.compile(
    r"(?m)(?:\A|(?<=\n\n)|(?<=\n))[ ]{0,3}(?:-{3,}|\*{3,}|_{3,}|(?:[-*_] ){2,}[-*_])[ \t]*$"
)
_ITEM = re.compile(
    r"(?m)^(?P<indent>[ \t]*)(?:(?P<bullet>[-*+•])|\d{1,4}[.)])[ \t]+"
    r"(?P<box>\[[ xX✓✔-]\][ \t]+)?(?P<body>\S[^\n]*)$"
)
_TERM = re.compile(r"(?m)^(?P<title>[^\s:|>#*+-][^\n]{0,120})\n\n?:[ \t]+\S")
_CALL_OUT = re.compile(r"(?m)^>[ \t]*\[!\w+\][+-]?[ \t]+(?P<title>\S[^\n]*)$")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_CELLS = re.compile(r"(?<!\\)\|")
_LEAST = 2
_LEAD_SHARE = 0.7
_DEEPEST_TOP = 1  # spaces before an item that is not inside another


@dataclass(frozen=True, slots=True)
class Span:
    """The text [start, end) of a record, with its title and the header of its table."""

    start: int
    end: int
    title: str
    header: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spans:
    """The records of one form in a text. `labels` are words of the form itself."""

    kind: Kind
    spans: tuple[Span, ...]
    labels: tuple[str, ...] = ()


def visible(text: str) -> str:
    """The text with code and comments replaced by spaces."""
    return _HIDDEN.sub(lambda match: _NOT_NEWLINE.sub(" ", match[0]), text)


def spans_of(
    text: str, headings: Sequence[Heading], tables: Sequence[TableHeader] = ()
) -> list[Spans]:
    """All forms with at least two records, the outer ones first; none in code or comments."""
    shown = visible(text)
    ends = sorted(heading.offset for heading in headings)
    found = [
        *_sections(text, headings),
        Spans(Kind.PART, tuple(_span_parts(shown))),
        *_entries(shown, ends),
        Spans(Kind.TERM, tuple(_led(shown, _TERM, ends))),
        Spans(Kind.TITLED, tuple(_led(shown, _CALL_OUT, ends))),
        *_rows(shown, tables),
        *_items(shown, ends),
    ]
    return [spans for spans in found if len(spans.spans) >= _LEAST]


def _sections(text: str, headings: Sequence[Heading]) -> Iterator[Spans]:
    for level in sorted({heading.level for heading in headings}):
        spans: list[Span] = []
        for place, heading in enumerate(headings):
            if heading.level == level:
                after = (h.offset for h in headings[place + 1 :] if h.level <= level)
                spans.append(Span(heading.offset, next(after, len(text)), heading.title.strip()))
        yield Spans(Kind.SECTION, tuple(spans))


def _span_parts(text: str) -> Iterator[Span]:
    """What stands between horizontal rules."""
    start = 0
    rules = [m for m in _RULE.finditer(text) if not _is_underline(text, m.start())]
    for begin, end in [*((m.start(), m.end()) for m in rules), (len(text), len(text))]:
        if rules and (title := _first_line(text[start:begin])):
            yield Span(start, begin, title)
        start = end


def _is_underline(text: str, start: int) -> bool:
    """True for a rule directly below a line of text, which makes that a heading."""
    before = text[:start].rstrip(" \t")
    return before.endswith("\n") and before[:-1].rpartition("\n")[2].strip() != ""


def _entries(text: str, ends: Sequence[int]) -> Iterator[Spans]:
    """Blocks of named values, each beginning with the same name."""
    lines = [m for m in FIELD.finditer(text) if not m["indent"]]
    counts = Counter(m["name"].casefold() for m in lines)
    if not counts:
        return
    most = max(counts.values())
    lead = next(n for m in lines if counts[n := m["name"].casefold()] >= _LEAD_SHARE * most)
    firsts = [m for m in lines if m["name"].casefold() == lead]
    if len(counts) < _LEAST:
        return
    spans = _ended([(m.start(), plain_line(m["value"])) for m in firsts], ends, len(text))
    yield Spans(Kind.ENTRY, tuple(spans), (lead,))


def _led(text: str, pattern: re.Pattern[str], ends: Sequence[int]) -> Iterator[Span]:
    """Records that each begin with a match, which has their title."""
    begun = [(m.start(), plain_line(m["title"])) for m in pattern.finditer(text)]
    yield from _ended(begun, ends, len(text))


def _ended(begun: Sequence[tuple[int, str]], ends: Sequence[int], last: int) -> Iterator[Span]:
    """Spans up to the next beginning or heading."""
    for place, (start, title) in enumerate(begun):
        end = begun[place + 1][0] if place + 1 < len(begun) else last
        heading = bisect_right(ends, start)
        yield Span(start, min([end, *ends[heading : heading + 1]]), title)


def _rows(text: str, tables: Sequence[TableHeader]) -> Iterator[Spans]:
    """The rows of the tables with the same header."""
    rows: dict[tuple[str, ...], list[Span]] = {}
    for table in tables:
        header = tuple(cell.strip() for cell in table.text.split(" | "))
        for start, line in _lines(text, table.start, table.end):
            cells = [cell.strip() for cell in line.split(" | ")]
            if line.strip():
                span = Span(start, start + len(line), _row_title(cells), header)
                rows.setdefault(header, []).append(span)
    lines = list(_lines(text, 0, len(text)))
    header: tuple[str, ...] = ()
    for place, (start, line) in enumerate(lines):
        if "|" not in line:
            header = ()
        elif place and _TABLE_RULE.fullmatch(line) and "|" in lines[place - 1][1]:
            header = tuple(_cells(lines[place - 1][1]))
        elif header and not _TABLE_RULE.fullmatch(line) and any(cells := _cells(line)):
            span = Span(start, start + len(line), _row_title(cells), header)
            rows.setdefault(header, []).append(span)
    yield from (Spans(Kind.ROW, tuple(spans), key) for key, spans in rows.items())


def _cells(line: str) -> list[str]:
    return [plain_line(cell) for cell in _CELLS.split(line.strip().strip("|"))]


def _row_title(cells: Sequence[str]) -> str:
    """The first cell with letters."""
    named = (cell for cell in cells if any(map(str.isalpha, cell)))
    return next(named, cells[0] if cells else "")


def _items(text: str, ends: Sequence[int]) -> Iterator[Spans]:
    """Tasks at any depth, and the items of lists that are not inside others."""
    found = [m for m in _ITEM.finditer(text) if not _RULE.fullmatch(m[0])]
    starts = [m.start() for m in found]
    for kind in (Kind.TASK, Kind.ITEM, Kind.NUMBERED):
        chosen = [m for m in found if _kind_of(m) is kind]
        own = starts if kind is Kind.TASK else [m.start() for m in chosen]
        yield Spans(kind, tuple(_item_span(text, m, own, ends) for m in chosen))


def _kind_of(item: re.Match[str]) -> Kind | None:
    if item["box"]:
        return Kind.TASK
    if len(item["indent"].replace("\t", "    ")) > _DEEPEST_TOP:
        return None
    return Kind.ITEM if item["bullet"] else Kind.NUMBERED


def _item_span(text: str, item: re.Match[str], starts: Sequence[int], ends: Sequence[int]) -> Span:
    """An item up to the next one, a heading, or a paragraph that is not indented."""
    after = bisect_right(starts, item.start())
    end = starts[after] if after < len(starts) else len(text)
    heading = bisect_left(ends, item.end())
    end = min([end, *ends[heading : heading + 1]])
    if left := re.search(r"\n[ \t]*\n(?=\S)", text[item.start() : end]):
        end = item.start() + left.start()
    return Span(item.start(), end, title_of(item["body"]))


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    for line in text[start:end].splitlines(keepends=True):
        yield start, line.rstrip("\r\n")
        start += len(line)


def _first_line(text: str) -> str:
    return next((plain_line(line) for line in text.splitlines() if line.strip()), "")


# A field of so many of the records belongs to all of them.
_SHARED = 0.6
_MOST_SHARED = 3
# The parts of records have the same titles again and again, records do not.
_LEAST_DISTINCT = 0.7
_LEAST_DISTINCT_OF = {Kind.TASK: 0.3, Kind.ROW: 0.5}
# Up to so many files may have a title in common by chance.
_FEW_FILES = 2
_REPEATED = 0.3


@dataclass(frozen=True)
class FoundStructure:
    """Records of one form, with their weight in documents of `total_chars`.

    `labels` are words of the form itself, such as the name of a column.
    """

    kind: Kind
    records: tuple[Record, ...]
    labels: tuple[str, ...] = ()
    total_chars: int = 1

    @cached_property
    def shared(self) -> dict[str, int]:
        """The fields that most records have, with the number of those that have them."""
        if len(self.records) <= 1:
            return {}
        counts = Counter(name for r in self.records for name in r.fields if name != STATE)
        least = _SHARED * len(self.records)
        return {name: count for name, count in counts.most_common() if count >= least}

    @cached_property
    def uniformity(self) -> float:
        """The mean share of the records that have the most common fields; 0 without any."""
        most = list(self.shared.values())[:_MOST_SHARED]
        return sum(most) / len(most) / len(self.records) if most else 0.0

    @cached_property
    def coverage(self) -> float:
        """The share of all text that is in the records."""
        if self.kind is Kind.FILE:
            return 1.0
        return sum(r.end - r.start for r in self.records) / max(1, self.total_chars)

    @cached_property
    def is_distinct(self) -> bool:
        """False for parts of records, whose titles repeat from one to the next."""
        if self.kind is Kind.FILE:
            return True
        records = self.records
        homes = {(r.source.document.document_id, r.path) for r in records}
        whole = self.kind is Kind.ROW and len(homes) == 1
        titles = {r.text if whole else _name_of(r.title).casefold() for r in records}
        least = _LEAST_DISTINCT_OF.get(self.kind, _LEAST_DISTINCT)
        return len(titles) >= least * len(records)


def structures_in(documents: Sequence[ReadDocument]) -> list[FoundStructure]:
    """The structures of all documents together, the outer forms first."""
    total = sum(len(d.text) for d in documents)
    inside: dict[tuple[Kind, object], list[Record]] = {}
    labels: dict[tuple[Kind, object], tuple[str, ...]] = {}
    for document in documents:
        for spans in spans_of(document.text, document.headings, document.tables):
            key = (spans.kind, _form(spans, document))
            inside.setdefault(key, []).extend(_records(document, spans))
            labels[key] = spans.labels
    found = [
        FoundStructure(kind, tuple(records), labels[kind, form], total)
        for (kind, form), records in inside.items()
    ]
    if len(documents) > 1:
        found = [_without_common(s, len(documents)) for s in found]
        files = tuple(map(_file_record, documents))
        found.insert(0, FoundStructure(Kind.FILE, files, (), total))
    order = list(Kind)
    found.sort(key=lambda s: order.index(s.kind))
    return [s for s in found if len(s.records) >= _LEAST and s.is_distinct]


def _form(spans: Spans, document: ReadDocument) -> object:
    """What tells structures of one kind apart: the level of headings, the header of a table."""
    if spans.kind is Kind.SECTION:
        starts = {span.start for span in spans.spans}
        return min(h.level for h in document.headings if h.offset in starts)
    return tuple(label.casefold() for label in spans.labels)


def _without_common(structure: FoundStructure, files: int) -> FoundStructure:
    """The structure without what many files have under the same title: parts of one record each."""
    homes: dict[str, set[str]] = {}
    for record in structure.records:
        name = _name_of(record.title).casefold()
        homes.setdefault(name, set()).add(record.source.document.document_id)
    most = max(_FEW_FILES, _REPEATED * files)
    kept = [r for r in structure.records if len(homes[_name_of(r.title).casefold()]) <= most]
    return replace(structure, records=tuple(kept))


def _name_of(title: str) -> str:
    """The name of a title "Name: value", which repeats when it is a field; else the title."""
    match = FIELD.match(title)
    return match["name"] if match else title


def _file_record(document: ReadDocument) -> Record:
    headings = document.headings
    firsts = [h for h in headings if h.level == headings[0].level]
    deeper = headings[1:] if len(firsts) == 1 else headings
    parts = _parts(document, deeper, 0, len(document.text))
    # The text has all of the front matter but these.
    row = document.document
    front = {"date": row.dated, "tags": ", ".join(row.all_tags)}
    fields = {n: v for n, v in front.items() if v} | fields_of(document.text, parts=parts)
    title = document.document.title or (firsts[0].title if len(firsts) == 1 else document.name)
    return Record(document, 0, len(document.text), title, fields)


def _records(document: ReadDocument, spans: Spans) -> Iterator[Record]:
    places = Places((), document.headings)
    for span in spans.spans:
        text = document.text[span.start : span.end]
        fields = fields_of(text, header=span.header, parts=_below(document, span))
        path = places.path(span.start)
        path = path[:-1] if spans.kind is Kind.SECTION else path
        yield Record(document, span.start, span.end, span.title, fields, path)


def _below(document: ReadDocument, span: Span) -> list[tuple[Heading, int]]:
    inside = [h for h in document.headings if span.start < h.offset < span.end]
    return _parts(document, inside, span.start, span.end) if inside else []


def _parts(
    document: ReadDocument, headings: Sequence[Heading], start: int, end: int
) -> list[tuple[Heading, int]]:
    """The headings with offsets from `start` on, each with the end of its part."""
    ends = [*(heading.offset for heading in headings), end][1:]
    return [
        (Heading(heading.offset - start, heading.level, heading.title), last - start)
        for heading, last in zip(headings, ends, strict=True)
    ]


# How surely a word names records: by what stands right above them or in most of their titles, by
# what holds all of them.
DIRECT, AROUND = 3, 2
_MOST = 0.6
_LEAST_LETTERS = 4
_ALIKE = 0.7
_FIRST = 3
_LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pl", "pt")
_FOLDERS_ABOVE = 3
_FIRST_WORDS = 4


def is_form(word: str, other: str) -> bool:
    """True for two forms of one word in any of the languages."""
    if word == other:
        return True
    if _folded(word)[:_FIRST] != _folded(other)[:_FIRST]:
        return False
    return not _stems(word).isdisjoint(_stems(other))


def is_alike(word: str, other: str) -> bool:
    """True for two forms of one word, words that begin alike, and a compound that ends with one."""
    if is_form(word, other):
        return True
    short, long = sorted((word, other), key=len)
    if len(short) < _LEAST_LETTERS or not short.isalpha():
        return False
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(short, long, strict=False))
    same = sum(1 for _ in pairs)
    is_begun = same >= max(_LEAST_LETTERS, _ALIKE * len(long))
    return is_begun or (len(short) > _LEAST_LETTERS and long.endswith(short))


@cache
def _folded(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


@cache
def _stems(word: str) -> frozenset[str]:
    return frozenset(term for code in _LANGUAGES for term in terms(word, code))


def names_any(word: str, labels: Iterable[str]) -> bool:
    """True when the word is alike to a word of one of the labels."""
    return any(is_alike(word, part) for label in labels for part in plain_words(_spaced(label)))


def _spaced(label: str) -> str:
    return label.replace("_", " ").replace("-", " ")


def strength(word: str, structure: FoundStructure, around: Sequence[str]) -> int:
    """How surely a word names the records; 0 when it doesn't. `around` are names of the set."""
    records = structure.records
    common = [] if structure.kind is Kind.FILE else _common_words(records)
    if names_any(word, [*structure.labels, *common]) or near(word, records):
        return DIRECT
    return AROUND if names_any(word, [*around, *_folders(records), *_homes(structure)]) else 0


def near(word: str, records: Sequence[Record]) -> tuple[Record, ...]:
    """The records below a heading that the word names."""
    named = {path: names_any(word, path) for path in {record.path for record in records}}
    return tuple(record for record in records if named[record.path])


def _common_words(records: Sequence[Record]) -> list[str]:
    """The words that most titles have: "Recipe 12"."""
    counts = Counter(w for r in records for w in set(plain_words(_spaced(r.title))[:_FIRST_WORDS]))
    return [word for word in _frequent(counts, len(records)) if word.isalpha()]


def _frequent(counts: Counter[str], total: int) -> list[str]:
    return [name for name, count in counts.items() if count >= _MOST * total]


def _folders(records: Sequence[Record]) -> list[str]:
    """The names of the nearest folders that hold most of the files, those in others included."""
    above = Counter(
        folder for r in records for folder in r.source.document.path.parents[:_FOLDERS_ABOVE]
    )
    return [folder.name for folder, count in above.items() if count >= _MOST * len(records)]


def _homes(structure: FoundStructure) -> list[str]:
    """The names and first headings of the files; of files as records, what most names share."""
    documents = {r.source.document.document_id: r.source for r in structure.records}
    stems = [d.document.path.stem for d in documents.values()]
    if structure.kind is Kind.FILE:
        words = Counter(word for stem in stems for word in set(plain_words(_spaced(stem))))
        return [*_frequent(words, len(stems)), *_common_words(structure.records)]
    titles = [h.title for d in documents.values() for h in d.headings[:1]]
    return [*stems, *(d.name for d in documents.values()), *titles]
