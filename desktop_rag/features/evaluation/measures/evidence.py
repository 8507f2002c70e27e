"""Measures whether what a model would be sent for a question holds the evidence for its answer.

No model is asked: the prompt is made as for an answer, for a model with a given context, and
searched for the strings, or the pages, that the set names. Runs on the caller's thread.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.text import rough_token_counts
from desktop_rag.features.evaluation.measures.measurement import Say, index_folder, mean
from desktop_rag.features.evaluation.measures.query_sets import EvidenceSet
from desktop_rag.ingest.library import Library

CONTEXT_TOKENS = 32_768
_REPORT_EVERY = 20
_SOURCE = re.compile(r"<source-(\w+)>(.*?)</source-\1>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StatedReader:
    """A reader with a context of this length, by rough counts, whose speed is not known."""

    context_tokens: int
    read_tokens_per_s: float = 0.0

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """As for a model that was not asked yet."""
        return rough_token_counts(texts)

    def ranked(self, question: str, texts: Sequence[str], cancel: Event) -> Sequence[int]:
        """Nothing."""
        return ()


@dataclass(frozen=True, slots=True)
class QueryEvidence:
    """Which groups of a question's evidence would be sent, and the tokens of the prompt."""

    query_id: str
    text: str
    kind: str
    missing: tuple[str, ...]
    groups: int
    tokens: int

    @property
    def is_whole(self) -> bool:
        """True when all of the evidence would be sent."""
        return not self.missing

    def to_json(self) -> dict[str, Any]:
        """What would be missing."""
        return {
            "query": self.query_id,
            "text": self.text,
            "kind": self.kind,
            "groups": self.groups,
            "missing": list(self.missing),
            "tokens": self.tokens,
        }


@dataclass(frozen=True, slots=True)
class EvidenceFigures:
    """The measures of one set."""

    queries: tuple[QueryEvidence, ...]
    context_tokens: int
    kind: str = "evidence"

    def to_json(self) -> dict[str, Any]:
        """The shares of questions with all, and with any, of their evidence."""
        by_kind: dict[str, list[QueryEvidence]] = {}
        for query in self.queries:
            by_kind.setdefault(query.kind, []).append(query)
        found: dict[str, Any] = {
            "questions": len(self.queries),
            "all_evidence": sum(q.is_whole for q in self.queries),
            "any_evidence": sum(len(q.missing) < q.groups for q in self.queries),
            "share": round(mean([float(q.is_whole) for q in self.queries]), 4),
            "tokens": round(mean([float(q.tokens) for q in self.queries])),
            "context_tokens": self.context_tokens,
        }
        kinds = {
            kind: f"{sum(q.is_whole for q in rows)}/{len(rows)}" for kind, rows in by_kind.items()
        }
        return found | ({"kinds": kinds} if len(kinds) > 1 else {})

    def query_rows(self) -> list[dict[str, Any]]:
        """A row for each question."""
        return [query.to_json() for query in self.queries]


def evaluate(
    evidence_set: EvidenceSet,
    library: Library,
    chat: Chat,
    say: Say,
    *,
    context_tokens: int = CONTEXT_TOKENS,
) -> EvidenceFigures:
    """Index the files into an empty library, then make the prompt of each question."""
    index_folder(library, evidence_set.files, say)
    return asked(evidence_set, library, chat, say, context_tokens=context_tokens)


def asked(
    evidence_set: EvidenceSet, library: Library, chat: Chat, say: Say, *, context_tokens: int
) -> EvidenceFigures:
    """As `evaluate`, over a library that has the files."""
    reader, found = StatedReader(context_tokens), list[QueryEvidence]()
    for number, question in enumerate(evidence_set.questions, start=1):
        prompt = chat.first_prompt(question.text, reader)
        last = prompt.turns[-1].text
        sent = [_plain(match[2]) for match in _SOURCE.finditer(last)]
        missing = [group for group in question.groups if not _is_sent(group, sent)]
        pages = {place for s in prompt.sources for place in _pages(s, evidence_set.files, library)}
        missed = () if not question.pages or pages & question.pages else question.pages
        said = (
            *(group[0] for group in missing),
            *(f"{file}, page {page}" for file, page in missed),
        )
        groups = len(question.groups) + bool(question.pages)
        [tokens] = reader.count_tokens([last])
        found.append(
            QueryEvidence(question.query_id, question.text, question.kind, said, groups, tokens)
        )
        if number % _REPORT_EVERY == 0:
            say(f"{number} of {len(evidence_set.questions)} questions")
    return EvidenceFigures(tuple(found), context_tokens)


def _is_sent(group: Sequence[str], sent: Sequence[str]) -> bool:
    """True when one of the strings is sent; `a && b` stand in one source."""
    whole = " ".join(sent)
    for alternative in group:
        parts = [_plain(part) for part in alternative.split("&&")]
        if len(parts) == 1 and parts[0] in whole:
            return True
        if len(parts) > 1 and any(all(part in source for part in parts) for source in sent):
            return True
    return False


def _plain(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).replace("\u00ad", "").replace("\u200b", "")
    return " ".join(plain.split())


def _pages(source: SourceRef, files: Path, library: Library) -> set[tuple[str, int]]:
    if source.anchor.page is None:
        return set()
    end = library.documents.place(source.document_id, source.end - 1, source.end)
    name = Path(source.path).relative_to(files).as_posix()
    return {(name, n) for n in range(source.anchor.page, (end.page or source.anchor.page) + 1)}
