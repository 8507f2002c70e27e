"""Questions over the REST API that name the collections they are about."""

from pathlib import Path

import pytest

from tests.integration.serving.conftest import Server
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow


ASK = "/api/v1/ask"


def test_a_question_reads_the_collections_it_names(
    server: Server, endpoint: ChatServer, tmp_path: Path
) -> None:
    library = server.services.library
    (folder := tmp_path / "wiki").mkdir()
    (folder / "wiki.md").write_text("The lamp of the wiki is lit at noon.")
    wiki_id = library.collections.add("Wiki").collection_id
    library.sources.add(folder, collection_id=wiki_id)
    assert library.indexing.wait_until_idle(30)
    every = [each.collection_id for each in library.collections.all()]
    asked = {"question": "When is the lamp lit?"}
    with server.client() as client:
        only = client.post(ASK, json=asked | {"collection_ids": [wiki_id]}).json()
        assert {each["text"] for each in only["sources"]} == {
            "The lamp of the wiki is lit at noon."
        }
        both = client.post(ASK, json=asked | {"collection_ids": every}).json()
        assert len({each["id"] for each in both["sources"]}) > 1
        unknown = client.post(ASK, json=asked | {"collection_ids": ["nothing"]})
        assert unknown.status_code == 404
        other = client.post(ASK, json=asked | {"model": "collection:Wiki", "collection_ids": every})
        assert {each["id"] for each in other.json()["sources"]} == {only["sources"][0]["id"]}
    with server.client(server.token(collection_ids=(wiki_id,))) as client:
        others = [each for each in every if each != wiki_id]
        refused = client.post(ASK, json=asked | {"collection_ids": others})
        assert refused.json() == unknown.json()
