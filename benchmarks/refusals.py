"""An answer must say that nothing is about the question, and only then. Questions of one set are
asked in the library of another, beside the library's own questions and questions for a name that
occurs in one text. Not a script: part of retrieval.py.
"""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

from bars import Bar, reported

from desktop_rag.answer.chat import Chat, user_message
from desktop_rag.core.conversation import AnswerDone
from desktop_rag.features.evaluation.measures.query_sets import KnownSet, load_set

_NAMES = 40
_FORMS = ("Who is Mr {}?", "What is {}?", "Tell me about {}.", "What did {} do in 2014?")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{4,}\b")
_WORD = re.compile(r"[a-z]+")
# Library → the set whose questions it cannot answer.
FOREIGN = {
    "squad": "pubmedqa",
    "pubmedqa": "squad",
    "lfqa_docs": "squad",
    "chunk_eval": "lfqa_docs",
}


def measure(sets: Path, library: str, own: KnownSet, chat: Chat) -> list[Bar]:
    """The share of refused questions in a set's library, by kind; [] without foreign questions."""
    foreign = sets / FOREIGN.get(library, "")
    if library not in FOREIGN or not (foreign / "queries.jsonl").is_file():
        return []
    kinds = {
        f"questions of {foreign.name}": [text for _, text in load_set(foreign).queries],
        "its own questions": [text for _, text in own.queries],
        "questions for a name in one text": _for_names([row["text"] for row in own.corpus]),
    }
    return [
        reported(f"refused in {library}: {kind}", _share(asked, chat))
        for kind, asked in kinds.items()
    ]


def to_json(bars: Sequence[Bar]) -> dict[str, Any]:
    """The shares by name."""
    return {"shares": {bar.name: bar.figure for bar in bars}}


def _for_names(texts: Sequence[str]) -> list[str]:
    """Questions for capitalised words inside a sentence that no other text contains."""
    seen = Counter(word for text in texts for word in set(_WORD.findall(text.lower())))
    names = dict.fromkeys(name for text in texts for name in _NAME.findall(text))
    single = [name for name in names if seen[name.lower()] == 1]
    chosen = single[:: max(1, len(single) // _NAMES)][:_NAMES]
    return [form.format(name) for name in chosen for form in _FORMS]


def _share(questions: Sequence[str], chat: Chat) -> float | None:
    if not questions:
        return None
    return sum(_is_refused(text, chat) for text in questions) / len(questions)


def _is_refused(text: str, chat: Chat) -> bool:
    """True when the answer without a model quotes nothing."""
    question = user_message(text)
    *_, done = chat.answer([question], chat.set_up(), cancel=Event())
    return isinstance(done, AnswerDone) and not done.message.sources
