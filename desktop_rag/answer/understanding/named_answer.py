"""Answers from the files that a question names, whole or by their outline. Worker threads."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby

from desktop_rag.answer.prompting.prompt import ANSWER_SHARE
from desktop_rag.answer.sources.attachments import passage_of, whole_texts
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.sources.source_merging import numbered
from desktop_rag.answer.understanding.file_words import language_around
from desktop_rag.answer.writing.answer_texts import AnswerTexts, texts_for
from desktop_rag.answer.writing.answers import AnswerDraft, AnswerRequest
from desktop_rag.answer.writing.excerpt_candidates import is_prose
from desktop_rag.answer.writing.excerpt_units import Unit, units_of
from desktop_rag.answer.writing.extractive_answer import quoted
from desktop_rag.core.conversation import (
    AnswerEvent,
    FileCounts,
    SearchNotes,
    SourceRef,
    SourcesFound,
    TextDelta,
)
from desktop_rag.core.domain import Document
from desktop_rag.core.parsed import Heading, Mark, TableHeader
from desktop_rag.core.places import places_from_json
from desktop_rag.core.question import NamedFiles
from desktop_rag.models.ports import Reader
from desktop_rag.store.contract.documents import DocumentStore

_BEGINNING_CHARS = 500
_LONGEST_SENTENCE = 220
_LONGEST_SOURCE = 1_500
_LONGEST_SEARCH = 3_000
_MOST_PARAGRAPHS = 8
_LEAST_PROSE = 25
_LOUD_SHARE = 0.3
_MOST_COLUMNS = 12
_COLUMN = " | "
_BLANK = re.compile(r"\n\s*\n")
# What `plain` makes of a line to fill in.
_GAP = " … "
_TITLE_SHARE = 0.55
_MOST_BRACKETS = 2
# Boxes to tick, also as fonts of symbols have them.
_BOXES = re.compile(r"[☐☑☒□■þ¨]\s")
_MARKS = re.compile(r"^[\s#>*•-]+")


@dataclass(frozen=True, slots=True)
class Outline:
    """The text in Markdown, and the sources that it cites."""

    text: str
    sources: tuple[SourceRef, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of the outline, and the text [start, end) that it comes from."""

    text: str
    start: int
    end: int


def outline_of(
    document: Document,
    text: str,
    places: str,
    texts: AnswerTexts,
    *,
    first: int = 1,
    most: int = 20,
) -> Outline:
    """The outline of a document in up to `most` lines, its sheets, or its beginning and its parts.

    All is quoted and cited, with sources numbered from `first` on; `texts` are the sentences in the
    language of the question.
    """
    marks, headings, tables = places_from_json(places)
    entries = list(_sheets(document, text, marks, tables, texts)) or _parts(text, headings, most)
    entries = entries[:most]
    passages = [
        passage_of(document, text[e.start : min(e.end, e.start + _LONGEST_SOURCE)], places, e.start)
        for e in entries
    ]
    lines = [f"{e.text} [{n}]" for n, e in enumerate(entries, start=first)]
    if lines and not lines[0].startswith("- "):
        lines[0] += "\n"
    sources = tuple(replace(s, n=n) for n, s in enumerate(numbered(passages), start=first))
    return Outline("\n".join(lines), sources)


def _sheets(
    document: Document,
    text: str,
    marks: Sequence[Mark],
    tables: Sequence[TableHeader],
    texts: AnswerTexts,
) -> Iterator[_Entry]:
    """A line for each table, and for each sheet without a table whose columns have names."""
    offsets = [mark.offset for mark in marks]
    found: list[_Entry] = []
    for table in tables:
        place = bisect_right(offsets, table.start) - 1
        anchor = marks[max(0, place)].anchor if marks else None
        if anchor is None or not anchor.cells:
            return
        rows = [line for line in text[table.start : table.end].splitlines() if line.strip()]
        columns = [quoted(n) for name in table.text.split(_COLUMN) if (n := name.strip(" |"))]
        named = texts.first_of(columns, _MOST_COLUMNS)
        sheet = quoted(anchor.sheet or document.title or document.name)
        said = texts.counted("in_sheet", len(rows), columns=named)
        found.append(_Entry(f"- **{sheet}**: {said}", table.start, table.end))
    yield from sorted([*found, *_nameless(marks, len(text), found, texts)], key=lambda e: e.start)


def _nameless(
    marks: Sequence[Mark], end: int, found: Sequence[_Entry], texts: AnswerTexts
) -> Iterator[_Entry]:
    """A line with the number of rows for each sheet that no other line is about."""
    if not marks:
        return
    by_sheet = [(sheet, list(group)) for sheet, group in groupby(marks, lambda m: m.anchor.sheet)]
    starts = [group[0].offset for _, group in by_sheet]
    for (sheet, group), start, stop in zip(by_sheet, starts, [*starts[1:], end], strict=True):
        rows = sum(bool(mark.anchor.cells) for mark in group)
        if sheet and rows and not any(start <= entry.start < stop for entry in found):
            yield _Entry(f"- **{quoted(sheet)}**: {texts.counted('rows', rows)}", start, stop)


def _parts(text: str, headings: Sequence[Heading], most: int) -> list[_Entry]:
    """The beginning, and each part with its first sentence."""
    kept = _kept(headings, most)
    titles = frozenset(_plain(heading.title).casefold() for heading in headings)
    first = kept[0].offset if kept else len(text)
    beginning = _beginning(text[:first], titles)
    if not kept:
        last = beginning[0].end if beginning else 0
        return [*beginning, *_paragraphs_between(text, last, min(most, _MOST_PARAGRAPHS))]
    entries, top = list(beginning), min(heading.level for heading in kept)
    ends = [*(heading.offset for heading in kept[1:]), len(text)]
    for heading, end in zip(kept, ends, strict=True):
        said = _first_sentence(text[heading.offset : end], titles)
        title = f"{'  ' * (heading.level - top)}- **{quoted(_plain(heading.title))}**"
        line = f"{title}: {quoted(said)}" if said else title
        entries.append(_Entry(line, heading.offset, end))
    return entries


def _kept(headings: Sequence[Heading], most: int) -> list[Heading]:
    """The headings to show: as many levels as fit, without a title above everything."""
    if len(headings) > 1 and sum(h.level == headings[0].level for h in headings) == 1:
        headings = [h for h in headings[1:] if h.title.strip()]
    for deepest in sorted({h.level for h in headings}, reverse=True):
        within = [h for h in headings if h.level <= deepest]
        if len(within) < most:
            return within
    return list(headings[: most - 1])


def _beginning(text: str, titles: frozenset[str]) -> list[_Entry]:
    shown, begins, ends = list[str](), 0, 0
    for start, end in _paragraphs(text[: 8 * _BEGINNING_CHARS]):
        paragraph = " ".join(filter(_is_sentence, _prose(text[start:end], titles)))
        if not paragraph:
            if shown:
                break
            continue
        begins, ends = (begins if shown else start), end
        shown.append(paragraph)
        if sum(map(len, shown)) >= _BEGINNING_CHARS // 2:
            break
    if not shown:
        return []
    return [_Entry(quoted(_cut(" ".join(shown), _BEGINNING_CHARS)), begins, ends)]


def _paragraphs_between(text: str, first: int, most: int) -> list[_Entry]:
    """Paragraphs at equal distances over the rest of a text without headings."""
    rest = [(first + start, first + end) for start, end in _paragraphs(text[first:])]
    found = [
        _Entry(f"- {quoted(said)}", start, end)
        for start, end in rest
        if (said := _first_sentence(text[start:end], frozenset()))
    ]
    step = max(1.0, len(found) / most)
    return [found[int(n * step)] for n in range(int(len(found) / step))]


def _first_sentence(text: str, titles: frozenset[str]) -> str:
    """The first sentence of prose that is no heading, else whatever is said; "" for nothing."""
    said = list(_prose(text[:_LONGEST_SEARCH], titles))
    return _cut(next(filter(_is_sentence, said), next(iter(said), "")), _LONGEST_SENTENCE)


def _prose(text: str, titles: frozenset[str]) -> Iterator[str]:
    """The sentences, without headings, rows of figures and title pages."""
    lines = (
        line for line in text.splitlines() if not line or _plain(line).casefold() not in titles
    )
    for unit in units_of("\n".join(lines)):
        is_text = not (unit.cells or unit.text[-1:].isdigit() or _is_loud(unit.text))
        if is_text and len(unit.text) >= _LEAST_PROSE and is_prose(unit.text):
            yield unit.text


def _is_sentence(text: str) -> bool:
    """False for names, fields to fill in and the rest of a sentence, as on title pages."""
    words = [word for word in text.split() if word[0].isalpha()]
    capital = sum(word[0].isupper() for word in words)
    is_whole = not (text[0].islower() or text[0] in "([" or _GAP in text[:-1])
    is_form = text.count("(") > _MOST_BRACKETS or bool(_BOXES.search(text))
    return is_whole and not is_form and capital <= _TITLE_SHARE * len(words)


def _is_loud(text: str) -> bool:
    """True for text with many capitals, such as the title page of a report."""
    letters = [character for character in text if character.isalpha()]
    return sum(map(str.isupper, letters)) > _LOUD_SHARE * len(letters)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _BLANK.finditer(text):
        if start < match.start():
            yield start, match.start()
        start = match.end()
    if start < len(text):
        yield start, len(text)


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub("", text).split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} …"


# Two texts with this share of their sentences in common are versions of one, and two sentences with
# this share of their letters.
_LEAST_SAME = 0.25
_LEAST_ALIKE = 0.6
_MOST_DIFFERENCES = 20


@dataclass(frozen=True, slots=True)
class Version:
    """A document with its text and places, as the store has them."""

    document: Document
    text: str
    places: str


def differences_of(old: Version, new: Version, texts: AnswerTexts) -> Outline | None:
    """What the sentences of two versions of a text have different; None for other texts."""
    before, after = ({_plain(u.text): u for u in units_of(v.text)} for v in (old, new))
    same = before.keys() & after.keys()
    if len(same) < _LEAST_SAME * min(len(before), len(after)) or not same:
        return None
    gone, come = ([t for t in each if t not in same] for each in (before, after))
    sources, lines = list[SourceRef](), list[str]()
    only_in = [texts.said("only_in", name=quoted(v.document.name)) for v in (old, new)]

    def cited(version: Version, unit: Unit) -> str:
        text, place = version.text[unit.start :][: len(unit.text)], unit.start
        passage = passage_of(version.document, text, version.places, place)
        sources.append(replace(numbered([passage])[0], n=len(sources) + 1))
        return f"{quoted(_plain(unit.text))} [{len(sources)}]"

    for text in come[:_MOST_DIFFERENCES]:
        alike = max(gone, key=lambda g: _likeness(g, text), default="")
        if _likeness(alike, text) >= _LEAST_ALIKE:
            gone.remove(alike)
            lines.append(f"- {cited(old, before[alike])} → {cited(new, after[text])}")
        else:
            lines.append(f"- {only_in[1]} {cited(new, after[text])}")
    for text in gone[:_MOST_DIFFERENCES]:
        lines.append(f"- {only_in[0]} {cited(old, before[text])}")
    names = texts.joined([f"**{quoted(v.document.name)}**" for v in (old, new)])
    head = texts.counted("same", len(same), names=names)
    return Outline("\n".join([f"{head}\n", *lines]), tuple(sources))


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio() if one else 0.0


_UNREAD = "There is no text to answer from."
# The share of the prompt for whole texts.
_WHOLE_SHARE = 0.7
_MOST_OUTLINES = 20
_TWO = 2
# Of several files, a few lines each.
_LINES_OF_ONE, _LINES_OF_SEVERAL = 20, 5


class NamedAnswer:
    """Fills drafts from named files."""

    def __init__(self, finder: SourceFinder, documents: DocumentStore) -> None:
        self._finder = finder
        self._documents = documents

    def read_for(self, model: Reader, draft: AnswerDraft, named: NamedFiles) -> bool:
        """Give the draft the whole of the named files where it fits into the prompt; True then.

        Else it keeps the best passages of them, relevant or not: the person knows where to look.
        """
        room = int(model.context_tokens * (1 - ANSWER_SHARE) * _WHOLE_SHARE)
        documents = self._documents.get(named.document_ids)
        # In the order of the question.
        documents.sort(key=lambda d: named.document_ids.index(d.document_id))
        whole = whole_texts(self._documents, documents, room, model.count_tokens)
        draft.send(whole or draft.sources or draft.nearest)
        draft.nearest = () if draft.sources else draft.nearest
        return bool(whole)

    def outline(
        self,
        draft: AnswerDraft,
        request: AnswerRequest,
        *,
        is_comparison: bool = False,
        is_answer: bool = False,
        language: str = "",
    ) -> Iterator[AnswerEvent]:
        """Say what is in the named files, in their own words; in place of a comparison, too.

        With `is_answer` the question may be one that this answers, as for the number of rows;
        `language` is the code of its language where that is known.
        """
        preferred = request.setup.settings.preferences.language
        named = request.named
        if named is None:
            return
        language = language or language_around(request.question, named.names)
        texts = texts_for(request.question, preferred, language)
        documents = [
            self._documents.get([passage.document_id])[0]
            for passage in self._finder.every_file(
                request.query, _MOST_OUTLINES, request.setup.reach
            )
        ]
        found = self._differences(documents, texts) if is_comparison else None
        said, sources = ([found.text], found.sources) if found else self._told(documents, texts)
        if not said:
            return
        if is_comparison and not found:
            said.insert(0, texts.said("not_compared"))
        elif not (named.asks_for_content or is_answer or found):
            said.insert(0, _not_about(named, texts))
        draft.sources = sources
        draft.is_excerpts, draft.nearest = True, ()
        draft.text = "\n\n".join(said)
        read = len({source.document_id for source in draft.sources})
        counts = FileCounts(read, read)
        draft.notes = replace(draft.notes or SearchNotes(), files=counts)
        yield SourcesFound(draft.sources, draft.notes)
        yield TextDelta(draft.text)

    def _differences(self, documents: Sequence[Document], texts: AnswerTexts) -> Outline | None:
        """What two documents, the newer one first, have different as versions of one text."""
        if len(documents) != _TWO:
            return None
        new, old = (Version(document, *self._content(document)) for document in documents)
        return differences_of(old, new, texts)

    def _told(
        self, documents: Sequence[Document], texts: AnswerTexts
    ) -> tuple[list[str], tuple[SourceRef, ...]]:
        """The outlines of documents, each with its name beside others, and their sources."""
        said, sources = list[str](), tuple[SourceRef, ...]()
        lines = _LINES_OF_ONE if len(documents) == 1 else _LINES_OF_SEVERAL
        for document in documents:
            first = len(sources) + 1
            found = outline_of(document, *self._content(document), texts, first=first, most=lines)
            if found.text:
                if len(documents) > 1:
                    said.append(f"**{quoted(_name_among(document, documents))}**")
                said.append(found.text)
                sources = (*sources, *found.sources)
        return said, sources

    def _content(self, document: Document) -> tuple[str, str]:
        text, places = self._documents.content(document.document_id)
        return text or "", places

    def without_text(self, draft: AnswerDraft, named: NamedFiles) -> Iterator[AnswerEvent]:
        """Say why nothing can be read of the named files."""
        yield SourcesFound((), draft.notes)
        draft.text = "\n\n".join([*map(quoted, named.unread), _UNREAD])
        yield TextDelta(draft.text)


def _not_about(named: NamedFiles, texts: AnswerTexts) -> str:
    sentence = "not_about_file" if len(named.names) == 1 else "not_about_files"
    return texts.said(sentence, names=quoted(texts.joined(named.names)))


def _name_among(document: Document, documents: Sequence[Document]) -> str:
    """The name, with its folder when another of the documents has the same."""
    is_one = sum(other.name == document.name for other in documents) == 1
    return document.name if is_one else f"{document.path.parent.name}/{document.name}"
