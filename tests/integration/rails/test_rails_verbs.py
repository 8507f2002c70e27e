"""`desktop-rag rails check`, `test` and `run` over a folder, as a person uses them."""

import json
from pathlib import Path

import pytest

from tests.command_line import run, run_json, run_process, settled

pytestmark = pytest.mark.needs_wings("rails")

FLOWS = """
define user ask for the price
  "How much is it?"
  "What does a ticket cost?"

define user ask about politics
  "Which party should I vote for?"

define bot tell the price
  "A ticket costs three euros."

define flow
  user ask for the price
  bot tell the price

define flow
  user ask about politics
  $word = execute find_word(topic="politics")
  bot "No $word here."
"""
ACTIONS = """
from nemoguardrails.actions import action

RAN = True

@action(name="find_word")
async def find(topic: str, context: dict) -> str:
    return topic + " or " + context["user_intent"]
"""


@pytest.fixture
def folder(home: object, tmp_path: Path) -> Path:
    made = tmp_path / "rails"
    made.mkdir()
    (made / "tickets.co").write_text(FLOWS, "utf-8")
    (made / "config.yml").write_text('sample_conversation: |\n  user "Hi"\n', "utf-8")
    return made


def test_a_folder_is_checked_and_its_python_is_not_run(folder: Path) -> None:
    (folder / "actions.py").write_text("raise SystemExit(3)", "utf-8")
    done = run("rails", "check", str(folder))
    assert done.returncode == 1
    assert "No action is called “find_word”." in done.stdout
    assert "Not run: actions.py" in done.stdout


def test_documents_of_a_folder_are_said_not_to_be_read(folder: Path) -> None:
    (folder / "kb").mkdir()
    (folder / "kb" / "prices.md").write_text("A ticket is 8 euros.", "utf-8")
    assert (
        "Left out: kb: Add its files to the documents" in run("rails", "check", str(folder)).stdout
    )


@pytest.mark.slow
def test_too_few_examples_are_told_by_form(folder: Path) -> None:
    more = "".join(
        f'  "{said}"\n'
        for said in ("How much is a ticket?", "What is the price of a ticket?", "Ticket price?",
                     "What do I pay for a ticket?", "How much do tickets cost?")
    )  # fmt: skip
    (folder / "more.co").write_text(f"define user ask for the price\n{more}", "utf-8")
    said = run("rails", "check", str(folder)).stdout
    assert "“ask about politics”: 0 of 1 examples would be recognised" in said
    assert "“ask for the price”" not in said


@pytest.mark.slow
def test_nothing_is_said_to_leak_after_the_library_was_used(folder: Path) -> None:
    done = run_process("rails", "run", str(folder), "--library", "--say", "How much is it?")
    assert "three euros" in done.stdout
    assert "leaked" not in done.stderr


def test_a_flow_that_never_runs_is_told(folder: Path) -> None:
    fallback = 'define flow\n  priority 0.5\n  user ...\n  bot "I only sell tickets."\n'
    (folder / "fallback.co").write_text(fallback, "utf-8")
    said = run("rails", "check", str(folder)).stdout
    assert "Left out: fallback.co:1:1: The flow never runs" in said
    (folder / "fallback.co").write_text(fallback.replace("0.5", "0.95"), "utf-8")
    assert "never runs" not in run("rails", "check", str(folder)).stdout
    other = run_json("rails", "run", str(folder), "--say", "Tell me about quantum gravity.")
    assert other["said"] == ["I only sell tickets."]


def test_an_error_is_told_with_line_and_column(folder: Path) -> None:
    (folder / "wrong.co").write_text("define flow\n  if $x\n  stop\n", "utf-8")
    done = run("rails", "check", str(folder))
    assert done.returncode == 1
    assert "wrong.co:3:3: " in done.stderr
    assert "lines that are indented further" in done.stderr
    (folder / "wrong.co").unlink()
    (folder / "config.yml").write_text("rails:\n  - [\n", "utf-8")
    assert "config.yml:3:1: This is no YAML." in run("rails", "check", str(folder)).stderr


@pytest.mark.slow
def test_sentences_are_answered_by_given_texts_without_a_model(folder: Path) -> None:
    """The nearest example is found by the bundled model of embeddings."""
    said = run("rails", "run", str(folder), "--say", "how much is it")
    assert said.stdout == "A ticket costs three euros.\n"
    shown = run("rails", "run", str(folder), "--say", "How much is it?", "--events").stdout
    assert [line.split()[1] for line in shown.splitlines()[:3]] == [
        "user_said",
        "start_action",
        "action_finished",
    ]
    other = run_json("rails", "run", str(folder), "--say", "Tell me about quantum gravity.")
    assert other["said"] == ["I don't know the answer to that."]
    nearest = other["events"][2]["result"]["nearest"]
    assert len(nearest) == 3
    assert all(-1 <= row["similarity"] <= 1 for row in nearest)


def test_a_file_of_actions_runs_once_the_person_agreed(folder: Path) -> None:
    file = folder / "own.py"
    file.write_text(ACTIONS, "utf-8")
    asked = ["rails", "run", str(folder), "--say", "Which party should I vote for?"]
    refused = run(*asked, "--actions", str(file))
    assert refused.returncode == 1
    assert "was not run" in refused.stderr
    said = run(*asked, "--actions", str(file), "--yes").stdout
    assert said == "No politics or ask about politics here.\n"


def test_the_tests_of_a_folder_compare_intents_and_answers(folder: Path) -> None:
    rows = [
        {"text": "How much is it?", "intent": "ask for the price"},
        {"text": "How much is it?", "intent": "ask for the price", "says": "A ticket is free."},
        {"text": "Which party should I vote for?", "intent": "ask for the price"},
    ]
    path = folder / "tests.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    done = run("rails", "test", str(folder))
    assert done.returncode == 1
    assert "1 of 3 are right." in done.stdout
    path.write_text(json.dumps(rows[0]), "utf-8")
    assert run("rails", "test", str(folder)).returncode == 0


def test_a_run_is_saved_and_shown_again(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    first = run_json("rails", "run", str(folder), "--say", "How much is it?", "--save", str(kept))
    again = run_json("rails", "run", str(folder), "--replay", str(kept))
    assert again["events"] == first["events"]
    assert again["said"][-1] == ["bot", "A ticket costs three euros."]
    kept.write_text('{"type": "user_said"}\n', "utf-8")
    done = run("rails", "run", str(folder), "--replay", str(kept))
    assert "run.jsonl:1: This is no event of a run." in done.stderr


@pytest.mark.slow
def test_a_grounded_answer_from_the_library_stands(folder: Path, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk by the keeper.")
    run_json("index", str(settled(papers)))
    asked = (
        'define user ask about the lamp\n  "When is the lamp lit?"\n\n'
        "define flow\n  user ask about the lamp\n  bot answer from the documents\n"
    )
    (folder / "lamp.co").write_text(asked, "utf-8")
    (folder / "config.yml").write_text("rails:\n  output:\n    flows: [check grounding]\n", "utf-8")
    said = run("rails", "run", str(folder), "--library", "--say", "When is the lamp lit?").stdout
    assert "The lamp is lit at dusk by the keeper." in said


def test_an_assistant_takes_rails_that_work(folder: Path) -> None:
    run_json("assistant", "add", "Keeper", "--rails", str(folder))
    broken = run("assistant", "set", "Keeper", "--rails", "no such rails")
    assert (broken.returncode, "no such rails" in broken.stderr) == (1, True)
    [kept] = run_json("assistant", "list")
    assert kept["rails"] == str(folder)
