"""How answers are measured against what is expected, and what a set of them may look like."""

import json
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.measures.answers import load_answer_set
from desktop_rag.features.evaluation.values.scoring import contains, token_f1


@pytest.mark.parametrize(
    ("answer", "expected", "f1"),
    [
        ("At dusk [1].", "at dusk", 1.0),
        ("It is lit at dusk [1][2].", "at dusk", 4 / 7),
        ("Never.", "at dusk", 0.0),
        ("", "at dusk", 0.0),
        ("dusk dusk", "dusk", 2 / 3),
        ("In der Dämmerung", "DÄMMERUNG", 0.5),
    ],
)
def test_words_in_common(answer: str, expected: str, f1: float) -> None:
    assert token_f1(answer, expected) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("answer", "expected", "is_in"),
    [
        ("It is lit at dusk [1], he says.", "At dusk", True),
        ("It is lit at [1] dusk.", "at dusk", True),
        ("Dusk is not at sea.", "at dusk", False),
        ("at duskfall", "at dusk", False),
        ("", "at dusk", False),
        ("anything", "…", False),
    ],
)
def test_word_for_word(answer: str, expected: str, is_in: bool) -> None:
    assert contains(answer, expected) is is_in


def test_answers_may_be_one_many_or_none(tmp_path: Path) -> None:
    rows = [{"question": "a", "answer": "x"}, {"question": "b", "answer": ["x", " ", "y"]},
            {"question": "c"}, {"question": "d", "answer": "", "id": 7}]  # fmt: skip
    file = tmp_path / "set.jsonl"
    file.write_text("\n\n".join(map(json.dumps, rows)))
    loaded = load_answer_set(file)
    assert [q.expected for q in loaded.questions] == [("x",), ("x", "y"), (), ()]
    assert [q.question_id for q in loaded.questions] == ["1", "3", "5", "7"]
    assert loaded.documents is None
    assert len(load_answer_set(file, 2).questions) == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"question": "a"}\n{nothing', "Line 2 of"),
        ('["a"]', "Line 1 of"),
        ('{"answer": "a"}', "Line 1 of"),
        ('{"question": " "}', "Line 1 of"),
        ('{"question": "a", "answer": 5}', "Line 1 of"),
        ('{"question": "a", "answer": [5]}', "Line 1 of"),
        ("\n\n", "has no questions"),
    ],
)
def test_a_bad_row_is_told_by_its_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text(text)
    with pytest.raises(AppError, match=told):
        load_answer_set(file)


def test_what_is_no_set_is_told(tmp_path: Path) -> None:
    with pytest.raises(AppError, match="cannot be read"):
        load_answer_set(tmp_path / "missing.jsonl")
    with pytest.raises(AppError, match="cannot be read"):
        load_answer_set(tmp_path)
    (tmp_path / "questions.jsonl").write_text('{"question": "a"}')
    with pytest.raises(AppError, match="is no set of answers"):
        load_answer_set(tmp_path)
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(AppError, match="cannot be read"):
        load_answer_set(tmp_path / "binary.jsonl")
