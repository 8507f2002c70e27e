"""The rules of users of another application by the REST API."""

from pathlib import Path

import pytest

from desktop_rag.features.server.access.access_tokens import TokenScope
from tests.integration.serving.conftest import Server
from tests.servers.rights_app import PRIVATE, PUBLIC, make_keys

API = "/api/v1"


@pytest.mark.everyday
def test_an_application_decides_about_the_readers_of_a_collection(
    server: Server, tmp_path: Path
) -> None:
    make_keys(tmp_path)
    added = server.services.library.collections.add("Wiki")
    path = f"{API}/collections/{added.collection_id}/access"
    rule = {"issuer": "a", "audience": "b", "address": "https://wiki.example/rights"}
    private = rule | {"key": (tmp_path / PRIVATE).read_text()}
    key = {"key": (tmp_path / PUBLIC).read_text()}
    with server.client(server.token(TokenScope.ADMIN)) as admin:
        assert admin.put(path, json=rule).json()["error"]["param"] == "key"
        assert admin.put(path, json=private).status_code == 400
        assert admin.get(path).status_code == 404
        assert admin.put(path, json=rule | key).status_code == 200
        changed = admin.put(path, json=rule | {"issuer": "c"})
        assert changed.json() == admin.get(path).json()
        assert (changed.json()["issuer"], "key" in changed.text) == ("c", False)
        with server.client(server.token(TokenScope.READ)) as reader:
            assert "Wiki" not in reader.get(f"{API}/collections").text
            assert reader.get(path).status_code == 403
            _prompts_are_in_no_collection(server, added.collection_id)
            assert admin.delete(path).status_code == 200
            assert "Wiki" in reader.get(f"{API}/collections").text


def _prompts_are_in_no_collection(server: Server, collection_id: str) -> None:
    """A token for all collections reads and writes them, also when one has a rule."""
    with server.client(server.token(TokenScope.READ, TokenScope.WRITE)) as writer:
        assert writer.put(f"{API}/prompts/sum-up", json={"text": "Sum up."}).status_code == 200
        assert "Sum up." in writer.get(f"{API}/prompts").text
        assert writer.delete(f"{API}/prompts/sum-up").status_code == 200
    limited = server.token(TokenScope.READ, TokenScope.WRITE, collection_ids=(collection_id,))
    with server.client(limited) as writer:
        assert writer.put(f"{API}/prompts/sum-up", json={"text": "No."}).status_code == 403
