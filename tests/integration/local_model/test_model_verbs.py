"""The verb `model`: list, add, use and remove."""

import json
from pathlib import Path

import pytest

from desktop_rag.cli.main import main
from desktop_rag.core.paths import HOME_VARIABLE
from tests.servers.tiny_llama import write_model

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the app, and of a person without other programs."""
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_a_model_is_added_used_and_removed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_model(home / "lamp.gguf")
    assert main(["model", "list"]) == 0
    text = capsys.readouterr().out
    assert "No model on this computer." in text
    assert "Qwen3 1.7B: 1.3 GB, Apache 2.0, makes things up" in text
    assert main(["model", "add", str(home / "lamp.gguf"), "--json"]) == 0
    added = json.loads(capsys.readouterr().out)
    assert (added["name"], added["fits"], added["is_used"]) == ("lamp", True, False)
    assert main(["model", "use", "lamp"]) == 0
    assert "* lamp: " in capsys.readouterr().out
    assert main(["endpoint", "list", "--json"]) == 0
    [endpoint] = json.loads(capsys.readouterr().out)
    assert (endpoint["name"], endpoint["model"]) == ("This computer", "lamp")
    assert main(["model", "remove", "lamp"]) == 0
    assert capsys.readouterr().out == "lamp was removed.\n"
    assert (home / "lamp.gguf").exists()


def test_what_is_no_model_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "paper.gguf").write_bytes(b"%PDF-1.7")
    assert main(["model", "add", str(home / "paper.gguf")]) == 1
    assert "“paper.gguf” is no model" in capsys.readouterr().err
    assert main(["model", "use", "lamp"]) == 1
    assert "no single model “lamp”" in capsys.readouterr().err
    assert main(["model", "get", "unknown"]) == 1
    assert "Offered are “Qwen3 4B Instruct”" in capsys.readouterr().err
