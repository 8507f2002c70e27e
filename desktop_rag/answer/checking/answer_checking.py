"""Checks the statements of an answer against its sources. Any thread.

Headings, table rows, code, formulas, questions and introductions of lists claim nothing. A sentence
that says that the sources are silent cannot be supported by them.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from threading import Event

from desktop_rag.answer.checking.claims.tokens import tokenize_claim
from desktop_rag.answer.checking.result_claims import checked_by_result
from desktop_rag.answer.citing.cited_sentences import CitedSentence, cited_sentences
from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.claims import CheckedClaim, Verdict
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.markup.formulas import without_formulas
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.terms import terms
from desktop_rag.core.text import words

# A claim and the texts it may rest on.
CheckClaim = Callable[[str, Sequence[str]], CheckedClaim]

_LEAST_TERMS = 3
# Nobody reads more badges, and each check takes processor time.
_MOST_CLAIMS = 200
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_ADDRESS = re.compile(r"<?\bhttps?://[^\s<>]+>?")
_MARKS = re.compile(r"[*`]+|__|~~|(?m:^)\s*(?:>\s*)*(?:[-+•]\s|\d+[.)]\s)?\s*")
_COMMAND = re.compile(r"\\[A-Za-z]+|\\.|[{}^_&$]")
_GAP = re.compile(r"\s+([.!?…,;:。！？])")
_ELSEWHERE = "Source {n} says it, but the answer does not cite it here."


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement at [start, end) of an answer, and the numbers of the sources it cites."""

    start: int
    end: int
    text: str
    cited: tuple[int, ...]


def statements(answer: str) -> list[Statement]:
    """The statements of an answer that can be checked, in order."""
    found = (sentence for sentence in cited_sentences(answer) if _is_statement(sentence))
    return [
        Statement(sentence.start, sentence.end, plain_sentence(sentence.text), sentence.numbers)
        for sentence, _ in zip(found, range(_MOST_CLAIMS), strict=False)
    ]


# The check of a statement that only the conversation explains; None for any other.
CheckInContext = Callable[["Statement"], tuple[CheckedClaim, int] | None]


def claims_of(
    answer: str,
    sources: Sequence[SourceRef],
    check: CheckClaim,
    cancel: Event,
    in_context: CheckInContext = lambda _: None,
) -> tuple[Claim, ...]:
    """The statements, each checked against its cited sources first; none when cancelled.

    One that can't be checked, as in some languages, is there without a verdict: its reader must not
    take it for checked. `in_context` goes before the check of a statement by its own words.
    """

    def results() -> Iterator[Claim]:
        for statement in statements(answer):
            if cancel.is_set():
                return
            checked, n = in_context(statement) or _checked(statement, sources, check)
            if checked.verdict is not Verdict.NOT_CHECKED or _says_something(statement.text):
                yield Claim(statement.start, statement.end, checked, n)

    found = tuple(results())
    return () if cancel.is_set() else found


def _checked(
    statement: Statement, sources: Sequence[SourceRef], check: CheckClaim
) -> tuple[CheckedClaim, int]:
    """The result of the check, and the number of the source with the evidence."""
    cited = [source for source in sources if source.n in statement.cited]
    for source in cited:
        if source.query and (checked := checked_by_result(statement.text, source)):
            return checked, source.n
    first = _against(statement, cited, check) if cited else None
    if first and first[0].verdict is Verdict.SUPPORTED:
        return first
    found, n = _against(statement, sources, check)
    if first and found.verdict is Verdict.SUPPORTED:
        # A sign of support beside the citation would be read as support by what is cited.
        said = _ELSEWHERE.format(n=n)
        return replace(found, verdict=Verdict.PARTLY, explanation=said), n
    return first or (found, n)


def _against(
    statement: Statement, sources: Sequence[SourceRef], check: CheckClaim
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
    sentence = without_formulas(sentence, lambda formula: _COMMAND.sub(" ", formula.latex))
    text = _ADDRESS.sub("", _LINK.sub(r"\1", sentence))
    return _GAP.sub(r"\1", " ".join(_MARKS.sub(" ", text).split()))


def is_about_sources(sentence: str) -> bool:
    """True when it says that the sources lack something."""
    written = {word.casefold().replace("’", "'") for word in words(sentence)}
    parts = {part for word in written for part in word.split("'")} | written
    return any(all(parts & kind for kind in kinds) for kinds in _about_sources())


@cache
def _about_sources() -> tuple[tuple[frozenset[str], ...], ...]:
    path = resources_dir() / "claims" / "about_sources.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8")).values()
    return tuple(
        tuple(frozenset(table[kind].split()) for kind in ("sources", "telling", "negations"))
        for table in tables
    )
