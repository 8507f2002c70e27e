"""Does search say so when nothing in a library is relevant? Questions of one set are asked in the
library of another, beside the library's own questions. No script: part of retrieval.py.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bars import Bar, reported

from desktop_rag.answer.chat import Chat
from desktop_rag.answer.fusion import IRRELEVANT_BELOW
from desktop_rag.core.settings import RetrievalSettings
from desktop_rag.evaluate.sets import Query, load_set

# An answer chooses its sources among so many times as many passages.
_DEPTH = 3
# Library → the set whose questions it cannot answer.
FOREIGN = {
    "squad": "pubmedqa",
    "pubmedqa": "squad",
    "lfqa_docs": "squad",
    "chunk_eval": "lfqa_docs",
}


def measure(sets: Path, library: str, own: Sequence[Query], chat: Chat) -> list[Bar]:
    """Shares of refused questions, foreign and own, in the library of a set; [] without others."""
    foreign = sets / FOREIGN.get(library, "")
    if library not in FOREIGN or not (foreign / "queries.jsonl").is_file():
        return []
    asked = load_set(foreign).queries
    return [
        reported(f"refused in {library}: questions of {foreign.name}", _share(asked, chat)),
        reported(f"refused in {library}: its own questions", _share(own, chat)),
    ]


def to_json(bars: Sequence[Bar]) -> dict[str, Any]:
    """The shares by name, with the threshold they depend on."""
    return {"irrelevant_below": IRRELEVANT_BELOW, "shares": {bar.name: bar.figure for bar in bars}}


def _share(queries: Sequence[Query], chat: Chat) -> float | None:
    if not queries:
        return None
    return sum(_is_refused(text, chat) for _, text in queries) / len(queries)


def _is_refused(text: str, chat: Chat) -> bool:
    """As an answer decides it: not one of the passages it may rest on is relevant enough."""
    found = chat.search(text, limit=_DEPTH * RetrievalSettings().passages)
    return all(passage.relevance < IRRELEVANT_BELOW for passage in found)
