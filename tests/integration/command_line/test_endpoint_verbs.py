"""`desktop-rag endpoint`: add, list, test, use and remove, with keys that no other program sees."""

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends import null

from desktop_rag.app import Services, opened_models
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import Home
from tests.command_line import answering, document_of, run, run_json
from tests.keyrings import MemoryKeyring
from tests.servers.chat_server import ChatServer

KEY = "sk-canary-b7c1d20e"


@pytest.fixture(autouse=True)
def shared_keyring(home: Home) -> Iterator[None]:
    """A keyring that all verbs of a test share."""
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a line on standard input, which is no terminal."""

    def put(line: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{line}\n"))

    put("")
    return put


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        server.models = ("small", "test-model")
        yield server


def files_of(home: Home) -> str:
    """Everything that the app wrote."""
    files = [path for path in home.root.rglob("*") if path.is_file()]
    return "\n".join(path.read_bytes().decode(errors="replace") for path in files)


def test_an_endpoint_is_added_tested_used_and_removed(
    home: Home, server: ChatServer, typed: Callable[[str], None]
) -> None:
    server.wanted_key = KEY
    typed(KEY)
    row = run_json(
        "endpoint", "add", server.base_url, "--key", "--name", "Lamp", "--model", "small"
    )
    assert (row["name"], row["model"], row["state"], row["is_used"]) == (
        "Lamp", "small", "ready", True,
    )  # fmt: skip
    typed("")
    other = run_json("endpoint", "add", "ollama")
    assert (other["name"], other["state"], other["is_used"]) == ("Ollama", "no model", False)
    report = run_json("endpoint", "test", "lamp")
    assert report["is_ok"], report
    assert report["models"] == ["small", "test-model"]
    assert run_json("endpoint", "use", "ollama", "--model", "tiny")["is_used"]
    rows = run_json("endpoint", "list")
    assert [(r["name"], r["is_used"], r["has_key"]) for r in rows] == [
        ("Lamp", False, True), ("Ollama", True, False),
    ]  # fmt: skip
    gone = run_json("endpoint", "remove", "Lamp", "--forget-key")
    assert (gone["was_used"], gone["keeps_key"]) == (False, False)
    assert [row["name"] for row in run_json("endpoint", "list")] == ["Ollama"]
    assert KEY not in files_of(home)


def test_what_people_read(server: ChatServer, typed: Callable[[str], None]) -> None:
    assert "No endpoint: answers are excerpts." in run("endpoint", "list").stdout
    said = run("endpoint", "add", server.base_url, "--name", "Lamp").stdout
    assert "Lamp: –, no model is chosen, in use" in said
    assert "endpoint use NAME --model MODEL" in said
    tested = run("endpoint", "test")
    assert tested.returncode == 1
    assert "The endpoint answers. Choose a model." in tested.stdout
    assert "    test-model\n" in tested.stdout
    assert (
        "Lamp answers from now on, with small."
        in run("endpoint", "use", "lamp", "--model", "small").stdout
    )
    assert f"* Lamp: small, ready, in use\n    {server.base_url}" in run("endpoint", "list").stdout
    assert "“small” answered after" in run("endpoint", "test").stdout
    gone = run("endpoint", "remove", "lamp").stdout
    assert "Answers are excerpts until another endpoint is used." in gone


def test_an_address_that_is_known_is_changed(
    server: ChatServer, typed: Callable[[str], None]
) -> None:
    run_json("endpoint", "add", server.base_url, "--name", "Lamp", "--model", "small")
    row = run_json("endpoint", "add", server.base_url, "--model", "large")
    assert (row["name"], row["model"]) == ("Lamp", "large")
    assert len(run_json("endpoint", "list")) == 1


def test_a_service_has_its_key_asked_for(
    home: Home, typed: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = run_json("endpoint", "add", "openai", "--model", "gpt-x")
    assert (row["state"], row["provider"]) == ("no key", "OpenAI")
    typed(KEY)
    assert run_json("endpoint", "add", "openai")["state"] == "ready"
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    prompts: list[str] = []
    monkeypatch.setattr("getpass.getpass", lambda prompt: prompts.append(prompt) or "another")
    run_json("endpoint", "add", "Groq")
    assert prompts == ["Key for api.groq.com (Enter for none): "]
    assert KEY not in files_of(home)


@pytest.mark.parametrize(
    "arguments",
    [
        ["openai", "--key", KEY],
        ["openai", f"--key={KEY}"],
        ["openai", "--api-key", KEY],
        ["openai", KEY],
        [f"https://api.example.com/v1?key={KEY}"],
    ],
)
def test_a_key_on_the_command_line_is_refused(home: Home, arguments: list[str]) -> None:
    done = run("endpoint", "add", *arguments)
    assert done.returncode == 1
    assert "can be seen by other programs" in done.stderr
    assert KEY not in done.stdout + done.stderr
    assert run_json("endpoint", "list") == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["add", "openei"], "There is no provider “openei”."),
        (["add", "azure"], "Known are Azure OpenAI, Azure OpenAI (deployments)."),
        (["add", "Azure OpenAI"], "with YOUR-RESOURCE replaced: https://YOUR-RESOURCE.openai"),
        (["add", "https://host/v1?key=a&token=b"], "can be seen by other programs"),
        (["use", "lamp"], "There is no endpoint yet."),
        (["test"], "No endpoint address is set."),
    ],
)
def test_what_is_wrong_is_told(
    arguments: list[str], said: str, typed: Callable[[str], None]
) -> None:
    done = run("endpoint", *arguments)
    assert done.returncode == 1
    assert said in done.stderr + done.stdout


def test_a_name_must_be_clear(typed: Callable[[str], None]) -> None:
    for port, name in ((1, "Lamp one"), (2, "Lamp two")):
        run_json("endpoint", "add", f"http://localhost:{port}/v1", "--name", name)
    done = run("endpoint", "use", "lamp")
    assert "Several endpoints are called “lamp”." in done.stderr
    assert "No model is chosen for Lamp one." in run("endpoint", "use", "lamp one").stderr
    assert "There is no endpoint called “sun”." in run("endpoint", "use", "sun").stderr


def test_a_missing_keyring_is_told(typed: Callable[[str], None]) -> None:
    keyring.set_keyring(null.Keyring())
    typed(KEY)
    done = run("endpoint", "add", "openai")
    assert done.returncode == 0
    assert "DESKTOP_RAG_API_KEY" in done.stderr
    assert KEY not in done.stdout + done.stderr


def test_the_settings_keep_what_else_is_in_them(home: Home, typed: Callable[[str], None]) -> None:
    home.create()
    home.settings.write_text("# mine\n[answers]\nchecks_claims = false\n[own]\nfield = 1\n")
    run_json("endpoint", "add", "ollama", "--model", "tiny")
    text = home.settings.read_text()
    assert "# mine" in text
    assert "field = 1" in text
    settings, _ = load_settings(home.settings)
    assert settings.endpoint.model == "tiny"
    assert not settings.answers.checks_claims


@pytest.mark.slow
def test_the_running_app_does_it(
    home: Home, services: Services, server: ChatServer, typed: Callable[[str], None]
) -> None:
    with answering(services):
        row = document_of(run("endpoint", "add", server.base_url, "--model", "small", "--json"))
        assert row["is_used"]
        assert services.chat.models.endpoint.model == "small"
        assert run_json("endpoint", "test")["is_ok"]
        assert run_json("endpoint", "list")[0]["model"] == "small"
        failed = run("endpoint", "use", "nothing")
        assert "There is no endpoint called “nothing”." in failed.stderr
        run_json("endpoint", "remove", row["name"])
        assert not services.chat.models.endpoint.is_set


def test_the_library_is_not_opened(
    home: Home, services: Services, tmp_path: Path, typed: Callable[[str], None]
) -> None:
    """Another process holds the library, without a window."""
    run_json("endpoint", "add", "ollama", "--model", "tiny")
    with opened_models(home) as (models, _):
        assert models.endpoint.model == "tiny"
