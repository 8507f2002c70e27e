"""What the verbs print: one JSON document, or lines for people. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from desktop_rag.core.anchors import HEADING_SEPARATOR, Anchor
from desktop_rag.core.conversation import NEAREST, Message, SourceRef
from desktop_rag.core.domain import Document, DocumentState, Passage, Source
from desktop_rag.core.library_events import DocumentCounts

_EXCERPT = 300
_GONE = DocumentState.GONE
# Excerpts are Markdown that shows document text literally; a terminal shows it so anyway.
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]<>#|~])")


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one run of `index` did. Times in seconds."""

    documents: tuple[Document, ...]
    embedded_chunks: int
    seconds: float
    words_seconds: float

    def to_json(self) -> dict[str, Any]:
        """The keys of `index --json`."""
        files = [d for d in self.documents if not d.parent_id and d.state is not _GONE]
        chunks = sum(d.chunk_count for d in self.documents if _is_searchable(d))
        return {
            "files": len(files),
            "searchable": sum(map(_is_searchable, files)),
            "embedded_chunks": self.embedded_chunks,
            "reused_chunks": max(0, chunks - self.embedded_chunks),
            "seconds": round(self.seconds, 2),
            "words_seconds": round(self.words_seconds, 2),
            "failed": _with_reasons(files, DocumentState.FAILED),
            "skipped": _with_reasons(files, DocumentState.SKIPPED),
        }

    def lines(self) -> list[str]:
        """The same for people."""
        report = self.to_json()
        total = (
            f"{report['searchable']:,} of {report['files']:,} files are searchable "
            f"({report['embedded_chunks']:,} passages embedded, {report['reused_chunks']:,} "
            f"reused) after {report['seconds']} s, by words after {report['words_seconds']} s."
        )
        lines = [total]
        for kind in ("failed", "skipped"):
            lines += [f"{kind}: {row['path']}: {row['reason']}" for row in report[kind]]
        return lines


def search_json(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    """The list of `search --json`."""
    return [
        {
            "rank": rank,
            "score": round(p.score, 6),
            "document_id": p.document_id,
            "path": location(p.path, p.part, p.url),
            "title": p.title,
            "text": p.text,
            "anchor": p.anchor.to_json(),
            "start": p.start,
            "end": p.end,
        }
        for rank, p in enumerate(passages, start=1)
    ]


def search_lines(passages: Sequence[dict[str, Any]]) -> list[str]:
    """Search results for people, from their JSON."""
    if not passages:
        return ["Nothing found."]
    lines: list[str] = []
    for p in passages:
        text = " ".join(p["text"].split())
        lines.append(f"{p['rank']:>2}. {p['title']} ({place(p['anchor'])})  {p['path']}")
        lines.append(f"    {text[:_EXCERPT]}{'…' if len(text) > _EXCERPT else ''}")
    return lines


def answer_json(message: Message) -> dict[str, Any]:
    """The document of `ask --json`.

    It has `nearest` only when nothing seems to be about the question, and `notes` only when the
    search made something else of the question.
    """
    document: dict[str, Any] = {
        "answer": message.text,
        "citations": [_source_json(s) for s in message.sources if s.is_cited],
        "claims": [],
        "follow_ups": [],
        "model": message.model,
        "seconds": round(message.seconds, 3),
    }
    if message.nearest:
        document["nearest"] = [_source_json(s) for s in message.nearest]
    if message.notes and (said := message.notes.in_words()):
        document["notes"] = message.notes.to_json() | {"text": said}
    return document


def answer_lines(answer: dict[str, Any]) -> list[str]:
    """An answer for people, from its JSON: the text, then the sources with their places."""
    excerpts = "Excerpts from your documents (no endpoint is set)" if answer["citations"] else ""
    by = answer["model"] or excerpts
    lines = [_ESCAPE.sub(r"\1", answer["answer"]), ""]
    if notes := answer.get("notes"):
        lines.append(notes["text"])
    lines.append(f"{by}{', ' if by else ''}{answer['seconds']:.1f} s")
    listed = {"Sources": answer["citations"], NEAREST: answer.get("nearest", [])}
    for heading, sources in listed.items():
        lines += ["", f"{heading}:"] if sources else []
        lines += [f"[{s['n']}] {s['title']}, {place(s['anchor'])}  {s['path']}" for s in sources]
    return lines


def _source_json(source: SourceRef) -> dict[str, Any]:
    return {
        "n": source.n,
        "path": location(source.path, source.part, source.url),
        "title": source.title,
        "anchor": source.anchor.to_json(),
        "quote": source.quote,
    }


def status_json(
    sources: Sequence[tuple[Source, DocumentCounts]], unread: Sequence[Document] | None
) -> dict[str, Any]:
    """The document of `status --json`; `unread` (failed and skipped) is listed when asked for."""
    total: dict[str, int] = {}
    for _, counts in sources:
        for state, count in counts.by_state.items():
            total[state.value] = total.get(state.value, 0) + count
    document: dict[str, Any] = {
        "documents": total,
        "sources": [
            {
                "path": source.name if source.links else str(source.path),
                "state": source.state.value,
                "documents": {s.value: n for s, n in counts.by_state.items()},
            }
            for source, counts in sources
        ],
    }
    if unread is not None:
        document["failed"] = _with_reasons(unread, DocumentState.FAILED)
        document["skipped"] = _with_reasons(unread, DocumentState.SKIPPED)
    return document


def status_lines(status: dict[str, Any]) -> list[str]:
    """The status for people, from its JSON."""
    if not status["sources"]:
        return ["No folders yet. Add one with: desktop-rag index FOLDER"]
    lines: list[str] = []
    for source in status["sources"]:
        counts = ", ".join(f"{n:,} {state}" for state, n in source["documents"].items())
        lines.append(f"{source['path']} ({source['state']}): {counts or 'no files yet'}")
    for kind in ("failed", "skipped"):
        lines += [f"{kind}: {row['path']}: {row['reason']}" for row in status.get(kind, [])]
    return lines


def location(path: str, part: str, url: str) -> str:
    """Where a document is: the address of a page, else the file and the way to a part of it."""
    return url or (f"{path}{HEADING_SEPARATOR}{part}" if part else path)


def place(anchor: dict[str, Any]) -> str:
    """The place of an anchor's JSON in words."""
    return Anchor.from_json(anchor).label() or "whole file"


def _is_searchable(document: Document) -> bool:
    return document.state in (DocumentState.SEARCHABLE, DocumentState.SEARCHABLE_BY_WORDS)


def _with_reasons(documents: Sequence[Document], state: DocumentState) -> list[dict[str, str]]:
    found = [d for d in documents if d.state is state]
    return [{"path": location(str(d.path), d.part, d.url), "reason": d.reason} for d in found]
