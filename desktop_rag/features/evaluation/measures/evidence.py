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

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.text import rough_token_counts
from desktop_rag.features.evaluation.measures.measurement import (
    Measured,
    Row,
    Say,
    index_folder,
    mean,
)
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


def evaluate(
    evidence_set: EvidenceSet,
    library: Library,
    chat: Chat,
    say: Say,
    *,
    context_tokens: int = CONTEXT_TOKENS,
) -> Measured:
    """Index the files into an empty library, then make the prompt of each question.

    A row names what would be `missing` of the `groups` of evidence, and the tokens of the prompt.
    """
    index_folder(library, evidence_set.files, say)
    reader, rows = StatedReader(context_tokens), list[Row]()
    for number, question in enumerate(evidence_set.questions, start=1):
        prompt = chat.first_prompt(question.text, reader)
        last = prompt.turns[-1].text
        sent = [_plain(match[2]) for match in _SOURCE.finditer(last)]
        missing = [group[0] for group in question.groups if not _is_sent(group, sent)]
        pages = {place for s in prompt.sources for place in _pages(s, evidence_set.files, library)}
        if not pages & question.pages:
            missing += [f"{file}, page {page}" for file, page in question.pages]
        [tokens] = reader.count_tokens([last])
        row = {
            "query": question.query_id,
            "text": question.text,
            "kind": question.kind,
            "groups": len(question.groups) + bool(question.pages),
            "missing": missing,
            "tokens": tokens,
        }
        rows.append(row)
        if number % _REPORT_EVERY == 0:
            say(f"{number} of {len(evidence_set.questions)} questions")
    return Measured("evidence", [_figures(rows, context_tokens)], rows)


def _figures(rows: Sequence[Row], context_tokens: int) -> Row:
    """The shares of questions with all, and with any, of their evidence."""
    whole = [float(not row["missing"]) for row in rows]
    by_kind: dict[str, list[float]] = {}
    for row, is_whole in zip(rows, whole, strict=True):
        by_kind.setdefault(row["kind"], []).append(is_whole)
    kinds = {kind: f"{sum(told):.0f}/{len(told)}" for kind, told in by_kind.items()}
    found: Row = {
        "questions": len(rows),
        "all_evidence": int(sum(whole)),
        "any_evidence": sum(len(row["missing"]) < row["groups"] for row in rows),
        "share": round(mean(whole), 4),
        "tokens": round(mean([float(row["tokens"]) for row in rows])),
        "context_tokens": context_tokens,
    }
    return found | ({"kinds": kinds} if len(kinds) > 1 else {})


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
