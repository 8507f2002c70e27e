"""Whether a second question without a model is answered as it was meant.

Indexes the texts of follow_ups.toml with the app itself and asks the second question of each
dialogue in three ways: after the first as the app does, together with the first, and alone. It is
right when the sentence that answers it is among the first two of the answer. The dialogues held out
are counted apart.
Run: python benchmarks/answers/follow_ups.py [--wrong] [--held-out]
"""

import argparse
import os
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

from desktop_rag import app
from desktop_rag.core.conversation import AnswerDone, Message, Role
from desktop_rag.core.paths import Home
from desktop_rag.core.text import sentences

_WAIT_S = 600
_HELD_OUT = 3
_FIRST = 2
WAYS = ("as the app does", "always joined", "never joined")


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Two questions, and words of the sentence that answers the second."""

    kind: str
    first: str
    then: str
    gold: str
    is_held_out: bool


def main() -> int:
    """Print a line for each kind and way, and with --wrong each wrong answer of the app."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="print the wrong answers of the app")
    parser.add_argument("--held-out", action="store_true", help="ask those held out as well")
    arguments = parser.parse_args()
    right, asked = Counter[tuple[str, str]](), Counter[str]()
    for dialogue, answers in _answered(with_held_out=arguments.held_out):
        kind = f"{dialogue.kind}{', held out' if dialogue.is_held_out else ''}"
        asked[kind] += 1
        for way, answer in answers.items():
            right[kind, way] += _is_right(answer, dialogue)
        answer = answers[WAYS[0]]
        if arguments.wrong and not _is_right(answer, dialogue):
            understood = answer.notes.asked if answer.notes else ""
            _say(f"{kind}: {dialogue.first} {dialogue.then} [{understood}] → {_first_of(answer)}")
    for kind, count in sorted(asked.items()):
        for way in WAYS:
            _say(f"{kind}, {way}: {right[kind, way]} of {count} right")
    return 0


def _answered(*, with_held_out: bool) -> Iterator[tuple[Dialogue, dict[str, Message]]]:
    """The dialogues with the answer to the second question in each way."""
    path = Path(__file__).with_name("follow_ups.toml")
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        papers = Path(folder) / "papers"
        papers.mkdir()
        for name, text in tables["texts"].items():
            (papers / name).write_text(text, encoding="utf-8")
        services = app.build_services(Home(Path(folder) / "home"))
        try:
            services.library.sources.add(papers)
            services.library.start(watch=False)
            assert services.library.indexing.wait_until_idle(_WAIT_S)
            for dialogue in _dialogues(tables["dialogues"]):
                if with_held_out or not dialogue.is_held_out:
                    yield dialogue, _in_each_way(services, dialogue)
        finally:
            services.close()


def _dialogues(rows: list[dict[str, str]]) -> Iterator[Dialogue]:
    seen = Counter[str]()
    for row in rows:
        seen[row["kind"]] += 1
        yield Dialogue(**row, is_held_out=seen[row["kind"]] % _HELD_OUT == 0)


def _in_each_way(services: app.Services, dialogue: Dialogue) -> dict[str, Message]:
    asked = _question(dialogue.first)
    before = [asked, _answer(services, [asked])]
    return {
        WAYS[0]: _answer(services, [*before, _question(dialogue.then)]),
        WAYS[1]: _answer(services, [_question(f"{dialogue.first} {dialogue.then}")]),
        WAYS[2]: _answer(services, [_question(dialogue.then)]),
    }


def _question(text: str) -> Message:
    return Message("", "", Role.USER, text, time.time())


def _answer(services: app.Services, messages: list[Message]) -> Message:
    cancel = threading.Event()
    *_, done = services.chat.answer(messages, services.chat.set_up(), cancel=cancel)
    assert isinstance(done, AnswerDone)
    return done.message


def _is_right(answer: Message, dialogue: Dialogue) -> bool:
    return dialogue.gold in _first_of(answer)


def _first_of(answer: Message) -> str:
    """The first sentences of an answer, on one line."""
    spans = sentences(answer.text)[:_FIRST]
    return " ".join(" ".join(answer.text[start:end] for start, end in spans).split())


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
