"""Finds the structures of records in documents, and what the records of each share. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from desktop_rag.answer.counting.record_fields import FIELD, STATE, fields_of
from desktop_rag.answer.counting.record_forms import Kind, ReadDocument, Record, Structure
from desktop_rag.answer.counting.record_spans import Span, Spans, spans_of
from desktop_rag.core.parsed import Heading
from desktop_rag.core.places import Places

# A field of so many of the records belongs to all of them.
_SHARED = 0.6
_MOST_SHARED = 3
# The parts of records have the same titles again and again, records do not.
_LEAST_DISTINCT = 0.7
_LEAST_DISTINCT_OF = {Kind.TASK: 0.3, Kind.DATED: 0.3, Kind.ROW: 0.5}
# Up to so many files may have a title in common by chance.
_FEW_FILES = 2
_REPEATED = 0.3
_LEAST = 2


@dataclass(frozen=True)
class FoundStructure(Structure):
    """A structure with its weight in the documents; `total_chars` is the length of all of them."""

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
    fields = fields_of(document.text, front=document.front, parts=parts)
    title = document.document.title or (firsts[0].title if len(firsts) == 1 else document.name)
    return Record(document, 0, len(document.text), title, fields)


def _records(document: ReadDocument, spans: Spans) -> Iterator[Record]:
    places = Places((), document.headings)
    for span in spans.spans:
        text = document.text[span.start : span.end]
        yield Record(
            document,
            span.start,
            span.end,
            span.title,
            fields_of(text, header=span.header, parts=_below(document, span)),
            _path(places, spans.kind, span),
        )


def _path(places: Places, kind: Kind, span: Span) -> tuple[str, ...]:
    path = places.path(span.start)
    return path[:-1] if kind is Kind.SECTION else path


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
