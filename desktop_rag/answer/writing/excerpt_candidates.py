"""What may be quoted from passages: sentences, items and rows. Pure but for `surroundings_of`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from operator import itemgetter
from pathlib import PurePath
from types import MappingProxyType

from desktop_rag.answer.writing.excerpt_units import Unit, is_shouted, label_of, plain, units_of
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.domain import Document, shown_name
from desktop_rag.core.language.languages import (
    NUMBER_WORDS,
    function_words,
    function_words_of,
    is_likely_english,
    language_of,
    month_numbers,
    weekdays,
)
from desktop_rag.core.parsed import HEADING_SEPARATOR
from desktop_rag.core.places import Places, places_from_json
from desktop_rag.core.terms import terms
from desktop_rag.core.text import ends_sentence, words
from desktop_rag.store.contract.documents import DocumentStore

# The head of a table of figures is on the same page, at most one before.
_ABOVE = 3_000


@dataclass(frozen=True, slots=True)
class Version:
    """One of several documents whose names have the words of `series` in common.

    `date` is the ISO day of the document, "" where nothing tells it.
    """

    series: tuple[str, ...] = ()
    date: str = ""
    is_older: bool = False


_ONLY = Version()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The header row of the table that a passage is a part of, the text above the passage, the
    code of its document's language, "" where that is not known, and the headings it stands under.

    `name` is that of its file, `older` what is said of a version that another one replaces.
    It is not titled where the title of the document is the heading of another record.
    """

    header: str = ""
    above: str = ""
    language: str = ""
    heading: str = ""
    name: str = ""
    version: Version = _ONLY
    older: str = ""
    is_titled: bool = True


def surroundings_of(
    documents: DocumentStore, sources: Sequence[SourceRef], older: str = ""
) -> dict[int, Surroundings]:
    """The surroundings of each source, by its number; `older` is said of an older version."""
    ids = dict.fromkeys(source.document_id for source in sources)
    content = {key: documents.content(key) for key in ids}
    known = {document.document_id: document for document in documents.get(list(ids))}
    heads = {key: (text or "")[:_HEAD] for key, (text, _) in content.items()}
    versions = versions_of(list(known.values()), heads)
    found: dict[int, Surroundings] = {}
    for source in sources:
        text, places = content[source.document_id]
        marks, headings, tables = places_from_json(places)
        heading = HEADING_SEPARATOR.join(Places(marks, headings).path(source.start))
        inside = (t.text for t in tables if t.start <= source.start < t.end)
        top = (heading or source.title).partition(HEADING_SEPARATOR)[0]
        document = known.get(source.document_id)
        version = versions.get(source.document_id, _ONLY)
        found[source.n] = Surroundings(
            next(inside, ""),
            text[max(0, source.start - _ABOVE) : source.start] if text else "",
            document.language if document else "",
            heading,
            shown_name(source.path),
            version,
            older if version.is_older else "",
            top == source.title or source.title not in {heading.title for heading in headings},
        )
    return found


# What the first lines of a document say of its date.
_HEAD = 600
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:[-_.](\d\d)(?:[-_.](\d\d))?)?(?!\d)")
_ISO_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d-\d\d-\d\d")
# “As of March 2024” stands in the first line or two.
_MONTH = re.compile(r"([^\W\d_]+)\.? ((?:19|20)\d\d)(?!\d)")
_TITLE = 100
_VERSION = re.compile(r"(?i)(?<![^\W_])v(?:er(?:sion)?)?[ ._-]?(\d{1,4})(?!\d)")
_WORDS = re.compile(r"[^\W\d_]+")
_VERSION_WORDS = frozenset({"v", "ver", "version"})
# Words of names of files that replace others, whatever number these have.
_NEW = frozenset(
    re.findall(r"\w+", "final latest current new neu neue aktuell endfassung signed unterschrieben")
)
_LAST = 10_000
# Words of names of files and folders that others replaced.
_OLD = frozenset(
    re.findall(
        r"\w+",
        "old older outdated obsolete superseded expired former previous archive archived draft alt"
        " alte alten altes veraltet abgelaufen archiv entwurf ancien ancienne périmé brouillon"
        " antiguo borrador vecchio bozza oud verlopen concept stary",
    )
)


def versions_of(documents: Sequence[Document], heads: Mapping[str, str]) -> dict[str, Version]:
    """What names, dates and the `heads` of texts tell of documents and their versions, by id."""
    found: dict[str, tuple[tuple[int, str], Version]] = {}
    for document in documents:
        stem = document.path.stem
        said = [word.casefold() for word in _WORDS.findall(stem)]
        is_old = not _OLD.isdisjoint((*said, document.path.parent.name.casefold()))
        number = _VERSION.search(stem)
        head = heads.get(document.document_id, "")
        date = _date_of(stem, document.dated, head)
        series = tuple(word for word in said if word not in _OLD | _NEW | _VERSION_WORDS)
        is_last = not (_NEW.isdisjoint(said) or _DATE.search(stem))
        order = (_LAST if is_last else int(number[1]) if number else 0, date)
        found[document.document_id] = order, Version(series, date, is_old)
    current = (each for each in found.values() if not each[1].is_older)
    newest = {version.series: order for order, version in sorted(current, key=itemgetter(0))}
    return {
        key: replace(
            version, is_older=version.is_older or _is_before(order, newest[version.series])
        )
        for key, (order, version) in found.items()
        if version.series
    }


def _is_before(order: tuple[int, str], newest: tuple[int, str]) -> bool:
    """True for an earlier version; what has no date is before no other of its number."""
    return order < newest if order[1] else order[0] < newest[0]


def _date_of(stem: str, dated: str, head: str) -> str:
    """The day, month or year that a name, or else the document itself tells; "" for none."""
    if named := _DATE.search(stem):
        return "-".join(filter(None, named.groups()))
    if day := _ISO_DATE.search(dated) or _ISO_DATE.search(head):
        return day[0]
    months = ((month_numbers().get(m[1].casefold()), m[2]) for m in _MONTH.finditer(head[:_TITLE]))
    return next((f"{year}-{month:02}" for month, year in months if month), "")


def is_about_older(question: str) -> bool:
    """True for a question that asks for what was before."""
    return not _OLD.isdisjoint(word.casefold() for word in words(question))


LONGEST = 600
# Question words are ignored: a "when" in a sentence does not answer "when".
_ASKING = frozenset(
    terms(
        "who whom whose what which when where why how much many do does did is are was were be been"
        " have has had can could will would shall should may might must there"
    )
)
# What "The Orrin warehouse" has of "When does the ferry leave?" is no part of its name.
IDLE = frozenset(terms(" ".join(function_words_of("en"))))
_SHORTEST = 4
# Shorter still are pieces that have words of the question.
_SHORTEST_ASKED = 2
_SHORTEST_PART = 4
_LONGEST_NAME = 6
_MAIL_HEAD = re.compile(r"(?:From|To|Cc|Date|Subject): ")
# Dates, times and other numbers of several parts, which say more than their parts.
_COMPOUND = re.compile(r"\d+(?:[-./:]\d+)+")
_LEAST_LETTERS = 0.6
_MOST_LISTED = 8
_LONG_LINE = 60
_CLOSING = "\"'”’»)]」"
_NOWHERE = Surroundings()
NO_SURROUNDINGS: Mapping[int, Surroundings] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece that may be quoted, with the items or rows that it `listed` below itself.

    `terms` are those of its words, of its lead and heading, of the names of its columns and of the
    title of its table; `named` are those of the question that its document's name has, which hold
    for all its pieces. One that `is_short` is quoted only for words of the question that it has.
    One that `is_beside` the point lacks what was asked for: a figure, the newest version. `subject`
    is the heading that it does not repeat, `name` and `older` are as in `Surroundings`, `language`
    too, unless the piece itself is clearly in another one.
    """

    n: int
    rank: int
    unit: Unit
    terms: frozenset[str]
    named: frozenset[str] = frozenset()
    listed: tuple[Unit, ...] = ()
    is_short: bool = False
    is_beside: bool = False
    subject: str = ""
    name: str = ""
    older: str = ""
    language: str = ""

    @property
    def text(self) -> str:
        """The words, without the names of columns."""
        return self.unit.text

    @property
    def own_terms(self) -> frozenset[str]:
        """The terms that tell a row of figures from those beside it."""
        return _terms(self.unit.cells[0]) if self.unit.is_figures else self.terms

    @property
    def said(self) -> frozenset[str]:
        """The terms without those above it, which it shares with the pieces beside it."""
        return _terms(self.text) if self.unit.lead or self.unit.title else self.terms


def all_candidates(
    sources: Sequence[SourceRef],
    asked: set[str],
    surroundings: Mapping[int, Surroundings],
    *,
    any_row: bool = False,
) -> list[Candidate]:
    """What may be quoted. A row is quoted for its words, not for its place, unless it is any."""
    return [
        candidate
        for rank, source in enumerate(sources, 1)
        for around in (surroundings.get(source.n, _NOWHERE),)
        for candidate in candidates_of(source, rank, around, _named_around(source, asked, around))
        if (any_row and candidate.unit.cells)
        or not (candidate.unit.cells or candidate.is_short)
        or candidate.own_terms & telling_words(asked, candidate.named)
    ]


def candidates_of(
    source: SourceRef,
    rank: int,
    around: Surroundings = _NOWHERE,
    named: frozenset[str] = frozenset(),
) -> list[Candidate]:
    """The pieces of one passage, in order; see `Candidate` for `named`."""
    found: list[Candidate] = []
    units = list(units_of(source.text, around.header, around.above))
    for place, unit in enumerate(units):
        if unit.cells:
            held = _terms(f"{unit.text} {' '.join(unit.header)} {unit.caption}")
            found.append(
                Candidate(
                    source.n, rank, unit, held, named,
                    name=around.name, older=around.older, language=around.language,
                )
            )  # fmt: skip
            continue
        listed = _listed_below(units, place)
        is_unfinished = unit.text.endswith(":") and not listed
        is_mail_head = not unit.lead and bool(_MAIL_HEAD.match(unit.text))
        is_short = is_mail_head or len(terms(unit.text)) < _SHORTEST
        if is_unfinished or not _is_quotable(unit, is_short=is_short):
            continue
        text = _shortened(unit.text)
        is_last = place == len(units) - 1
        # A sentence that goes on in the next passage has a sign for that.
        text = f"{text} …" if is_last and not (label_of(text) or _is_ended(text)) else text
        text = f"… {text}" if unit.start == 0 and _goes_on(around.above, text) else text
        cut = replace(unit, text=text, title=unit.title or source.anchor.heading or around.heading)
        if place and (before := _gone_on_from(units[place - 1], unit)):
            cut = replace(cut, text=f"{before} {text}", start=units[place - 1].start)
        held = _terms(f"{cut.title} {unit.lead} {cut.text}")
        found.append(
            Candidate(
                source.n, rank, cut, held, named, listed, is_short,
                subject=_subject(cut, around.name), name=around.name, older=around.older,
                language=language_of(words(text)) or around.language,
            )
        )  # fmt: skip
    return found


# A sentence that begins so is about what the one before it says.
_GOES_ON = re.compile(
    r"(?:This|These|Dies(?:e[rsmn]?)?|Dadurch|Damit|Cela|Ceci|Esto|Eso|Questo|Ciò|Dit"
    r"|Dat|Isto|Isso|(?:Instead|Stattdessen)(?=,))\b"
)
_LONGEST_BEFORE = 240


def _gone_on_from(before: Unit, unit: Unit) -> str:
    """The sentence before one that says nothing without it; "" for any other."""
    is_prose = not (before.cells or before.is_item or unit.is_item or before.text.endswith(":"))
    if not (is_prose and _GOES_ON.match(unit.text)) or before.title != unit.title:
        return ""
    return before.text if len(before.text) <= _LONGEST_BEFORE else ""


def _subject(unit: Unit, name: str) -> str:
    """The heading above a piece, where neither the piece nor the name of its file says it."""
    title = unit.title.rpartition("›")[2].strip()
    named = words(title)
    # "For" may be the first line of a column that was taken for a heading.
    if set(named) <= function_words([*named, ""]):
        return ""
    said = _terms(f"{unit.text} {unit.lead} {PurePath(name).stem.replace('_', ' ')}")
    return "" if not name or _terms(title) <= said else title


def _is_quotable(unit: Unit, *, is_short: bool) -> bool:
    """True for prose, lines of forms and items of lists, and for short ones that are whole."""
    if is_shouted(unit.text):
        return False
    if is_short and (
        len(terms(unit.text)) < _SHORTEST_ASKED or not (unit.is_item or ends_sentence(unit.text))
    ):
        return False
    return is_prose(unit.text) or bool(label_of(unit.text))


def _named_around(source: SourceRef, asked: set[str], around: Surroundings) -> frozenset[str]:
    """The same as `named_in`, of the part of the document that a passage stands in."""
    part = source if around.is_titled else replace(source, title="")
    return named_in(part, asked) | (asked & {around.version.date[:4]})


def named_in(source: SourceRef, asked: set[str]) -> frozenset[str]:
    """The words of a question that a document's title or its file's name has.

    Names of files run words together: "bestbuy" has "best" and "buy". A long title is a sentence,
    or the question itself, rather than a name. The head of a mail names it, too.
    """
    stem = re.sub(r"[_.-]", " ", PurePath(source.path).stem)
    short = [said for said in (source.title, stem) if len(said.split()) <= _LONGEST_NAME]
    head = takewhile(_MAIL_HEAD.match, source.text.splitlines())
    name = set(terms(" ".join((*short, *(line.partition(":")[2] for line in head)))))
    return frozenset(
        term
        for term in asked - IDLE
        if term in name
        or (len(term) >= _SHORTEST_PART and any(is_at_an_end(term, each) for each in name))
        or any(f"{other}{term}" in name or f"{term}{other}" in name for other in asked)
    )


def is_at_an_end(word: str, other: str) -> bool:
    """True for "tank" in "oiltank"."""
    return other.startswith(word) or other.endswith(word)


def _listed_below(units: Sequence[Unit], place: int) -> tuple[Unit, ...]:
    if not units[place].text.endswith(":"):
        return ()
    below = takewhile(lambda unit: unit.cells or unit.is_item, units[place + 1 :])
    return tuple(islice(below, _MOST_LISTED))


def _goes_on(above: str, text: str) -> bool:
    """True when a sentence of the text above goes on in the passage."""
    last = above.splitlines()[-1].strip() if above.strip() else ""
    if not last or above.endswith("\n\n") or _is_ended(last):
        return False
    # A short line may be a heading; the lines of a paragraph are long.
    return text[:1].islower() or len(last) >= _LONG_LINE


def _is_ended(text: str) -> bool:
    """True for a sentence, and for what announces a list or is a part of one."""
    return ends_sentence(text) or text.rstrip(_CLOSING).endswith((":", ";"))


def whole_passage(source: SourceRef) -> list[Candidate]:
    """The passage as one piece, for one of fragments only; none when it has no words."""
    text = _shortened(plain(source.text))
    words = terms(text)
    return [Candidate(source.n, 1, Unit(text, 0), frozenset(words))] if words else []


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rsplit(' ', 1)[0]} …"


def is_prose(text: str) -> bool:
    """True when the text reads as prose rather than markup or numbers."""
    letters = sum(character.isalpha() or character == " " for character in text)
    return letters >= _LEAST_LETTERS * len(text)


def asked_words(question: str) -> set[str]:
    """The words of a question that may answer it, without those that only ask.

    In other languages than English that is every function word; in English "after" or "other" tell
    pieces apart.
    """
    if not is_likely_english(words(question)):
        return content_words(question)
    found = _terms(question)
    return set(found - _ASKING or found)


def content_words(question: str) -> set[str]:
    """The words of a question without any function words."""
    found = _terms(question)
    idle = _ASKING.union(terms(" ".join(function_words(words(question)))))
    return set(found - idle or found)


def has_figure(candidate: Candidate) -> bool:
    """True for a piece with a number, in digits or as an English word."""
    return any(
        word[0].isdigit() or word.casefold() in NUMBER_WORDS for word in words(candidate.text)
    )


def has_time(candidate: Candidate) -> bool:
    """True for a piece with a number, a month or a day of the week."""
    said = {word.casefold().removesuffix("s") for word in words(candidate.text)}
    return has_figure(candidate) or bool(said & (weekdays() | month_numbers().keys()))


def telling_words(asked: set[str], named: frozenset[str]) -> set[str]:
    """The words of a question that the name of a document does not have, if any."""
    return asked - named or asked


def _terms(text: str) -> frozenset[str]:
    return frozenset((*terms(text), *_COMPOUND.findall(text)))
