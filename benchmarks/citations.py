"""Checks every displayed citation: hundreds of scripted answers, real files, real HTTP.

python benchmarks/citations.py [--answers N] [--documents FOLDER]

A folder is indexed, questions are asked, and a server answers like bad models do: sentences of the
documents and others, with right, wrong, missing and odd markers. Counts, over all answers as stored
and shown, markers of sources that were not sent, and cited words that do not occur in their file at
their location.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
from dataclasses import dataclass, replace
from pathlib import Path

from bars import Bar, at_least, at_most, reported, table

from desktop_rag import app
from desktop_rag.answer.citing.citations import citations
from desktop_rag.core.conversation import AnswerDone, Message, SourcesFound
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.core.text import sentences
from tests.servers.chat_server import ChatServer

_DOCUMENTS = (
    Path(__file__).parents[2] / "shared" / "bench" / "retrieval" / "chunk_eval" / "documents"
)
_ANSWERS = 500
_SEED = 20
_MARKERS = (
    "[{n}]", " [{n}]", " [{n}, {m}]", "【{n}】", "【{n}†source】", " (source {n})", " [doc {n}]",
    " [{n}][{m}]", " [[{n}]]", " [{n}-{m}]", " [{n}; {m}]", " (see sources {n} and {m})",
    " [99]", " [0]", " [12, 77]", " 【31】", " [Source: {n}]", " [{n}, p. 4]", " [{n}]: note",
    "", "", "", "", "",
)  # fmt: skip
_INVENTED = (
    "The committee met twice.", "Nothing of this is known.", "It costs 4,200 euros.",
    "An `array[1]` holds it.", "See [this](https://example.invalid).", "- [x] done", "[^1]",
)  # fmt: skip


@dataclass
class Counts:
    """The counts over all answers."""

    answers: int = 0
    shown: int = 0
    unknown: int = 0
    quotes: int = 0
    misplaced: int = 0


def main() -> None:
    """Measure and print; exit code 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=_ANSWERS)
    parser.add_argument("--documents", type=Path, default=_DOCUMENTS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bars = measure(Path(scratch), arguments.documents, arguments.answers)
    print("\n".join(table(bars)))
    missed = [bar.name for bar in bars if bar.is_met is False]
    print(json.dumps({"bars": [bar.to_json() for bar in bars], "missed": missed}))
    sys.exit(bool(missed))


def measure(scratch: Path, documents: Path, answers: int) -> list[Bar]:
    """All bars."""
    home = Home(scratch / "home")
    counts, chance = Counts(), random.Random(_SEED)
    with ChatServer() as server:
        server.piece_chars = 40
        services = app.build_services(home)
        try:
            services.library.start(watch=False)
            services.library.sources.add(documents)
            while not services.library.indexing.wait_until_idle(10.0):
                pass
            services.chat.apply(replace(Settings(), endpoint=server.endpoint()))
            texts = [
                services.chat.document_text(d.document_id)
                for d in services.library.documents.all()
                if d.chunk_count
            ]
            for _ in range(answers):
                _ask(services, server, texts, chance, counts)
        finally:
            services.close()
    return [
        reported("scripted answers", counts.answers),
        reported("markers shown", counts.shown),
        at_most("markers shown that were not among the sources", 0, counts.unknown),
        reported("cited words shown", counts.quotes),
        at_least("of those, share that stand in their file at their place", 1.0,
                 1 - counts.misplaced / max(1, counts.quotes)),
    ]  # fmt: skip


def _ask(
    services: app.Services,
    server: ChatServer,
    texts: list[str],
    chance: random.Random,
    counts: Counts,
) -> None:
    said = _sentence(chance.choice(texts), chance)
    server.answer = _scripted(texts, said, chance)
    sent = 0
    message: Message | None = None
    for event in services.chat.ask(f"What is known of this: {said}", cancel=threading.Event()):
        if isinstance(event, SourcesFound):
            sent = len(event.sources)
        if isinstance(event, AnswerDone):
            message = event.message
    assert message is not None, "every answer ends"
    _count(services, message, sent, counts)


def _count(services: app.Services, message: Message, sent: int, counts: Counts) -> None:
    counts.answers += 1
    for citation in citations(message.text):
        counts.shown += 1
        counts.unknown += any(not 1 <= n <= sent for n in citation.numbers)
    for source in message.sources:
        if source.quote:
            counts.quotes += 1
            text = services.chat.document_text(source.document_id)
            counts.misplaced += text[source.start : source.end] != source.quote


def _scripted(texts: list[str], said: str, chance: random.Random) -> str:
    """Some sentences of the sources, of other documents or invented, with any marker."""
    parts: list[str] = []
    for _ in range(chance.randint(1, 7)):
        kind = chance.random()
        text = said if kind < 0.4 else _sentence(chance.choice(texts), chance)
        text = chance.choice(_INVENTED) if kind > 0.8 else text
        marker = chance.choice(_MARKERS).format(n=chance.randint(1, 9), m=chance.randint(1, 14))
        parts.append(text.rstrip(".") + marker + "." if chance.random() < 0.5 else text + marker)
    return chance.choice((" ", "\n\n", "\n- ")).join(parts)


def _sentence(text: str, chance: random.Random) -> str:
    spans = [span for span in sentences(text) if 30 < span[1] - span[0] < 300]
    start, end = chance.choice(spans or [(0, min(len(text), 200))])
    return " ".join(text[start:end].split())


if __name__ == "__main__":
    main()
