"""How often a question is wrongly taken for small talk or for one that names a file.

Each set has questions.jsonl or queries.jsonl with a `text` a line; its corpus.jsonl gives the
titles that stand for file names. Beside the rules stands the simplest method: a question is small
talk when it has a word of greeting or thanks, and names a file when it has all words of its name.
Run: python benchmarks/answers/question_kinds.py SET … [--small-talk FILE KIND,…]
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from desktop_rag.answer.small_talk import reply_to
from desktop_rag.answer.understanding.scoping import mentioned_files
from desktop_rag.core.text import words

_SIMPLE = re.compile(r"(?i)\b(?:hello|hi|hey|thanks|thank|bye|help|you|good (?:morning|evening))\b")
_LONGEST_NAME = 80


def main() -> int:
    """Print a line per set, and the questions that were taken for something else."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--small-talk", nargs=2, metavar=("FILE", "KINDS"))
    arguments = parser.parse_args()
    asked = talked = simple_talk = named = simple_named = 0
    for folder in arguments.sets:
        questions = [row["text"] for row in _rows(folder / "queries.jsonl")]
        paths = _names(folder)
        taken = [q for q in questions if reply_to(q)]
        naming = [(q, found) for q in questions if (found := _named(q, paths))]
        asked += len(questions)
        talked += len(taken)
        simple_talk += sum(bool(_SIMPLE.search(q)) for q in questions)
        named += len(naming)
        simple_named += sum(any(_has_all(q, path) for path in paths) for q in questions)
        _say(f"{folder.name}: {len(questions)} questions, {len(paths)} names")
        for line in (*taken, *(f"{q} → {', '.join(found)}" for q, found in naming)):
            _say(f"    {line}")
    _say(f"{asked} questions; as small talk {talked} (simplest method {simple_talk});")
    _say(f"as naming a file {named} (simplest method {simple_named})")
    if arguments.small_talk:
        file, kinds = arguments.small_talk
        said = [r["text"] for r in _rows(Path(file)) if r["intent"] in kinds.split(",")]
        _say(f"small talk: {sum(bool(reply_to(text)) for text in said)} of {len(said)} recognised")
    return 0


def _names(folder: Path) -> list[str]:
    corpus = folder / "corpus.jsonl"
    titles = {row.get("title") or "" for row in _rows(corpus)} if corpus.exists() else set[str]()
    return sorted(f"/library/{title[:_LONGEST_NAME].replace('/', '-')}.md" for title in titles)


def _named(question: str, paths: list[str]) -> list[str]:
    plain = "".join(c for c in question.casefold() if c.isalnum())
    near = [p for p in paths if "".join(c for c in Path(p).stem.casefold() if c.isalnum()) in plain]
    return [path for mention in mentioned_files(question, near) for path in mention.paths]


def _has_all(question: str, path: str) -> bool:
    name = {word.casefold() for word in words(Path(path).stem.replace("_", " "))}
    return bool(name) and name <= {word.casefold() for word in words(question)}


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
