"""Checks the claims of an answer against its sources, and finds places to verify them.

Headings, table rows, code, formulas, questions and introductions of lists claim nothing. A sentence
that says that the sources are silent cannot be supported by them. The checks run on any thread,
`PlacesToCheck` on worker threads.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, islice, pairwise
from pathlib import PurePath
from threading import Event
from typing import Protocol

from desktop_rag.answer.checking.claims.quantities import Quantity, quantities
from desktop_rag.answer.checking.claims.tokens import tokenize_claim
from desktop_rag.answer.checking.claims.words import listed
from desktop_rag.answer.citing.citations import CitedSentence, citations, cited_sentences
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.sources.source_merging import not_by_app, numbered
from desktop_rag.answer.tables.cell_values import table_words
from desktop_rag.core.claims import Basis, CheckedClaim, Claim, Evidence, Verdict
from desktop_rag.core.conversation import Message, SourceRef
from desktop_rag.core.domain import Passage
from desktop_rag.core.language.languages import function_words
from desktop_rag.core.markup.formulas import without_formulas
from desktop_rag.core.markup.own_words import without_doubted
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.query import Query
from desktop_rag.core.question import EVERYTHING, SearchScope
from desktop_rag.core.settings import RetrievalSettings
from desktop_rag.core.terms import terms
from desktop_rag.core.text import sentences, words
from desktop_rag.store.contract.search import NameStore, Scope

_BORDER = " | "
# The description of the query and the column names precede the rows.
_LINES_ABOVE = 2
# A number with fewer digits is no rounded one: 7 could be anything from 6.5 to 7.5.
_LEAST_ROUNDED = 100
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_LEAST_NAME_CHARS = 2
_SUPPORTED = "The result of the query says this."


@dataclass(frozen=True, slots=True)
class _Row:
    start: int
    end: int
    names: frozenset[str]
    numbers: Sequence[Quantity]


def checked_by_result(claim: str, source: SourceRef) -> CheckedClaim | None:
    """The claim, supported by the rows of a query's result; None when that is not certain.

    Each of its numbers must occur in a row that the claim names. Negations, comparisons and
    anything uncertain are left to the claim checker, which compares sentences.
    """
    known, written = table_words(), {word.casefold() for word in words(claim)}
    if written & (known.compares | listed("negation")):
        return None
    rows = list(_rows(source.text))
    said = f" {' '.join(words(claim)).casefold()} "
    named = [row for row in rows if any(f" {name} " in said for name in row.names)]
    # A number that limits the query, such as a year, is no result.
    asked = [*quantities(source.query), *quantities(_DAY.sub(r"\1 \2 \3", source.query))]
    numbers = [one for one in quantities(claim) if not claim[one.start].isalpha()]
    left = [one for one in numbers if not any(map(one.equals, asked))]
    fitting = [row for row in named or rows if any(_holds(row, number) for number in left)]
    if not left or not all(any(_holds(row, number) for row in fitting) for number in left):
        return None
    if written & known.superlatives and fitting[0] not in (rows[0], rows[-1]):
        # A query for an extreme sorts it to the top or the bottom.
        return None
    evidence = Evidence(0, fitting[0].start, fitting[0].end)
    return CheckedClaim(claim, Verdict.SUPPORTED, 1.0, evidence, (), _SUPPORTED, Basis.COMPUTED)


def _rows(text: str) -> Iterator[_Row]:
    start = 0
    for n, line in enumerate(text.split("\n")):
        if n >= _LINES_ABOVE and line:
            cells = line.split(_BORDER)
            numbers = [quantities(cell) for cell in cells]
            names = {
                " ".join(words(c)).casefold() for c, n in zip(cells, numbers, strict=True) if not n
            }
            long_names = frozenset(name for name in names if len(name) >= _LEAST_NAME_CHARS)
            yield _Row(start, start + len(line), long_names, list(chain(*numbers)))
        start += len(line) + 1


def _holds(row: _Row, said: Quantity) -> bool:
    """True when the row has the number, rounded or not."""
    is_precise = abs(said.values[0] / said.steps[0]) >= _LEAST_ROUNDED
    return any(
        said.equals(held) or (is_precise and any(map(said.is_written_for, held.values)))
        for held in row.numbers
    )


class CheckClaim(Protocol):
    """Checks a claim against the texts it may rest on.

    `given` is what else it may take figures from: the calculations before it that are right.
    """

    def __call__(self, claim: str, sources: Sequence[str], given: str = "", /) -> CheckedClaim:
        """The claim with its verdict."""
        ...


_LEAST_TERMS = 3
# Nobody reads more badges, and each check takes processor time.
_MOST_CLAIMS = 200
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_ADDRESS = re.compile(r"<?\bhttps?://[^\s<>]+>?")
_MARKS = re.compile(r"[*`]+|__|~~|(?m:^)\s*(?:>\s*)*(?:[-+•]\s|\d+[.)]\s)?\s*")
# What an excerpt is from, before its words: *file*: or **heading** (file):
_ORIGIN = re.compile(r"^(?:\*[^*\n]{1,150}\*|\*\*[^*\n]{1,150}\*\* \([^()\n]{1,150}\)):\s+")
_COMMAND = re.compile(r"\\[A-Za-z]+|\\.|[{}^_&$]")
_GAP = re.compile(r"\s+([.!?…,;:。！？])")
_ELSEWHERE = "The answer cited another source here; source {n} says it."


def statements(answer: str) -> list[CitedSentence]:
    """The statements of an answer that can be checked, in order and in plain words."""
    found = filter(_is_statement, cited_sentences(answer))
    return [replace(s, text=plain_sentence(s.text)) for s in islice(found, _MOST_CLAIMS)]


# The check of a statement that only the conversation explains; None for any other.
CheckInContext = Callable[[CitedSentence], tuple[CheckedClaim, int] | None]


def claims_of(
    answer: str,
    sources: Sequence[SourceRef],
    check: CheckClaim,
    cancel: Event,
    in_context: CheckInContext = lambda _: None,
    columns: Callable[[SourceRef], str] = lambda _: "",
) -> tuple[Claim, ...]:
    """The statements, each checked against its cited sources first; none when cancelled.

    One that can't be checked, as in some languages, has no verdict. `in_context` is tried first.
    `columns` are the heads of the table that a source begins inside of; they and the name of its
    file are read above it. What the app itself wrote is no evidence.
    """
    heads = {s.n: "\n".join(filter(None, (_name_of(s), columns(s)))) for s in sources}
    sources = [_as_evidence(source) for source in sources if not source.anchor.by_app]
    heads_of = {source.text: head for source in sources if (head := heads[source.n])}
    check = _below(heads_of, check) if heads_of else check

    def results() -> Iterator[Claim]:
        given = ""
        for statement in statements(answer):
            if cancel.is_set():
                return
            knowing = partial(_knowing, check, given)
            checked, n = in_context(statement) or _checked(statement, sources, knowing)
            if checked.basis is Basis.COMPUTED and checked.verdict is Verdict.SUPPORTED:
                given += f"{statement.text}\n"
            if checked.verdict is not Verdict.NOT_CHECKED or _says_something(statement.text):
                yield Claim(statement.start, statement.end, checked, n)

    found = tuple(results())
    return () if cancel.is_set() else found


def _knowing(
    check: CheckClaim, given: str, claim: str, sources: Sequence[str], _: str = ""
) -> CheckedClaim:
    return check(claim, sources, given)


def _name_of(source: SourceRef) -> str:
    """The words and days of its title and file, which name what it is about."""
    named = f"{source.title} {PurePath(source.path).stem}".replace("_", " ")
    days = (named[one.start : one.end] for one in quantities(named) if one.date)
    return " ".join(dict.fromkeys([*_NAME_WORD.findall(named), *days]))


def _below(heads: Mapping[str, str], check: CheckClaim) -> CheckClaim:
    """The check with texts below their names and heads of columns; places stay those in the texts.

    A claim may write a name in two words that the file has in one: Best Buy.
    """

    def checked(claim: str, texts: Sequence[str], given: str = "") -> CheckedClaim:
        parted = {
            f"{one}{other}".casefold(): f"{one} {other}"
            for one, other in pairwise(_NAME_WORD.findall(claim))
        }
        above = {
            text: " ".join([head, *(parted[w] for w in words(head.casefold()) if w in parted)])
            for text in texts
            if (head := heads.get(text, ""))
        }
        found = check(claim, [f"{above[t]}\n{t}" if t in above else t for t in texts], given)
        evidence = found.evidence
        if not evidence or texts[evidence.source] not in above:
            return found
        added = len(above[texts[evidence.source]]) + 1

        def moved(span: tuple[int, int]) -> tuple[int, int]:
            return max(span[0] - added, 0), max(span[1] - added, 0)

        differences = [
            replace(d, in_source=d.in_source and moved(d.in_source)) for d in found.differences
        ]
        start, end = moved((evidence.start, evidence.end))
        place = replace(evidence, start=start, end=end)
        return replace(found, evidence=place, differences=tuple(differences))

    return checked


def with_claims(answer: Message, claims: Sequence[Claim]) -> Message:
    """The answer with its claims; it cites the source that says a claim in place of a wrong one."""
    markers, cited = list(citations(answer.text)), {s.n for s in answer.sources if s.is_cited}
    parts: list[str] = []
    moved: list[Claim] = []
    found: dict[int, Evidence] = {}
    done = added = 0
    for claim in claims:
        own = [one for one in markers if claim.start <= one.start < claim.end]
        start, n, checked = claim.start + added, claim.n, claim.checked
        place = checked.evidence if claim.verdict is Verdict.SUPPORTED else None
        if place and own and not any(n in one.numbers for one in own):
            for one in own:
                number = "" if one.is_glued else f"[{n}]"
                parts += [answer.text[done : one.start], number]
                added += len(number) - (one.end - one.start)
                done = one.end
            found.setdefault(n, place)
            checked = replace(checked, explanation=_ELSEWHERE.format(n=n))
        moved.append(replace(claim, start=start, end=claim.end + added, checked=checked))
    text = "".join([*parts, answer.text[done:]])
    left = {n for one in citations(text) for n in one.numbers} if found else cited
    sources = [
        source.narrowed(found[source.n].start, found[source.n].end)
        if source.n in found and not source.is_cited
        else source
        for source in answer.sources
    ]
    sources = tuple(replace(source, is_cited=source.n in left) for source in sources)
    return replace(answer, text=text, claims=tuple(moved), sources=sources)


def _as_evidence(source: SourceRef) -> SourceRef:
    """The source without what the app doubted; a sentence that it flagged may stand in any file."""
    return replace(source, text=without_doubted(source.text))


def _checked(
    statement: CitedSentence, sources: Sequence[SourceRef], check: CheckClaim
) -> tuple[CheckedClaim, int]:
    """The result of the check, and the number of the source with the evidence."""
    cited = [source for source in sources if source.n in statement.numbers]
    for source in cited:
        if source.query and (checked := checked_by_result(statement.text, source)):
            return checked, source.n
    if not cited:
        return _against(statement, sources, check)
    first = _against(statement, cited, check)
    if first[0].verdict is Verdict.SUPPORTED:
        return first
    # A document is sent in parts, of which the answer cites one.
    homes = {source.document_id for source in cited}
    parts = [source for source in sources if source.document_id in homes]
    whole = _against(statement, parts, check) if len(parts) > len(cited) else first
    for found, n in (whole, _against(statement, sources, check)):
        if found.verdict is Verdict.SUPPORTED:
            return found, n
    is_other = first[0].verdict is Verdict.CONTRADICTED is not whole[0].verdict
    return whole if is_other or {*whole[0].named} < {*first[0].named} else first


def _against(
    statement: CitedSentence, sources: Sequence[SourceRef], check: CheckClaim
) -> tuple[CheckedClaim, int]:
    found = check(statement.text, [source.text for source in sources])
    return found, sources[found.evidence.source].n if found.evidence else 0


def _is_statement(sentence: CitedSentence) -> bool:
    if sentence.marker_at < 0 or len(terms(without_formulas(sentence.text))) < _LEAST_TERMS:
        return False
    return bool(sentence.numbers) or not is_about_sources(sentence.text)


def _says_something(sentence: str) -> bool:
    """False for a sentence of words that only join others, like "That is so"."""
    return any(token.is_content for token in tokenize_claim(sentence))


def plain_sentence(sentence: str) -> str:
    """The sentence without Markdown, addresses, commands of formulas, and gaps of citations."""
    sentence = _ORIGIN.sub("", sentence)
    sentence = without_formulas(sentence, lambda formula: _COMMAND.sub(" ", formula.latex))
    text = _ADDRESS.sub("", _LINK.sub(r"\1", sentence))
    return _GAP.sub(r"\1", " ".join(_MARKS.sub(" ", text).split()))


def is_about_sources(sentence: str) -> bool:
    """True when it says that the sources lack something."""
    written = {word.casefold().replace("’", "'") for word in words(sentence)}
    parts = {part for word in written for part in word.split("'")} | written
    return any(all(parts & kind for kind in kinds) for kinds in _about_sources())


def says_nothing(answer: str) -> bool:
    """True for an answer that cites nothing and says that the sources lack something."""
    if any(True for _ in citations(answer)):
        return False
    return any(is_about_sources(answer[start:end]) for start, end in sentences(answer))


@cache
def _about_sources() -> tuple[tuple[frozenset[str], ...], ...]:
    path = resources_dir() / "claims" / "about_sources.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8")).values()
    return tuple(
        tuple(frozenset(table[kind].split()) for kind in ("sources", "telling", "negations"))
        for table in tables
    )


# A false claim has words that no passage has, so the limit is lower than for an answer.
_LEAST_RELEVANCE = 0.05
_DEPTH = 10
# Words of a name that no more than this share of all names have tell what a document is about.
_RARE_SHARE = 0.25
_LEAST_LETTERS = 3
_NAME_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])")


class PlacesToCheck:
    """Finds places to verify claims.

    They are in the documents of the answer's sources, or in those that share a rare word of their
    name with them or with the claim: another firm's report has the same words, and would mislead.
    """

    def __init__(self, finder: SourceFinder, names: NameStore) -> None:
        self._finder = finder
        self._names = names

    def best(
        self, claim: str, sources: Sequence[SourceRef], settings: RetrievalSettings
    ) -> SourceRef | None:
        """The place nearest to a claim of an answer with these sources; None when none is near."""
        query = Query(" ".join(words(claim)))
        own = {source.document_id for source in sources if source.is_in_library}
        for passage in self._near(query, settings, EVERYTHING):
            if passage.document_id in own or self._is_related(passage, claim, sources):
                return numbered([passage])[0]
        if own:
            within = replace(EVERYTHING, document_ids=tuple(sorted(own)))
            for passage in self._near(query, settings, within):
                return numbered([passage])[0]
        return None

    def _near(
        self, query: Query, settings: RetrievalSettings, reach: SearchScope
    ) -> Iterator[Passage]:
        found = self._finder.look_up(query, settings, limit=_DEPTH, reach=reach)
        return (p for p in not_by_app(found.passages) if p.relevance >= _LEAST_RELEVANCE)

    def _is_related(self, passage: Passage, claim: str, sources: Sequence[SourceRef]) -> bool:
        known = set[str]().union(*(_name_words(source.path) for source in sources), _names(claim))
        return bool(self._rare(_name_words(passage.path) & known))

    def _rare(self, parts: Collection[str]) -> bool:
        """True when few names have one of the parts."""
        if not parts:
            return False
        found, total = self._names.matching(parts, (), (), Scope(), 1)
        frequency = (sum(g.count for g in found if part in g.parts) for part in parts)
        return any(0 < count <= max(1.0, _RARE_SHARE * total) for count in frequency)


def _name_words(path: str) -> set[str]:
    """The words of a file's name, without those that say nothing."""
    found = _NAME_WORD.findall(_CAMEL.sub(" ", PurePath(path).stem))
    plain = {word.casefold() for word in found if len(word) >= _LEAST_LETTERS}
    return plain - function_words(sorted(plain))


def _names(claim: str) -> set[str]:
    """The capitalised words of a claim, and each two of them joined, as in BESTBUY."""
    found = [word.split("'")[0].split("’")[0] for word in words(claim)]
    capital = [w.casefold() for w in found if w[:1].isupper() and len(w) >= _LEAST_LETTERS]
    return {*capital, *(a + b for a, b in pairwise(capital))}
