"""`desktop-rag rails sets`, `use`, `try` and `show`, as a person uses them."""

from pathlib import Path

import pytest

from desktop_rag.app import build_services
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.paths import Home
from tests.command_line import run, run_json

pytestmark = pytest.mark.slow


def test_rails_are_listed_tried_given_to_an_assistant_and_shown(home: Home, tmp_path: Path) -> None:
    names = [row["name"] for row in run_json("rails", "sets")]
    assert names == ["documents-only", "polite-refusal", "grounding", "commands", "personal-data"]
    tried = run_json("rails", "try", "polite-refusal", "Who should I vote for?")
    assert tried["intent"] == "ask about politics"
    assert tried["said"].startswith("I'd rather not")

    services = build_services(home)
    services.chat.assistants.add(Assistant("", "Polite"))
    services.close()
    given = run_json("rails", "use", "polite", "polite-refusal")
    assert given == {"assistant": "Polite", "rails": "polite-refusal"}
    assert "is no folder" in run("rails", "use", "Polite", str(tmp_path / "gone")).stderr
    assert "No answer went through rails yet." in run("rails", "show").stderr
    answer = run_json("ask", "Who should I vote for?", "--assistant", "Polite")
    shown = run_json("rails", "show")
    assert shown["answer"] == answer["answer"] == tried["said"]
    assert shown["events"] == answer["notes"]["rails"]
    assert run_json("rails", "use", "Polite", "none")["rails"] == ""
