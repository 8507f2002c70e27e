"""An application with a collection for each of its customers: lists take no longer for that."""

import pytest

from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.store.duckdb.database.database import Database
from tests.integration.serving.conftest import Server

pytestmark = pytest.mark.slow


API = "/api/v1"


@pytest.mark.slow
def test_lists_read_as_often_with_many_collections_as_with_few(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[None] = []
    read = Database.read

    def counted(self: Database) -> object:
        reads.append(None)
        return read(self)

    def read_by(client_path: str) -> int:
        reads.clear()
        assert client.get(f"{API}/{client_path}").status_code == 200
        return len(reads)

    monkeypatch.setattr(Database, "read", counted)
    with server.client(server.token(TokenScope.ADMIN)) as client:
        figures: list[list[int]] = []
        for count in (10, 20):
            for n in range(count):
                name = f"Customer {count} {n}"
                made = client.post(f"{API}/collections", json={"name": name}).json()
                path = f"{API}/collections/{made['id']}/documents/a"
                assert client.put(path, json={"text": "The lamp is lit."}).status_code == 202
            assert server.services.library.indexing.wait_until_idle(60)
            figures.append([read_by(each) for each in ("collections", "status")])
        listed = client.get(f"{API}/collections").json()["collections"]
        assert sum(each["documents"] for each in listed) == 33
        assert client.get(f"{API}/status").json()["documents"] == 33
    few, many = figures
    # What runs in the background may read beside them, but not once for each of twenty.
    assert all(later < first + 20 for first, later in zip(few, many, strict=True))
