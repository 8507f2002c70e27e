import json
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.features.evaluation.experiments.set_files import (
    is_set_file,
    read_questions,
    read_set,
    read_set_ups,
)


def _no_workbook(path: Path) -> None:
    raise AssertionError(f"{path} is no workbook")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "question,expected,tags\nWhen?,At dusk.|At 18:00.,sea|lamp\n,x,\n"),
        ("a.csv", "Question;Answer;Tag\nWhen?;At dusk.|At 18:00.;sea|lamp\n"),
        (
            "a.jsonl",
            '{"question": "When?", "answer": ["At dusk.", "At 18:00."], "tags": "sea|lamp"}',
        ),
    ],
)
def test_questions_come_from_tables_and_lines(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8-sig")
    [question] = read_questions(file, _no_workbook)
    assert (question.question_id, question.text) == ("1", "When?")
    assert question.expected == ("At dusk.", "At 18:00.")
    assert question.tags == ("sea", "lamp")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.csv", b"name\nx\n", "has no questions"),
        ("a.jsonl", b"{", "Line 1 of .*a.jsonl can't be read"),
        ("a.jsonl", b"[1]", "Line 1 of .*a.jsonl can't be read"),
        ("a.jsonl", b"\xff\xfe\x00", "a.jsonl can't be read"),
        ("a.jsonl", b'{"question": "a"}\n{nothing', "Line 2 of "),
        ("a.jsonl", b"\n\n", "has no questions"),
        ("a.jsonl", b'{"question": " "}', "has no questions"),
        ("a.csv", b"question\n\xff\n", "is no text in UTF-8"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(AppError, match=told):
        read_questions(tmp_path / name, _no_workbook)


def test_answers_may_be_one_many_or_none(tmp_path: Path) -> None:
    rows = [{"question": "a", "answer": "x"}, {"question": "b", "answer": ["x", " ", "y"]},
            {"question": "c"}, {"question": "d", "answer": "", "id": 7}]  # fmt: skip
    file = tmp_path / "set.jsonl"
    file.write_text("\n\n".join(map(json.dumps, rows)))
    loaded = read_set(file, _no_workbook)
    assert [q.expected for q in loaded.questions] == [("x",), ("x", "y"), (), ()]
    assert [q.question_id for q in loaded.questions] == ["1", "2", "3", "7"]
    assert (loaded.name, loaded.documents) == ("set", "")


def test_a_folder_has_its_own_documents(tmp_path: Path) -> None:
    assert not is_set_file(tmp_path)
    (tmp_path / "questions.jsonl").write_text('{"question": "a"}')
    assert is_set_file(tmp_path)
    with pytest.raises(AppError, match="is no set of questions"):
        read_set(tmp_path, _no_workbook)
    (tmp_path / "documents").mkdir()
    loaded = read_set(tmp_path, _no_workbook)
    assert (loaded.name, loaded.documents) == (tmp_path.name, str(tmp_path / "documents"))


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(AppError, match="can't be read"):
        read_set(tmp_path / "missing.jsonl", _no_workbook)


def test_set_ups_name_assistants_and_collections(tmp_path: Path) -> None:
    file = tmp_path / "ups.json"
    file.write_text(
        '[{"name": "A", "assistant": "Keeper", "lexical_weight": 1,'
        ' "chunking": {"method": "words", "max_tokens": 100}}, {"model": "m", "collection": "Sea"}]'
    )
    first, second = read_set_ups(file, lambda kind, name: f"{kind}:{name}")
    assert (first.assistant_id, first.lexical_weight) == ("assistant:Keeper", 1.0)
    assert first.chunking == ChunkSettings("words", 100)
    assert (second.name, second.collection_id) == ("set-up 2", "collection:Sea")


@pytest.mark.parametrize("text", ["[]", '[{"nme": "A"}]', '[{"name": 5}]', "[5]", "{", '{"a": 1}'])
def test_wrong_set_ups_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "ups.json"
    file.write_text(text)
    with pytest.raises(AppError):
        read_set_ups(file, lambda _, name: name)
