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


def test_what_a_model_looks_up_stays_within_the_token(
    server: Server, endpoint: ChatServer, tmp_path: Path
) -> None:
    library = server.services.library
    (folder := tmp_path / "wiki").mkdir()
    (folder / "wiki.md").write_text("The safe of the wiki opens with 4711.")
    library.sources.add(folder, collection_id=library.collections.add("Wiki").collection_id)
    assert library.indexing.wait_until_idle(30)
    [first, *_] = [c for c in library.collections.all() if c.name != "Wiki"]
    calls = [("search", {"query": "safe of the wiki 4711"}), ("read", {"file": "wiki.md"})]
    for token, is_reached in ((server.token(collection_ids=(first.collection_id,)), False),
                              (server.token(), True)):  # fmt: skip
        endpoint.turns_with_calls = [[*calls, ("find_files", {})]]
        with server.client(token) as client:
            assert client.post(ASK, json={"question": "When is the lamp lit?"}).status_code == 200
        heard = str(endpoint.chats)
        assert "Nothing new" in heard or is_reached
        assert ("opens with" in heard, "file wiki.md" in heard) == (is_reached, is_reached)
