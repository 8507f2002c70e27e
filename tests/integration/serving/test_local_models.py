"""Admins list, use and remove the models that the server's computer runs, over the REST API."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from desktop_rag.app import Services
from desktop_rag.core.settings import ServerSettings
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.models.endpoint_address import OWN_ADDRESS
from tests.integration.serving.conftest import Server
from tests.servers.tiny_llama import write_model

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_library")]


@pytest.fixture
def model(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A fetched model, the only one on the computer."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("OLLAMA_MODELS", "LLAMA_CACHE", "HF_HOME", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    kept = ServerSettings(is_on=True, port=0)  # as it runs
    server.services.settings_changes.change(lambda settings: replace(settings, server=kept))
    folder = server.services.home.local_models
    folder.mkdir(exist_ok=True)
    file = folder / "lamp.gguf"
    write_model(file)
    yield file
    file.unlink(missing_ok=True)


def admin(server: Server, *collection_ids: str) -> httpx2.Client:
    client = server.client(server.token(TokenScope.ADMIN, collection_ids=collection_ids))
    client.base_url = f"{server.address}/api/v1/"
    return client


def test_a_model_is_used_and_removed(server: Server, model: Path) -> None:
    with admin(server) as client:
        listed = client.get("models").json()
        [one] = listed["models"]
        assert (one["name"], one["is_fetched"], one["is_used"]) == ("lamp", True, False)
        assert str(model.parent) not in str(listed)
        assert [offer for offer in listed["offered"] if offer["reason"]]
        assert client.put("models/used", json={"name": "lamp"}).json()["is_used"]
        assert used(server.services) == (OWN_ADDRESS, "lamp")
        assert client.delete("models/lamp").json() == {"deleted": ["lamp"]}
        assert client.get("models").json()["models"] == []
        assert used(server.services) == ("", "")
        refused = client.post("models", json={"name": "no such model"})
        assert refused.status_code == 400
    assert not model.exists()


def used(services: Services) -> tuple[str, str]:
    """Address and model of the endpoint that answers."""
    endpoint = services.chat.models.endpoint
    return endpoint.base_url, endpoint.model


def test_only_admins_of_all_collections_see_the_models(server: Server) -> None:
    collection = server.services.library.collections.all()[0].collection_id
    with admin(server, collection) as client:
        assert client.get("models").status_code == 403
    with server.client(server.token(TokenScope.READ, TokenScope.WRITE)) as client:
        assert client.get("/api/v1/models").status_code == 403
