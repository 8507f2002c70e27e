"""The output of the verbs: one JSON document, or lines for people. Pure."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from desktop_rag.core.claims import SIGNS, Claim, Verdict
from desktop_rag.core.conversation import (
    NEAREST,
    OWN_KNOWLEDGE,
    Message,
    MessageState,
    SearchNotes,
    SearchResult,
    SourceRef,
)
from desktop_rag.core.crawling import CrawlReport
from desktop_rag.core.domain import Collection, Document, DocumentState, Passage, Source
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.core.markup.snippet import snippet
from desktop_rag.core.parsed import HEADING_SEPARATOR, Anchor, Chunk

_EXCERPT = 300
_NOTHING_RELEVANT = "Nothing in your documents seems to be about this."
_UNSTORED = "This answer is not stored yet: the disk refuses it. Until it is, it can be lost."
_GONE = DocumentState.GONE
# Excerpts escape Markdown; a terminal shows plain text.
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]<>#|~])")


def index_json(
    documents: Sequence[Document],
    *,
    embedded_chunks: int,
    seconds: float,
    words_seconds: float,
    pictures_waiting: int = 0,
    crawls: Sequence[CrawlReport] = (),
) -> dict[str, Any]:
    """The document of `index --json`: the result of one run, over these documents.

    `pictures_waiting` are those of the whole library, `not_read` are links that led to no document.
    """
    listed = {file.url for file in documents}
    refused = [each for report in crawls for each in report.refused if each.url not in listed]
    files = [d for d in documents if not d.parent_id and d.state is not _GONE]
    chunks = sum(d.chunk_count for d in documents if d.state.is_searchable)
    return {
        "files": len(files),
        "searchable": sum(file.state.is_searchable for file in files),
        "by_words_only": sum(d.state is DocumentState.SEARCHABLE_BY_WORDS for d in documents),
        "embedded_chunks": embedded_chunks,
        "reused_chunks": max(0, chunks - embedded_chunks),
        "seconds": round(seconds, 2),
        "words_seconds": round(words_seconds, 2),
        "pictures_waiting": pictures_waiting,
        "failed": _with_reasons(files, DocumentState.FAILED),
        "skipped": _with_reasons(files, DocumentState.SKIPPED),
        "not_read": [{"path": each.url, "reason": each.reason} for each in refused],
    }


def index_lines(report: Mapping[str, Any]) -> list[str]:
    """The report for people."""
    total = (
        f"{report['searchable']:,} of {report['files']:,} files are searchable "
        f"({report['embedded_chunks']:,} passages embedded, {report['reused_chunks']:,} "
        f"reused) after {report['seconds']} s, by words after {report['words_seconds']} s."
    )
    lines = [total, *_unfinished(report["by_words_only"])]
    if pictures := report.get("pictures_waiting"):
        lines.append(
            f"{pictures:,} pictures and scanned pages wait: `index --all-pictures` reads them."
        )
    for kind in ("failed", "skipped", "not_read"):
        words = kind.replace("_", " ")
        lines += [f"{words}: {row['path']}: {row['reason']}" for row in report.get(kind, ())]
    return lines


def search_json(found: SearchResult) -> dict[str, Any]:
    """The document of `search --json --notes`; `notes` is null for a query taken as it is."""
    return {
        "passages": _passages_json(found.passages),
        "notes": _notes_json(found.notes),
        "is_relevant": found.is_relevant,
    }


def _passages_json(passages: Sequence[Passage]) -> list[dict[str, Any]]:
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


def notes_lines(found: dict[str, Any]) -> list[str]:
    """The notes of a search, and a line when nothing is relevant, from its JSON."""
    lines = [found["notes"]["text"]] if found["notes"] else []
    if found["passages"] and not found["is_relevant"]:
        lines.append(_NOTHING_RELEVANT)
    return lines


def search_lines(
    found: dict[str, Any], *, words: str = "", shows_nearest: bool = False
) -> list[str]:
    """Search results for people, from their JSON; of each passage the part around the `words`.

    When nothing seems relevant, the passages are listed only if `shows_nearest`.
    """
    lines = notes_lines(found)
    if not found["passages"]:
        return [*lines, "Nothing found."]
    if not found["is_relevant"]:
        if not shows_nearest:
            return [*lines, "Use --nearest to list the nearest passages."]
        lines += ["", f"{NEAREST}:"]
    for p in found["passages"]:
        # The space marks the last word as complete.
        piece, _ = snippet(p["text"], f"{words} ", _EXCERPT)
        lines.append(f"{p['rank']:>2}. {p['title']} ({place(p['anchor'])})  {p['path']}")
        lines.append(f"    {piece}")
    return lines


def answer_json(message: Message) -> dict[str, Any]:
    """The document of `ask --json`.

    It has `nearest` only when nothing seems relevant, `notes` when the search changed the question,
    `proposal`, a command's id, when one waits for the person, `is_own_knowledge` when the answer
    rests on no document, `is_unsure` when its excerpts may not be about the question, `state` when
    it is incomplete, `error` (`title`, `hint`) when that has a reason, and `is_stored`, false,
    while the disk refuses it.
    """
    document: dict[str, Any] = {
        "answer": message.text,
        "citations": [_source_json(s) for s in message.sources if s.is_cited],
        "claims": [_claim_json(claim, message.sources) for claim in message.claims],
        "follow_ups": list(message.follow_ups),
        "model": message.model,
        "seconds": round(message.seconds, 3),
    }
    if message.is_unstored:
        document["is_stored"] = False
    if message.state is not MessageState.DONE:
        document["state"] = message.state.value
    if message.error_title:
        document["error"] = {"title": message.error_title, "hint": message.error_hint}
    if message.is_own_knowledge:
        document["is_own_knowledge"] = True
    if message.notes and message.notes.is_unsure:
        document["is_unsure"] = True
    if message.nearest:
        document["nearest"] = [_source_json(s) for s in message.nearest]
    if message.notes and message.notes.proposal:
        document["proposal"] = message.notes.proposal
    if notes := _notes_json(message.notes):
        document["notes"] = notes
    return document


def _claim_json(claim: Claim, sources: Sequence[SourceRef]) -> dict[str, Any]:
    evidence = claim.checked.evidence
    source = next((source for source in sources if source.n == claim.n), None)
    told = {"model": claim.judge, "reason": claim.reason}
    return {
        "text": claim.checked.claim,
        "verdict": claim.verdict.value,
        "is_near": claim.checked.is_near,
        "evidence": source.text[evidence.start : evidence.end] if source and evidence else "",
        "n": claim.n,
        "explanation": claim.checked.explanation,
        **({"judged": told} if claim.judge else {}),
    }


def _notes_json(notes: SearchNotes | None) -> dict[str, Any] | None:
    if notes and (said := notes.in_words()):
        return notes.to_json() | {"text": said}
    return None


def answer_lines(answer: dict[str, Any]) -> list[str]:
    """An answer for people, from its JSON: the text, then the sources with their places."""
    by = answer["model"] or ("Excerpts from your documents" if answer["citations"] else "")
    by += f", {OWN_KNOWLEDGE}" if answer.get("is_own_knowledge") else ""
    lines = [_ESCAPE.sub(r"\1", answer["answer"]), ""]
    if notes := answer.get("notes"):
        lines.append(notes["text"])
    lines.append(f"{by}{', ' if by else ''}{answer['seconds']:.1f} s")
    if not answer.get("is_stored", True):
        lines.append(_UNSTORED)
    listed = {"Sources": answer["citations"], NEAREST: answer.get("nearest", [])}
    for heading, sources in listed.items():
        lines += ["", f"{heading}:"] if sources else []
        for s in sources:
            lines.append(f"[{s['n']}] {s['title']}, {place(s['anchor'])}  {s['path']}")
            lines += [f"    {line}" for line in s.get("query", "").splitlines()]
    return lines + _check_lines(answer["claims"])


def failure_lines(answer: dict[str, Any]) -> list[str]:
    """How an answer ended that did not come to its end, from its JSON; [] for any other."""
    if "state" not in answer:
        return []
    error = answer.get("error") or {"title": f"The answer was {answer['state']}.", "hint": ""}
    return [line for line in (error["title"], error["hint"]) if line]


def _check_lines(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """The result of the check, and the sentences to be careful with."""
    if not claims:
        return []
    unsaid = [claim for claim in claims if claim["verdict"] != Verdict.SUPPORTED]
    doubtful = [claim for claim in unsaid if not claim["is_near"]]
    unchecked = sum(claim["verdict"] == Verdict.NOT_CHECKED for claim in claims)
    backed = len(claims) - len(unsaid)
    noun = "sentence" if len(claims) == 1 else "sentences"
    are = "is" if backed == 1 else "are"
    line = f"Checked: {backed} of {len(claims)} {noun} {are} backed by sources"
    lines = ["", f"{line}; {unchecked} could not be checked." if unchecked else f"{line}."]
    for claim in doubtful:
        sign, verdict = SIGNS[Verdict(claim["verdict"])]
        lines.append(f"{sign} {verdict}: {' '.join(claim['text'].split())}")
    return lines


def _source_json(source: SourceRef) -> dict[str, Any]:
    """A source as JSON, with `query` only when it is the result of one."""
    query = {"query": source.query} if source.query else {}
    return {
        "n": source.n,
        "path": location(source.path, source.part, source.url),
        "title": source.title,
        "anchor": source.anchor.to_json(),
        "quote": source.quote,
        **query,
    }


def status_json(
    sources: Sequence[tuple[Source, DocumentCounts]],
    collections: Sequence[Collection],
    unread: Sequence[Document] | None,
) -> dict[str, Any]:
    """The document of `status --json`; `unread` (failed and skipped) is listed on request.

    A collection with an empty `model` uses that of the settings.
    """
    document: dict[str, Any] = {
        "documents": _by_state([counts for _, counts in sources]),
        "sources": [
            {
                "path": str(source.path) if source.is_on_disk else source.name,
                "state": source.state.value,
                "documents": {s.value: n for s, n in counts.by_state.items()},
            }
            for source, counts in sources
        ],
    }
    document["collections"] = [{"name": c.name, "model": c.embedder} for c in collections]
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
    own = [row for row in status["collections"] if row["model"]]
    lines += [f"Collection {row['name']}: {_model_in_words(row)}" for row in own]
    for kind in ("failed", "skipped"):
        lines += [f"{kind}: {row['path']}: {row['reason']}" for row in status.get(kind, [])]
    return lines


def collection_json(
    collection: Collection, answered_by: str, counts: Sequence[DocumentCounts]
) -> dict[str, Any]:
    """A row of `collection list --json`; `answered_by` is the model searched now, if any."""
    return {
        "name": collection.name,
        "model": collection.embedder,
        "answered_by": answered_by,
        "sources": len(counts),
        "documents": _by_state(counts),
        "intranet_hosts": list(collection.intranet_hosts),
    }


def collection_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The collections for people, from their JSON."""
    lines: list[str] = []
    for row in rows:
        counts = ", ".join(f"{n:,} {state}" for state, n in row["documents"].items())
        answering = f"answered by {row['answered_by']}" if row["answered_by"] else "no answers yet"
        lines.append(f"{row['name']}: {counts or 'no documents yet'}")
        lines.append(f"    {_model_in_words(row)}; {answering}")
        if row["intranet_hosts"]:
            lines.append(f"    hosts of the local network: {', '.join(row['intranet_hosts'])}")
    return lines


def set_model_lines(report: dict[str, Any]) -> list[str]:
    """The result of `collection set-model` for people, from its JSON."""
    done = f"{report['embedded_chunks']:,} passages embedded after {report['seconds']} s."
    waiting = report["documents"].get(DocumentState.SEARCHABLE_BY_WORDS.value, 0)
    return [*collection_lines([report]), done, *_unfinished(waiting)]


def _model_in_words(row: dict[str, Any]) -> str:
    return f"model {row['model']}" if row["model"] else "the model of the settings"


def _unfinished(documents: int) -> list[str]:
    if not documents:
        return []
    noun = "document is" if documents == 1 else "documents are"
    return [
        f"{documents:,} {noun} found by words only so far. The next run continues with the rest."
    ]


def _by_state(counts: Sequence[DocumentCounts]) -> dict[str, int]:
    return {state.value: n for state, n in DocumentCounts.sum_of(counts).by_state.items()}


def passage_json(path: Path, passage: Chunk) -> dict[str, Any]:
    """A passage that a file is cut into: `text` is [start, end) of the file's text."""
    return {
        "file": str(path),
        "position": passage.position,
        "place": passage.anchor.label(),
        "start": passage.start,
        "end": passage.end,
        "context": passage.context,
        "text": passage.text,
        "anchor": passage.anchor.to_json(),
    }


def location(path: str, part: str, url: str) -> str:
    """The location of a document: the address of a page, or the file and the part of it."""
    return url or (f"{path}{HEADING_SEPARATOR}{part}" if part else path)


def place(anchor: dict[str, Any]) -> str:
    """The place of an anchor's JSON in words."""
    return Anchor.from_json(anchor).label() or "whole file"


def _with_reasons(documents: Sequence[Document], state: DocumentState) -> list[dict[str, str]]:
    found = [d for d in documents if d.state is state]
    return [{"path": location(str(d.path), d.part, d.url), "reason": d.reason} for d in found]
