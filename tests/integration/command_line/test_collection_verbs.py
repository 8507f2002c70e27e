"""`desktop-rag collection`: listing and choosing the model of each collection."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.domain import EMBEDDED_ELSEWHERE
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import IndexSettings, Settings
from tests.command_line import answering, run, run_json, settled
from tests.model_folders import make_folder
from tests.servers.embedding_server import EmbeddingServer
from tests.servers.web_server import Served, WebServer

BUNDLED = "all-MiniLM-L6-v2"


@pytest.fixture
def folder(home: Home, tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    (made / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk by the keeper.")
    return settled(made)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


@pytest.mark.slow
def test_a_folder_is_chosen_and_taken_back(folder: Path, tmp_path: Path) -> None:
    run_json("index", str(folder), "--collection", "Work")
    model = make_folder(tmp_path / "tiny")
    report = run_json("collection", "set-model", "work", str(model))
    assert report.pop("seconds") > 0
    row = {"name": "Work", "model": str(model), "answered_by": "tiny", "sources": 1,
           "documents": {"searchable": 1}, "intranet_hosts": []}  # fmt: skip
    assert report == row | {"embedded_chunks": 1}
    assert row in run_json("collection", "list")
    assert {"name": "Work", "model": str(model)} in run_json("status")["collections"]
    assert f"Collection Work: model {model}" in run("status").stdout
    back = run_json("collection", "set-model", "Work", "--default")
    assert (back["model"], back["answered_by"]) == ("", BUNDLED)
    listed = run("collection", "list").stdout
    assert f"Work: 1 searchable\n    the model of the settings; answered by {BUNDLED}" in listed


@pytest.mark.slow
@pytest.mark.needs_wings("web_pages")
def test_hosts_of_the_local_network_are_allowed_and_taken_back(tmp_path: Path) -> None:
    with WebServer() as site:
        url = site.page("/wiki/", "The tide table")
        site.pages["/wiki/"] = Served(f"{site.pages['/wiki/'].body}<a href='x'>x</a>")
        site.page("/wiki/x", "The keeper of the light")
        own = f"127.0.0.1:{site.port}"
        [row] = run_json("collection", "allow-hosts", "Intranet", own)
        assert row["intranet_hosts"] == [own]
        assert f"local network: {own}" in run("collection", "list").stdout
        report = run_json("index", url, "--collection", "Intranet", "--follow", "2")
        assert (report["searchable"], report["not_read"]) == (2, [])
        run_json("collection", "allow-hosts", "Intranet")
        site.requests.clear()
        run_json("index", url, "--collection", "Other", "--follow", "2")
        assert site.requests == []
    assert run("collection", "allow-hosts", "Intranet", "0.0.0.0/0").returncode != 0


@pytest.mark.slow
@pytest.mark.needs_wings("web_pages")
def test_a_folder_that_mirrors_a_site_has_sources_that_link_there(folder: Path) -> None:
    run_json("index", str(folder), "--base-address", "https://docs.example/en")
    [found] = run_json("search", "lamp dusk keeper")
    assert found["path"] == "https://docs.example/en/lamp.md"


@pytest.mark.slow
def test_a_folder_is_kept_wherever_the_app_is_started_later(folder: Path, tmp_path: Path) -> None:
    run_json("index", str(folder), "--collection", "Work")
    model = make_folder(tmp_path / "tiny")
    near = os.path.relpath(model)
    assert run_json("collection", "set-model", "Work", near)["model"] == str(model)


@pytest.mark.everyday
def test_an_endpoint_is_told_to_get_the_text_before_it_does(
    folder: Path, server: EmbeddingServer
) -> None:
    run_json("index", str(folder), "--collection", "Work")
    done = run("collection", "set-model", "Work", server.address)
    assert done.returncode == 0
    assert done.stderr.startswith(EMBEDDED_ELSEWHERE)
    assert f"model {server.address}; answered by tiny-embed" in done.stdout
    assert any("lamp is lit" in text for text in server.embedded)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "model", "said"),
    [
        ("Werk", "--default", "There is no collection “Werk”.\nCollections: “Work”.\n"),
        ("Work", "{}/missing", "missing.\nGive the folder of a model"),
        ("Work", "{}", "cannot be used.\n"),
        ("Work", "http://localhost:9/v1", "The address does not name a model.\nAdd # and"),
        ("Work", "http://localhost:9/v1#x", "The endpoint refused the connection.\nIs the"),
    ],
)
def test_what_cannot_be_chosen_changes_nothing(
    folder: Path, name: str, model: str, said: str
) -> None:
    run_json("index", str(folder), "--collection", "Work")
    done = run("collection", "set-model", name, model.format(folder))
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    [row] = run_json("collection", "list")
    assert (row["model"], row["answered_by"]) == ("", BUNDLED)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [(), ("set-model", "Work"), ("set-model", "Work", "x", "--default")]
)
def test_wrong_use_ends_with_two(home: Home, arguments: tuple[str, ...]) -> None:
    assert run("collection", *arguments).returncode == 2


@pytest.mark.slow
def test_an_endpoint_that_goes_away_meanwhile_is_told_and_the_rest_waits(
    folder: Path, server: EmbeddingServer
) -> None:
    run_json("index", str(folder), "--collection", "Work")
    run("collection", "set-model", "Work", server.address)
    server.mode = "close"
    (folder / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at noon.")
    done = run("index", str(folder), "--collection", "Work")
    assert done.returncode == 0
    assert "closed the connection" in done.stderr
    assert "Words are searched meanwhile." in done.stderr
    assert "1 document is found by words only so far." in done.stdout
    server.mode = "answer"
    again = run("index", str(folder), "--collection", "Work")
    assert "by words only" not in again.stdout
    assert any("ferry leaves" in text for text in server.embedded)


@pytest.mark.slow
def test_an_endpoint_of_the_settings_that_is_away_is_told(home: Home, folder: Path) -> None:
    home.create()
    index = IndexSettings(model_folder="http://localhost:9/v1#x")
    save_settings(home.settings, Settings(index=index))
    done = run("index", str(folder))
    assert done.returncode == 0
    assert done.stderr.count("The endpoint refused the connection.") == 1
    assert "1 document is found by words only so far." in done.stdout


@pytest.mark.slow
def test_the_window_lists_and_changes_the_model(services: Services) -> None:
    services.library.start()
    services.library.collections.add("Work")
    with answering(services):
        listed = run_json("collection", "list")
        changed = run("collection", "set-model", "Work", "--default")
    assert [row["name"] for row in listed] == [c.name for c in services.library.collections.all()]
    assert changed.returncode == 0, changed.stderr
