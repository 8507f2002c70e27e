"""`desktop-rag assistant`: making, changing and moving assistants without a window."""

import json
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.paths import Home
from tests.command_line import answering, run, run_json, settled

PROVIDER = "http://127.0.0.1:9/v1"


@pytest.fixture
def folder(home: Home, tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    (made / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk by the keeper.")
    return settled(made)


def test_an_assistant_is_made_changed_and_removed(folder: Path) -> None:
    run_json("index", str(folder), "--collection", "Work")
    run_json("endpoint", "add", PROVIDER, "--model", "small", "--name", "Here")
    [made] = run_json(
        "assistant", "add", "Keeper", "--collection", "work", "--endpoint", "here",
        "--model", "large", "--instructions", "Answer briefly.", "--filters", "type:md",
    )  # fmt: skip
    assert (made["collections"], made["base_url"], made["model"]) == (["Work"], PROVIDER, "large")
    assert "Keeper\n    large; Work; type:md" in run("assistant", "list").stdout
    [changed] = run_json("assistant", "set", "keeper", "--rename", "Guide", "--collection", "")
    assert changed == {**made, "name": "Guide", "collections": []}
    assert run_json("assistant", "remove", "Guide") == {"name": "Guide"}
    assert run_json("assistant", "list") == []


def test_what_is_not_there_or_taken_is_named(folder: Path) -> None:
    run_json("assistant", "add", "Keeper")
    taken = run("assistant", "add", "keeper")
    missing = run("assistant", "set", "Guide", "--filters", "type:md")
    elsewhere = run("assistant", "set", "Keeper", "--collection", "Nowhere")
    search = run("assistant", "set", "Keeper", "--filters", "lamps")
    assert [done.returncode for done in (taken, missing, elsewhere, search)] == [1] * 4
    assert "another assistant called “keeper”" in taken.stderr
    assert "There is no assistant “Guide”" in missing.stderr
    assert "Nowhere" in elsewhere.stderr
    assert "“lamps” is not a filter" in search.stderr
    [kept] = run_json("assistant", "list")
    assert (kept["filters"], kept["collections"]) == ("", [])


def test_an_assistant_moves_as_a_file(folder: Path, tmp_path: Path) -> None:
    run_json("index", str(folder), "--collection", "Work")
    run_json("assistant", "add", "Keeper", "--collection", "Work", "--instructions", "Briefly.")
    file = tmp_path / "keeper.json"
    file.write_text(run("assistant", "export", "keeper").stdout)
    run_json("assistant", "set", "Keeper", "--instructions", "At length.", "--collection", "")
    [changed] = run_json("assistant", "import", str(file))
    assert (changed["instructions"], changed["collections"]) == ("Briefly.", ["Work"])
    run_json("assistant", "remove", "Keeper")
    [added] = run_json("assistant", "import", str(file))
    assert added == changed

    for written in ("{", "[]", '{"name": 7}', '{"name": "A", "collections": 3}'):
        file.write_text(written)
        assert "no exported assistant" in run("assistant", "import", str(file)).stderr
    file.write_text(json.dumps({"name": "A", "collections": ["Nowhere"]}))
    assert "Nowhere" in run("assistant", "import", str(file)).stderr


def test_a_running_app_makes_the_assistant(services: Services) -> None:
    with answering(services):
        run_json("assistant", "add", "Keeper")
    assert services.chat.assistants.find("keeper").name == "Keeper"
