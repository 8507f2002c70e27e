"""The sources of an answer as other programs get them. Pure but for the links.

Three layers carry them: annotations as OpenAI defines them, the app's own extension, and a list in
Markdown for programs that show neither.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from desktop_rag.core.claims import Claim, Verdict, place_of_sign
from desktop_rag.core.conversation import Message, SourceRef
from desktop_rag.core.domain import shown_name

_MARKER = re.compile(r"\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]")
_CODE = re.compile(r"(?s)```.*?(?:```|\Z)|`[^`\n]+`")
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~])")
# From the worst: a source is shown with the worst verdict of the sentences that cite it.
_WORST_FIRST = (Verdict.CONTRADICTED, Verdict.NOT_IN_SOURCES, Verdict.PARTLY, Verdict.SUPPORTED)
AddressOf = Callable[[SourceRef], str]


@dataclass(frozen=True, slots=True)
class Citation:
    """A [n] in the text of an answer, at [start, end)."""

    source: SourceRef
    start: int
    end: int


def citations(text: str, sources: Sequence[SourceRef]) -> list[Citation]:
    """The citations in a text, in its order; code has none."""
    by_number = {source.n: source for source in sources}
    code = [match.span() for match in _CODE.finditer(text)]
    return [
        Citation(by_number[n], match.start(), match.end())
        for match in _MARKER.finditer(text)
        if not any(start <= match.start() < end for start, end in code)
        for n in map(int, match[1].split(","))
        if n in by_number
    ]


def annotations(found: Sequence[Citation], address: AddressOf) -> list[dict[str, Any]]:
    """The `url_citation` of each citation, in the flat form of the Responses API."""
    return [
        {
            "type": "url_citation",
            "url": address(citation.source),
            "title": title_of(citation.source),
            "start_index": citation.start,
            "end_index": citation.end,
        }
        for citation in found
    ]


def nested(flat: dict[str, Any]) -> dict[str, Any]:
    """An annotation in the form of chat completions."""
    inner = {name: value for name, value in flat.items() if name != "type"}
    return {"type": flat["type"], "url_citation": inner}


def source_json(
    source: SourceRef, claims: Sequence[Claim], address: AddressOf, *, sees_paths: bool
) -> dict[str, Any]:
    """A source in the app's own extension; `verdict` is "" while no citing sentence is checked.

    Who doesn't see paths gets the name of the file.
    """
    path = "" if source.url else source.path if sees_paths else shown_name(source.path)
    found = {claim.verdict for claim in claims if claim.n == source.n}
    return {
        "n": source.n,
        "id": source.document_id,
        "title": title_of(source),
        "path": path,
        "address": source.url,
        "url": address(source),
        "place": source.anchor.label(),
        "quote": source.quote,
        "text": source.text,
        "score": round(source.score, 6),
        "is_cited": source.is_cited,
        "verdict": next((each.value for each in _WORST_FIRST if each in found), ""),
    }


def extension(message: Message, address: AddressOf, *, sees_paths: bool) -> dict[str, Any]:
    """The app's own part of a response. Its `text` is as stored, without unknown citations."""
    told = partial(source_json, address=address, sees_paths=sees_paths)
    files = message.notes.files if message.notes else None
    return {
        "text": message.text,
        "sources": [told(source, message.claims) for source in message.sources],
        "claims": [claim_json(claim, message.text) for claim in message.claims],
        "follow_ups": list(message.follow_ups),
        "matched": files.matched if files else None,
        "read": files.read if files else None,
        "notes": message.notes.in_words() if message.notes else "",
        "is_excerpts": message.is_excerpts,
        "is_unsure": bool(message.notes and message.notes.is_unsure),
        "is_own_knowledge": message.is_own_knowledge,
        "state": message.state.value,
    }


def claim_json(claim: Claim, text: str) -> dict[str, Any]:
    """A checked sentence: its place in `text`, the verdict, and the source of the evidence.

    The sign of the verdict goes in at `sign_at`, where it splits no citation, link or formula.
    """
    return {
        "text": claim.checked.claim,
        "start": claim.start,
        "end": claim.end,
        "sign_at": place_of_sign(text, claim),
        "verdict": claim.verdict.value,
        "is_near": claim.checked.is_near,
        "explanation": claim.reason or claim.checked.explanation,
        "source": claim.n or None,
    }


def markdown_list(sources: Sequence[SourceRef], address: AddressOf) -> str:
    """The cited sources as a list to be appended to the text; "" for none."""
    cited = [source for source in sources if source.is_cited]
    if not cited:
        return ""
    lines = [
        f"- [{source.n}] [{_escaped(_in_words(source))}]({address(source)})" for source in cited
    ]
    return "\n\n**Sources**\n\n" + "\n".join(lines)


def title_of(source: SourceRef) -> str:
    """The title of a source on one line."""
    return " ".join(source.title.split()) or shown_name(source.path) or source.url


def _in_words(source: SourceRef) -> str:
    title, place = title_of(source), source.anchor.label()
    # The path of headings begins with that of the document, which is often its title.
    return place if place.startswith(title) else ", ".join(filter(None, (title, place)))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
