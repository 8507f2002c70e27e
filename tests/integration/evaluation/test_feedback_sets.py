"""Feedback on answers becomes a set that `eval run` asks."""

import json
import stat
import sys
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import Feedback, Message
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import AnswerSettings, Settings
from desktop_rag.features.evaluation.experiments.document_questions import (
    questions_of_feedback,
    write_questions,
)
from desktop_rag.features.evaluation.experiments.set_files import read_questions
from desktop_rag.features.evaluation.values.run import SetQuestion
from tests.asking import ask
from tests.command_line import run
from tests.indexed import OpenIndexed
from tests.integration.evaluation.test_answer_sets import figures
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

LAMP = "When is the lamp of the lighthouse lit?"
FERRY = "When does the ferry to the island leave?"
WIND = "What do the sailors do in strong wind?"
RIGHT = "The lamp of the lighthouse is lit at dusk [1]."
WRONG = "The ferry to the island leaves at seven from the castle [1]."
OWN = "The ferry leaves at noon, from the eastern pier."


@pytest.fixture
def services(open_indexed: OpenIndexed) -> Services:
    return open_indexed(
        {
            "lamp.md": "The lamp of the lighthouse is lit at dusk by the keeper.",
            "ferry.md": "The ferry to the island leaves at noon from the eastern pier.",
        }
    )


@pytest.fixture
def asked(services: Services) -> Services:
    """A library with a liked answer, a disliked and rewritten one, and one without feedback."""
    with ChatServer() as server:
        answers = AnswerSettings(suggests_questions=False)
        services.chat.apply(Settings(endpoint=server.endpoint(), answers=answers))
        history = services.chat.history

        def answer(question: str, text: str) -> Message:
            server.answer = text
            return ask(services, question)

        liked, disliked = answer(LAMP, RIGHT), answer(FERRY, WRONG)
        answer(WIND, "They reef the sails [1].")
    history.set_feedback(liked.message_id, Feedback.LIKED)
    history.set_feedback(disliked.message_id, Feedback.DISLIKED)
    history.rewrite(disliked, OWN)
    assert services.library.indexing.wait_until_idle(30)
    # A copy of a chat says nothing new.
    history.fork(liked.conversation_id, liked.message_id)
    services.chat.apply(Settings())
    return services


def test_liked_answers_and_rewrites_are_expected_and_disliked_ones_wrong(asked: Services) -> None:
    rows = {row.text: row for row in questions_of_feedback(asked.chat)}
    assert set(rows) == {LAMP, FERRY}
    assert rows[LAMP].expected == (RIGHT.replace(" [1]", ""),)
    assert rows[LAMP].wrong == ()
    assert [Path(path).name for path in rows[LAMP].sources] == ["lamp.md"]
    assert rows[FERRY].expected == (OWN,)
    assert rows[FERRY].wrong == (WRONG.replace(" [1]", ""),)


def written(services: Services, file: Path) -> list[SetQuestion]:
    """The set, written to the file and read again."""
    write_questions(questions_of_feedback(services.chat), file)
    return read_questions(file, lambda _: None)


def test_the_set_is_private_and_asked_by_eval_run(asked: Services, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    questions = written(asked, file)
    assert questions == questions_of_feedback(asked.chat)
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    measured = figures(asked, questions)
    assert (measured.repeats_wrong, measured.sourced, measured.answered) == (0.0, 1.0, 2)


def test_a_model_that_repeats_a_wrong_answer_is_counted(asked: Services, tmp_path: Path) -> None:
    questions = written(asked, tmp_path / "mine.jsonl")
    with ChatServer(WRONG) as server:
        asked.chat.apply(Settings(endpoint=server.endpoint()))
        measured = figures(asked, questions)
    assert measured.repeats_wrong == 1.0


def test_an_existing_file_is_left_alone(asked: Services, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("mine")
    with pytest.raises(AppError, match="exists"):
        written(asked, file)
    assert file.read_text() == "mine"


def test_the_verb_writes_the_set(asked: Services, tmp_path: Path) -> None:
    asked.close()
    file = tmp_path / "mine.jsonl"
    done = run("eval", "set-from-feedback", str(file))
    assert done.returncode == 0, done.stderr
    assert "2 questions, 2 with" in done.stdout
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert {row["question"] for row in rows} == {LAMP, FERRY}


def test_without_feedback_nothing_is_written(services: Services, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="no feedback"):
        written(services, tmp_path / "mine.jsonl")
    assert not (tmp_path / "mine.jsonl").exists()
