from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.answer.conversations.personal import Rewrites, is_of
from desktop_rag.core.conversation import Message, Role, SourceRef
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Anchor

CITED = SourceRef(1, "d", "/docs/a.pdf", 'The "A"', Anchor(page=3), "text", 0.5, is_cited=True)
UNCITED = SourceRef(2, "e", "/docs/b.md", "B", Anchor(line=1), "text", 0.5)
ANSWER = Message(
    "0123456789abcdef", "c", Role.ASSISTANT, "At dusk [1][2].", 5.0, sources=(CITED, UNCITED)
)
QUESTION = "When is the\nlamp lit?"


@pytest.fixture
def kept() -> list[Path]:
    return []


@pytest.fixture
def rewrites(tmp_path: Path, kept: list[Path]) -> Rewrites:
    return Rewrites(tmp_path / "rewrites", kept.append)


def test_the_file_says_what_was_asked_and_what_it_rests_on(
    rewrites: Rewrites, kept: list[Path]
) -> None:
    path = rewrites.write(QUESTION, ANSWER, "  At **seven**.\n\nOr later.  ")
    assert path.name == "when-is-the-lamp-lit-0123456789ab.md"
    text = path.read_text(encoding="utf-8")
    assert 'question: "When is the lamp lit?"\ndate: 20' in text
    assert 'sources:\n  - "The \\"A\\", page 3, /docs/a.pdf"\n---\n' in text
    assert text.endswith("# Your answer: When is the lamp lit?\n\nAt **seven**.\n\nOr later.\n")
    assert kept == [path.parent]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_what_was_written_is_edited_again_in_the_same_file(rewrites: Rewrites) -> None:
    assert rewrites.text(ANSWER) == "At dusk."
    assert rewrites.names() == frozenset()
    first = rewrites.write(QUESTION, ANSWER, "At seven.")
    assert rewrites.text(ANSWER) == "At seven."
    assert rewrites.write("Asked otherwise?", ANSWER, "# Your answer: eight\nor nine") == first
    assert rewrites.text(ANSWER) == "# Your answer: eight\nor nine"
    [name] = rewrites.names()
    assert is_of(name, ANSWER)
    assert not is_of(name, Message("f" * 16, "c", Role.ASSISTANT, "x", 5.0))


def test_a_rewrite_is_deleted_and_the_answer_stays(rewrites: Rewrites) -> None:
    rewrites.write(QUESTION, ANSWER, "At seven.")
    rewrites.delete(ANSWER)
    rewrites.delete(ANSWER)
    assert rewrites.names() == frozenset()
    assert rewrites.text(ANSWER) == "At dusk."


@pytest.mark.parametrize("question", ["", "???", "x" * 5_000, "燈塔？" * 50, "../../etc/passwd"])
def test_any_question_makes_a_name(rewrites: Rewrites, tmp_path: Path, question: str) -> None:
    path = rewrites.write(question, ANSWER, "At seven.")
    assert path.parent == tmp_path / "rewrites"
    assert rewrites.text(ANSWER) == "At seven."


def test_what_cannot_be_written_is_told(tmp_path: Path, kept: list[Path]) -> None:
    (tmp_path / "rewrites").write_text("in the way")
    with pytest.raises(AppError, match="could not be kept"):
        Rewrites(tmp_path / "rewrites", kept.append).write(QUESTION, ANSWER, "At seven.")
    assert kept == []


def test_numbers_in_code_are_no_sources(rewrites: Rewrites) -> None:
    text = "Use `lamps[1]` [1]:\n\n```\nx = lamps[2]\n```"
    assert rewrites.text(replace(ANSWER, text=text)).count("lamps[") == 2
    assert rewrites.text(replace(ANSWER, text=text)).startswith("Use `lamps[1]`:")
