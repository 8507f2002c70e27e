"""Whether the place offered to verify a claim is in a document about the same firm.

Over an indexed library of annual reports whose file names begin with the firm, FIRM_YEAR_KIND.pdf,
and questions with their answers (queries.jsonl: text, answer, justification, company). Each
sentence of an answer is a claim; its sources are those that the app finds for the question. Beside
it stands the nearest passage of the library, whatever it is about.
Run: DESKTOP_RAG_HOME=… python benchmarks/answers/offered_places.py queries.jsonl
"""

import json
import sys
import threading
from collections import Counter
from pathlib import Path

from desktop_rag.app import build_services
from desktop_rag.core.conversation import AnswerDone, Message, Role
from desktop_rag.core.paths import find_home
from desktop_rag.core.text import sentences, words

_SHORTEST_WORDS = 4
_LEAST_RELEVANCE = 0.05


def main() -> int:
    """Print the shares."""
    services = build_services(find_home())
    chat, counts = services.chat, Counter[str]()
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    for row in map(json.loads, lines):
        question = Message("q", "", Role.USER, row["text"], 0.0)
        events = list(chat.answer([question], chat.set_up(), cancel=threading.Event()))
        sources = next(e.message.sources for e in events if isinstance(e, AnswerDone))
        for claim in _claims(row):
            found = chat.search(" ".join(words(claim)), limit=1)
            nearest = [p for p in found if p.relevance >= _LEAST_RELEVANCE]
            offer = chat.place_about(claim, sources)
            counts["claims"] += 1
            for name, path in (
                ("before", nearest[0].path if nearest else ""),
                ("now", offer.path if offer else ""),
            ):
                counts[f"{name}: offers"] += bool(path)
                counts[f"{name}: of the firm"] += bool(path) and _firm(path) == _plain(row)
    services.close()
    for name, count in sorted(counts.items()):
        sys.stdout.write(f"{name:20} {count}\n")
    return 0


def _claims(row: dict[str, str]) -> list[str]:
    texts = [row["answer"], row.get("justification") or ""]
    found = [text[start:end] for text in texts for start, end in sentences(text)]
    return [claim for claim in found if len(words(claim)) >= _SHORTEST_WORDS]


def _firm(path: str) -> str:
    return Path(path).stem.split("_")[0].casefold()


def _plain(row: dict[str, str]) -> str:
    return "".join(c for c in row["company"].casefold() if c.isalnum())


if __name__ == "__main__":
    sys.exit(main())
