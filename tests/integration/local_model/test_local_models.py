"""Models on this computer are listed, added, used and removed."""

import importlib.util
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.features.local_model.local_models import LocalModels, LocalModelServices
from desktop_rag.features.local_model.model_list import ModelState, ModelStateChanged
from desktop_rag.models.endpoint_address import OWN_ADDRESS
from tests.servers.tiny_llama import write_model
from tests.waiting import until


@pytest.fixture
def models(services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalModels:
    """The models of a home without other programs."""
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for name in ("OLLAMA_MODELS", "LLAMA_CACHE", "HF_HOME", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    return services.wing(LocalModelServices).models


def given(folder: Path, name: str = "lamp.gguf") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    write_model(folder / name)
    return folder / name


def test_a_given_file_is_listed_where_it_is(models: LocalModels, tmp_path: Path) -> None:
    assert models.all() == ()
    path = given(tmp_path / "mine")
    added = models.add(path)
    assert (added.name, added.path, added.fits, added.is_used) == ("lamp", path, True, False)
    assert models.add(path) == added
    other = models.add(given(tmp_path / "other"))
    assert other.name == "lamp (2)"
    assert [model.name for model in models.all()] == ["lamp", "lamp (2)"]
    assert not any(model.is_good for model in models.all())  # tiny models make things up
    with pytest.raises(AppError, match="no single model"):
        models.find("la")
    assert models.find("LAMP").path == path
    path.unlink()
    assert [model.name for model in models.all()] == ["lamp (2)"]


def test_what_is_no_model_is_not_added(models: LocalModels, tmp_path: Path) -> None:
    paper = tmp_path / "paper.gguf"
    paper.write_bytes(b"%PDF-1.7")
    with pytest.raises(AppError, match="is no model"):
        models.add(paper)
    assert models.all() == ()


def test_a_found_model_is_used_in_place(
    models: LocalModels, services: Services, tmp_path: Path
) -> None:
    path = given(tmp_path / "person" / ".lmstudio" / "models")
    [found] = models.all()
    assert (found.name, found.program, found.is_fetched) == ("lamp", "LM Studio", False)
    before = EndpointSettings("http://localhost:1/v1", "before")
    services.settings_changes.store(Settings(endpoint=before))
    assert models.use("lamp").is_used
    stored = load_settings(services.home.settings)[0]
    assert (stored.endpoint.base_url, stored.endpoint.model) == (OWN_ADDRESS, "lamp")
    assert stored.other_endpoints == (before,)
    assert models.used == "lamp"
    assert [model.is_used for model in models.all()] == [True]
    assert models.remove("lamp") == 0
    assert path.exists()
    assert models.used == ""
    assert load_settings(services.home.settings)[0].endpoints == (before,)


def test_a_fetched_model_is_removed_with_its_file(models: LocalModels, services: Services) -> None:
    path = given(services.home.local_models)
    [fetched] = models.all()
    assert (fetched.is_fetched, fetched.program) == (True, "")
    assert models.remove("lamp") == fetched.header.size_bytes
    assert (path.exists(), models.all()) == (False, ())


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed"
)
def test_a_chosen_model_is_loaded_and_measured(
    models: LocalModels, services: Services, tmp_path: Path
) -> None:
    told: list[ModelStateChanged] = []
    services.changes.hear(ModelStateChanged, told.append)
    models.add(given(tmp_path / "mine"))
    models.use("lamp")
    until(lambda: told and told[-1].state is ModelState.READY)
    assert models.server.loaded == "lamp"
    [used] = models.all()
    assert used.read_per_s > 0
    assert used.written_per_s > 0

    def is_let_go() -> bool:
        # The thread that loaded it may not have ended yet.
        services.release_memory()
        return told[-1].state is ModelState.AT_REST

    until(is_let_go)
    models.load()
    until(lambda: told[-1].state is ModelState.READY)
    models.remove("lamp")
    until(lambda: told[-1].state is ModelState.AT_REST)
