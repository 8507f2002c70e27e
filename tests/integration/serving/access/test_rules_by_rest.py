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
            assert admin.delete(path).status_code == 200
            assert "Wiki" in reader.get(f"{API}/collections").text
