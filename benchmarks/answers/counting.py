"""Whether questions for a number of records are answered with the right one.

Makes folders of Markdown with so many records in several structures and languages, indexes them
with the app itself, and asks each about its folder: for all records, for those in a state, with a
thing, without it, and over a number. Without a model all of it is counted by code.
Run: python benchmarks/answers/counting.py [--sizes 20,102,500] [--structures NAME,…] [--all]
"""

import argparse
import os
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

from desktop_rag import app
from desktop_rag.core.conversation import AnswerDone
from desktop_rag.core.paths import Home
from desktop_rag.core.question_scope import QuestionScope, ScopeItem

sys.path.insert(0, str(Path(__file__).parent))
from counting_folders import HELD_OUT, LANGUAGES, SEEN, Structure, entries, expected

_WAIT_S = 1_800
_SLOW_S = 3
_KINDS = ("all", "in a state", "with a thing", "without it", "over a number")
_NUMBER = re.compile(r"\A\*\*([\d,.]+)\*\*")


def main() -> int:
    """Print each wrong answer, and a line for each structure and kind of question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="20,102,500")
    parser.add_argument("--structures", default="")
    parser.add_argument("--languages", default="en,de,fr,es,it,nl,pl,pt")
    arguments = parser.parse_args()
    names = arguments.structures.split(",") if arguments.structures else list(SEEN | HELD_OUT)
    sizes = [int(size) for size in arguments.sizes.split(",")]
    structures = {name: (SEEN | HELD_OUT)[name] for name in names}
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as home:
        root = Path(home) / "files"
        cases = list(_made(root, structures, sizes, arguments.languages.split(",")))
        for structure, kind, question, number, said in _answers(Path(home), root, cases):
            is_right = said == number
            for key in (structure, kind, "everything"):
                right[key] += is_right
                asked[key] += 1
            if not is_right:
                _say(f"    {structure}: {question} → {said}, not {number}")
    for key, count in asked.items():
        _say(f"{key}: {right[key]} of {count} right")
    return 0


Case = tuple[str, Path, str, tuple[int, ...]]


def _made(
    root: Path, structures: dict[str, Structure], sizes: list[int], languages: list[str]
) -> Iterator[Case]:
    """Write the folders; every size in two languages, all languages at one size."""
    seed = 0
    for name, structure in structures.items():
        for place, language in enumerate(languages):
            size = sizes[place % len(sizes)]
            words, seed = LANGUAGES[language], seed + 1
            records = entries(size, words, seed)
            folder = root / f"{name}-{language}-{size}"
            for path, text in structure(records, words).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text, encoding="utf-8")
            yield name, folder, language, expected(records, words)


def _answers(
    home: Path, root: Path, cases: list[Case]
) -> Iterator[tuple[str, str, str, int, int | None]]:
    services = app.build_services(Home(home / "home"))
    try:
        services.library.sources.add(root)
        services.library.start(watch=False)
        # Records are counted in the text: vectors would take half an hour, and are not looked at.
        assert services.library.indexing.wait_until_searchable(_WAIT_S)
        services.library.indexing.pause()
        for name, folder, language, numbers in cases:
            scope = QuestionScope.of(ScopeItem.of_folder(folder))
            for kind, question, number in zip(
                _KINDS, LANGUAGES[language].asks, numbers, strict=True
            ):
                yield (
                    f"{name}",
                    kind,
                    f"{folder.name}: {question}",
                    number,
                    _asked(services, question, scope),
                )
    finally:
        services.close()


def _asked(services: app.Services, question: str, scope: QuestionScope) -> int | None:
    began = time.monotonic()
    *_, last = services.chat.ask(question, scope=scope, cancel=threading.Event())
    assert isinstance(last, AnswerDone)
    if (took := time.monotonic() - began) > _SLOW_S:
        _say(f"    {question}: {took:.1f} s")
    found = _NUMBER.match(last.message.text)
    return int(re.sub(r"\D", "", found[1])) if found else None


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
