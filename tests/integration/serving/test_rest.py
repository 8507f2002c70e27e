"""The REST API: collections, documents, search, questions, prompts, opinions, conversations."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from desktop_rag.features.server.access.access_tokens import TokenScope
from tests.integration.serving.conftest import TEXTS, Server
from tests.servers.chat_server import ChatServer
from tests.servers.tracker_server import TrackerServer
from tests.waiting import until

pytestmark = pytest.mark.usefixtures("one_library")

API = "/api/v1"
_WAIT_S = 30


@pytest.fixture
def admin(server: Server) -> Iterator[httpx2.Client]:
    """A client that may do everything."""
    with server.client(server.token(TokenScope.ADMIN)) as client:
        client.base_url = f"{server.address}{API}/"
        yield client


@pytest.fixture
def wiki(admin: httpx2.Client) -> Iterator[str]:
    """The path of a new collection."""
    made = admin.post("collections", json={"name": "Wiki"})
    assert made.status_code == 201
    path = f"collections/{made.json()['id']}"
    yield path
    admin.delete(path)


def settle(server: Server) -> None:
    assert server.services.library.indexing.wait_until_idle(_WAIT_S)


def put(client: httpx2.Client, wiki: str, own_id: str, text: str, **said: Any) -> httpx2.Response:
    return client.put(f"{wiki}/documents/{own_id}", json={"text": text, **said})


# --- collections ----------------------------------------------------------------------------------


@pytest.mark.everyday
def test_a_collection_is_made_changed_and_deleted(admin: httpx2.Client, wiki: str) -> None:
    assert admin.post("collections", json={"name": "wiki"}).status_code == 409
    changed = admin.patch(wiki, json={"name": "Guide", "chunking": {"method": "words"}}).json()
    assert (changed["name"], changed["chunking"]["method"]) == ("Guide", "words")
    assert "Guide" in {c["name"] for c in admin.get("collections").json()["collections"]}
    assert admin.delete(wiki).status_code == 200
    assert admin.get(wiki).status_code == 404


@pytest.mark.slow
def test_a_model_that_cannot_be_used_makes_no_collection(admin: httpx2.Client) -> None:
    made = admin.post("collections", json={"name": "New", "embedder": "/no/such/model"})
    assert made.status_code == 400
    assert "New" not in {c["name"] for c in admin.get("collections").json()["collections"]}


# --- assistants -----------------------------------------------------------------------------------


def test_an_assistant_is_made_asked_changed_and_deleted(
    server: Server, admin: httpx2.Client, wiki: str
) -> None:
    said = {"name": "Keeper", "collections": [wiki.rpartition("/")[2]], "filters": "type:txt"}
    made = admin.post("assistants", json=said)
    assert made.status_code == 201
    keeper = made.json()
    assert {key: keeper[key] for key in said} == said
    models = admin.get(f"{server.address}/v1/models").json()["data"]
    assert "keeper" in {model["id"] for model in models}
    path = f"assistants/{keeper['id']}"
    changed = admin.patch(path, json={"instructions": "Briefly.", "collections": []}).json()
    assert changed == {**keeper, "instructions": "Briefly.", "collections": []}
    assert admin.get("assistants").json()["assistants"] == [changed]
    assert admin.delete(path).json() == {"deleted": [keeper["id"]]}
    assert admin.patch(path, json={}).status_code == 404


@pytest.mark.parametrize(
    ("said", "status", "code"),
    [
        ({"name": "keeper"}, 409, "name_taken"),
        ({"name": "A", "filters": "lamps"}, 400, "not_valid"),
        ({"name": "A", "endpoint": "http://elsewhere.example/v1"}, 400, "unknown_endpoint"),
        ({"name": "A", "rails": "/etc"}, 400, "unknown_rails"),
        ({"name": "A", "rails": "no such set"}, 400, "not_valid"),
        ({"name": "A", "collections": ["nowhere"]}, 404, "no_such_collection"),
    ],
)
def test_an_assistant_that_does_not_fit_is_refused(
    admin: httpx2.Client, said: dict[str, Any], status: int, code: str
) -> None:
    keeper = admin.post("assistants", json={"name": "Keeper"}).json()
    answer = admin.post("assistants", json=said)
    admin.delete(f"assistants/{keeper['id']}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert admin.get("assistants").json()["assistants"] == []


def test_settings_are_listed_and_changed(admin: httpx2.Client, server: Server) -> None:
    [row] = admin.get("settings", params={"words": "store chats"}).json()["settings"]
    assert (row["key"], row["name"], row["value"]) == (
        "answers.stores_chats", "Store new chats", True,
    )  # fmt: skip
    changed = admin.patch("settings/answers.stores_chats", json={"value": False}).json()
    assert changed == {**row, "value": False}
    assert not server.services.chat.models.settings.answers.stores_chats
    wrong = admin.patch("settings/retrieval.room", json={"value": "huge"})
    assert (wrong.status_code, "one of fast, balanced, thorough" in wrong.text) == (400, True)
    assert admin.patch("settings/no.such", json={"value": 1}).status_code == 400
    # The server would wait for its own end.
    for key in ("server.port", "server.is_on", "server.filters"):
        assert admin.patch(f"settings/{key}", json={"value": "1"}).status_code == 400
    assert admin.get("settings").status_code == 200


@pytest.mark.slow
def test_an_endpoint_is_added_used_tested_and_removed(
    admin: httpx2.Client, endpoint: ChatServer, server: Server
) -> None:
    path, secret = "endpoints", "sk-canary-31337"
    with ChatServer() as other:
        other.wanted_key = secret
        body = {"endpoint": other.base_url, "model": "test-model", "name": "Other", "key": secret}
        added = admin.post(path, json=body)
        assert added.status_code == 201, added.text
        assert added.json()["has_key"]
        assert secret not in added.text
        listed = admin.get(path).json()["endpoints"]
        assert {row["base_url"]: row["is_used"] for row in listed} == {
            endpoint.base_url: True, other.base_url: False,
        }  # fmt: skip
        used = admin.post(path, json={"endpoint": other.base_url, "is_used": True}).json()
        assert (used["is_used"], used["model"], used["name"]) == (True, "test-model", "Other")
        assert server.services.chat.models.endpoint.base_url == other.base_url
        assert admin.post(f"{path}/test", json={}).json()["models"] == ["test-model"]
        query = {"endpoint": "Other", "forgets_key": "true"}
        assert admin.delete(path, params=query).json() == {"deleted": [other.base_url]}
        assert not server.services.chat.models.has_key(other.base_url)
        assert admin.delete(path, params=query).status_code == 400
    (collection,) = server.services.library.collections.all()
    limited = server.token(TokenScope.ADMIN, collection_ids=(collection.collection_id,))
    with server.client(limited) as client:
        assert client.get(f"{API}/{path}").status_code == 403
        assert client.post(f"{API}/{path}", json={"endpoint": "ollama"}).status_code == 403


@pytest.mark.slow
def test_a_folder_of_the_server_is_added(admin: httpx2.Client, wiki: str, tmp_path: Path) -> None:
    path = f"{wiki}/folders"
    added = admin.post(path, json={"path": str(tmp_path)})
    assert (added.status_code, added.json()["kind"]) == (202, "folder")
    assert admin.post(path, json={"path": "papers"}).status_code == 400
    assert admin.post(path, json={"path": str(tmp_path / "none")}).status_code == 400


@pytest.mark.slow
@pytest.mark.needs_wings("remote_sources")
def test_a_place_on_another_server_is_added_listed_and_removed(
    server: Server, admin: httpx2.Client, wiki: str
) -> None:
    with TrackerServer("github") as tracker:
        tracker.write("boats", 1, "Sails", "They tear.")
        tracker.write("birds", 2, "Owls", "They hoot.")
        place = {"kind": "github", "address": tracker.url, "password": "secret"}
        place |= {"chosen": ["birds"], "since": "2024-01-31"}
        added = admin.post(f"{wiki}/remotes", json=place)
        assert (added.status_code, added.json()["kind"]) == (202, "github")
        until(lambda: admin.get(f"{wiki}/sources").json()["sources"][0]["documents"])
        settle(server)
        source_id = added.json()["id"]
        [document] = server.services.library.documents.all(source_id=source_id)
        assert document.title == "Owls"
        assert not [target for _, target in tracker.asked if "boats" in target]
        gone = admin.delete(f"{wiki}/sources/{source_id}")
        assert gone.status_code == 200
        assert admin.get(f"{wiki}/sources").json()["sources"] == []
        assert admin.post(f"{wiki}/remotes", json={**place, "kind": "none"}).status_code == 400
        assert admin.post(f"{wiki}/remotes", json={**place, "since": "soon"}).status_code == 400


@pytest.mark.slow
def test_a_token_of_one_collection_sees_no_assistants(
    server: Server, admin: httpx2.Client, wiki: str
) -> None:
    token = server.token(TokenScope.ADMIN, collection_ids=(wiki.rpartition("/")[2],))
    with server.client(token) as client:
        assert client.get(f"{server.address}{API}/assistants").status_code == 403


# --- documents ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_sent_text_is_taken_in_at_once_and_found_later(
    server: Server, admin: httpx2.Client, wiki: str
) -> None:
    said = {"title": "Leave", "language": "en", "address": "https://wiki.example/leave",
            "metadata": {"team": "people", "version": 3}}  # fmt: skip
    taken = put(admin, wiki, "a/leave", "Everybody has thirty days of leave.", **said)
    assert (taken.status_code, taken.json()["outcome"]) == (202, "new")
    settle(server)
    shown = admin.get(taken.json()["state_url"].removeprefix(f"{API}/")).json()
    assert shown["state"] == "searchable"
    assert {key: shown[key] for key in said} == said
    assert (shown["own_id"], shown["application"], shown["url"]) == (
        "a/leave", "api", "https://wiki.example/leave",
    )  # fmt: skip
    own = admin.get(f"{wiki}/documents/a/leave").json()
    assert own == shown
    [found] = admin.post("search", json={"query": "days of leave", "limit": 1}).json()["results"]
    assert (found["own_id"], found["url"]) == ("a/leave", "https://wiki.example/leave")
    text = admin.get(f"documents/{shown['id']}/text").json()
    assert text["text"][found["start"] : found["end"]] == found["text"]


@pytest.mark.slow
def test_only_changed_documents_are_embedded_again(
    server: Server, admin: httpx2.Client, wiki: str
) -> None:
    pages = [
        {"id": f"p{n}", "text": f"Page {n}. " + " ".join(f"Line {n} {at}." for at in range(300))}
        for n in range(4)
    ]
    assert admin.post(f"{wiki}/bulk", json={"documents": pages}).status_code == 202
    settle(server)
    indexing = server.services.library.indexing
    before = indexing.embedded_chunks
    again = admin.post(f"{wiki}/bulk", json={"documents": pages})
    assert (again.status_code, {d["outcome"] for d in again.json()["documents"]}) == (
        200, {"unchanged"},
    )  # fmt: skip
    settle(server)
    assert indexing.embedded_chunks == before
    pages[2]["text"] = "Page 2 is about something else now."
    changed = admin.post(f"{wiki}/bulk", json={"documents": pages, "delete": ["p0"]}).json()
    assert [d["outcome"] for d in changed["documents"]] == [
        "unchanged", "unchanged", "changed", "unchanged",
    ]  # fmt: skip
    assert changed["deleted"] == ["p0"]
    settle(server)
    assert indexing.embedded_chunks == before + 1
    assert admin.get(f"{wiki}/documents/p0").status_code == 404


@pytest.mark.slow
def test_a_round_deletes_what_was_not_named(
    server: Server, admin: httpx2.Client, wiki: str
) -> None:
    for own_id in ("old", "kept"):
        put(admin, wiki, own_id, f"A page that is {own_id}.")
    number = admin.post(f"{wiki}/rounds", json={}).json()["round"]
    put(admin, wiki, "kept", "A page that is kept.")
    put(admin, wiki, "new", "A page that is new.")
    ended = admin.post(f"{wiki}/rounds/{number}/end", json={})
    assert ended.json() == {"deleted": ["old"]}
    admin.post(f"{wiki}/rounds", json={})
    assert admin.post(f"{wiki}/rounds/{number}/end", json={}).status_code == 409
    settle(server)
    listed = admin.get("documents", params={"application": "api"}).json()
    assert {d["own_id"] for d in listed["documents"]} == {"kept", "new"}


@pytest.mark.slow
def test_a_file_is_uploaded_and_its_description_changed(
    server: Server, admin: httpx2.Client, wiki: str
) -> None:
    page = (
        b"<html><head><title>Ferry</title></head><body><h1>Ferry</h1><p>At noon.</p></body></html>"
    )
    sent = admin.put(
        f"{wiki}/files/ferry", params={"name": "ferry.html"}, content=page,
        headers={"content-type": "application/octet-stream"},
    )  # fmt: skip
    assert sent.status_code == 202
    settle(server)
    one = f"documents/{sent.json()['id']}"
    assert admin.get(one).json()["format"] == "HTML"
    changed = admin.patch(one, json={"metadata": {"line": 7}, "title": "Boats"})
    assert changed.json()["outcome"] == "described anew"
    settle(server)
    shown = admin.get(one).json()
    assert (shown["title"], shown["metadata"], shown["chunks"]) == ("Boats", {"line": 7}, 1)
    assert admin.delete(one).status_code == 200
    assert admin.get(one).status_code == 404


@pytest.mark.slow
def test_chunks_name_their_neighbours(server: Server, admin: httpx2.Client, wiki: str) -> None:
    text = "\n\n".join(f"Part {n}. " + f"Words of part {n}. " * 80 for n in range(6))
    sent = put(admin, wiki, "long", text).json()
    settle(server)
    one = f"documents/{sent['id']}"
    chunks = admin.get(f"{one}/chunks").json()
    assert chunks["total"] > 2
    middle = chunks["chunks"][1]
    assert (middle["previous"], middle["next"]) == (0, 2)
    assert admin.get(f"{one}/chunks/1").json() == middle
    assert middle["text"] == text[middle["start"] : middle["end"]]
    assert admin.get(f"{one}/chunks/9999").status_code == 404
    paged = admin.get(f"{one}/chunks", params={"offset": 1, "limit": 1}).json()
    assert (paged["chunks"], paged["next_offset"]) == ([middle], 2)


def test_only_admins_see_the_folders_of_files(server: Server, admin: httpx2.Client) -> None:
    asked = {"question": "When is the lamp lit?"}

    def paths(client: httpx2.Client) -> set[str]:
        found = client.get("documents", params={"title": "lamp"}).json()["documents"]
        answer = client.post("ask", json=asked).json()
        return {d["path"] for d in found} | {source["path"] for source in answer["sources"]}

    assert all(Path(path).is_absolute() for path in paths(admin))
    with server.client(server.token(TokenScope.ASK, TokenScope.READ)) as client:
        client.base_url = admin.base_url
        assert not any("/" in path or "\\" in path for path in paths(client))


@pytest.mark.slow
def test_a_persons_file_can_be_read_but_not_deleted(admin: httpx2.Client) -> None:
    listed = admin.get("documents", params={"title": "lamp"}).json()["documents"]
    [lamp] = [document for document in listed if document["title"] == "The lamp"]
    assert admin.get(f"documents/{lamp['id']}/text").json()["text"].startswith("# The lamp")
    assert admin.delete(f"documents/{lamp['id']}").status_code == 409
    assert Path(lamp["path"]).exists()


@pytest.mark.slow
def test_documents_are_listed_by_what_is_said_of_them(
    server: Server, admin: httpx2.Client, wiki: str
) -> None:
    put(admin, wiki, "a", "The first page.", metadata={"draft": True}, language="de")
    put(admin, wiki, "b", "The second page.", metadata={"draft": False})
    settle(server)

    def ids(**query: str) -> set[str]:
        listed = admin.get("documents", params={"application": "api", **query}).json()
        return {document["own_id"] for document in listed["documents"]}

    assert ids(metadata="draft=true") == {"a"}
    assert ids(language="de") == {"a"}
    assert ids(state="searchable") == {"a", "b"}
    first = admin.get("documents", params={"application": "api", "limit": "1"}).json()
    assert (first["total"], first["next_offset"]) == (2, 1)
    asked = {"query": "page", "metadata": {"draft": False}}
    found = admin.post("search", json=asked).json()["results"]
    assert [each["own_id"] for each in found] == ["b"]


# --- rights ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_token_of_one_collection_sees_nothing_of_the_others(
    server: Server, admin: httpx2.Client, wiki: str
) -> None:
    own = put(admin, wiki, "a", "The lamp of the wiki.").json()
    settle(server)
    every = admin.get("documents").json()["documents"]
    foreign = [d for d in every if d["id"] != own["id"]]
    assert len(foreign) == len(TEXTS)
    collection_id = wiki.rpartition("/")[2]
    secret = server.token(TokenScope.WRITE, TokenScope.ASK, collection_ids=(collection_id,))
    with server.client(secret) as client:
        client.base_url = f"{server.address}{API}/"
        assert [c["id"] for c in client.get("collections").json()["collections"]] == [collection_id]
        assert [d["id"] for d in client.get("documents").json()["documents"]] == [own["id"]]
        assert client.get("status").json()["documents"] == 1
        found = client.post("search", json={"query": "lamp of the lighthouse"}).json()["results"]
        assert {each["document_id"] for each in found} == {own["id"]}
        unknown = client.get("documents/nothing").json()
        for document in foreign:
            for path in ("", "/text", "/chunks", "/chunks/0"):
                refused = client.get(f"documents/{document['id']}{path}")
                assert (refused.status_code, refused.json()) == (404, unknown)
            named = {"query": "lamp", "document_ids": [document["id"]]}
            assert client.post("search", json=named).json()["results"] == []
        others = f"collections/{foreign[0]['collection_id']}"
        assert client.get(others).status_code == 404
        assert put(client, others, "x", "Not there.").status_code == 404
        assert client.post("collections", json={"name": "Mine"}).status_code == 403
        assert client.get("prompts").json() == {"prompts": []}


@pytest.mark.slow
def test_each_operation_needs_its_scope(server: Server, admin: httpx2.Client, wiki: str) -> None:
    with server.client(server.token(TokenScope.READ)) as client:
        client.base_url = f"{server.address}{API}/"
        assert client.get("collections").status_code == 200
        assert put(client, wiki, "a", "A text.").status_code == 403
        assert client.post("ask", json={"question": "When?"}).status_code == 403
        assert client.delete(wiki).status_code == 403
    with server.client("") as client:
        assert client.get(f"{API}/collections").status_code == 401


@pytest.mark.slow
def test_no_operation_answers_without_its_scope(server: Server, admin: httpx2.Client) -> None:
    paths = admin.get(f"{server.address}/api/openapi.json").json()["paths"]
    asked = server.token(TokenScope.ASK)
    read = server.token(TokenScope.READ)
    refused = 0
    for path, methods in paths.items():
        for method, operation in methods.items():
            secret = read if "“ask”" in operation["description"] else asked
            with server.client(secret) as client:
                found = client.request(method.upper(), path.replace("{", "").replace("}", ""))
                assert found.status_code == 403, (method, path)
                assert found.json()["error"]["code"] == "insufficient_scope"
                refused += 1
    assert refused >= 30


@pytest.mark.slow
def test_the_methods_of_a_path_are_named_when_another_is_refused(admin: httpx2.Client) -> None:
    refused = admin.put("collections", json={})
    assert refused.status_code == 405
    assert {"GET", "POST"} <= {each.strip() for each in refused.headers["allow"].split(",")}


@pytest.mark.slow
@pytest.mark.parametrize("embedder", ["0" * 2000, "/etc/hosts", "https://127.0.0.1:9/v1#model"])
def test_a_model_that_nobody_has_chosen_is_refused(
    admin: httpx2.Client, wiki: str, embedder: str
) -> None:
    refused = admin.patch(wiki, json={"embedder": embedder})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "unknown_model")


# --- asking ---------------------------------------------------------------------------------------


def events_of(response: httpx2.Response) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for block in response.text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "data" in lines:
            found.append((lines.get("event", ""), json.loads(lines["data"])))
    return found


@pytest.mark.slow
def test_an_answer_comes_whole_with_its_sources(admin: httpx2.Client, endpoint: ChatServer) -> None:
    answer = admin.post("ask", json={"question": "When is the lamp lit?"}).json()
    assert answer["text"] == "The lamp is lit at dusk [1]."
    assert answer["sources"][0]["is_cited"]
    assert answer["sources"][0]["title"] == "The lamp"
    assert [each["title"] for each in answer["annotations"]] == ["The lamp"]
    assert answer["claims"]
    assert answer["conversation_id"] is None


@pytest.mark.slow
def test_a_stream_has_the_text_and_then_the_same_answer(
    admin: httpx2.Client, endpoint: ChatServer
) -> None:
    asked = {"question": "When is the lamp lit?", "stream": True}
    events = events_of(admin.post("ask", json=asked))
    text = "".join(told["text"] for name, told in events if name == "text")
    [answer] = [told for name, told in events if name == "answer"]
    assert text == answer["text"] == "The lamp is lit at dusk [1]."
    assert answer["annotations"]
    assert events[-1][0] == "end"


@pytest.mark.slow
def test_a_conversation_is_stored_on_request_continued_and_deleted(
    server: Server, admin: httpx2.Client, endpoint: ChatServer
) -> None:
    admin.post("ask", json={"question": "When is the lamp lit?"})
    assert admin.get("conversations").json()["total"] == 0
    asked = {"question": "When is the lamp lit?", "conversation": "new"}
    kept = admin.post("ask", json=asked).json()["conversation_id"]
    admin.post("ask", json={"question": "By whom is it lit?", "conversation": kept})
    whole = admin.get(f"conversations/{kept}").json()
    assert [m["role"] for m in whole["messages"]] == ["user", "assistant"] * 2
    assert whole["messages"][1]["sources"]
    # It is in no list of the person's, and no other token's.
    assert server.services.chat.history.all() == []
    with server.client(server.token()) as other:
        assert other.get(f"{API}/conversations").json()["total"] == 0
        assert other.get(f"{API}/conversations/{kept}").status_code == 404
    assert admin.delete(f"conversations/{kept}").status_code == 200
    assert admin.get(f"conversations/{kept}").status_code == 404


@pytest.mark.usefixtures("open_indexed")
@pytest.mark.slow
def test_an_opinion_is_stored_with_the_answer_it_is_of(
    server: Server, admin: httpx2.Client, endpoint: ChatServer
) -> None:
    asked = {"question": "When is the lamp lit?", "conversation": "new"}
    answer = admin.post("ask", json=asked).json()
    opinion = {"answer_id": answer["answer_id"], "opinion": "like"}
    assert admin.post("feedback", json=opinion).status_code == 200
    whole = admin.get(f"conversations/{answer['conversation_id']}").json()
    assert whole["messages"][1]["opinion"] == "like"
    assert admin.post("feedback", json={"answer_id": "no", "opinion": "like"}).status_code == 404
    loose = {"question": "When?", "answer": "Never.", "opinion": "dislike", "rewrite": "At dusk."}
    judged = admin.post("feedback", json=loose).json()
    assert judged["is_rewritten"]
    assert admin.get("conversations").json()["total"] == 2
    settle(server)
    found = admin.post("search", json={"query": "At dusk"}).json()["results"]
    assert any("At dusk." in each["text"] for each in found)


@pytest.mark.slow
def test_prompts_are_saved_and_deleted(admin: httpx2.Client) -> None:
    assert admin.put("prompts/Sum-up", json={"text": "Sum up {{topic}}."}).json() == {
        "name": "sum-up", "text": "Sum up {{topic}}.",
    }  # fmt: skip
    assert "sum-up" in {p["name"] for p in admin.get("prompts").json()["prompts"]}
    assert admin.delete("prompts/sum-up").status_code == 200
    assert admin.delete("prompts/sum-up").status_code == 404


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"query": "lamp", "limt": 3}, "limt"),
        ({"query": "lamp", "limit": "3"}, "limit"),
        ({"query": "lamp", "limit": 0}, "limit"),
        ({"query": "lamp", "metadata": {"a": [1]}}, "metadata.a"),
        ({}, "query"),
    ],
)
def test_a_wrong_field_is_named(admin: httpx2.Client, body: dict[str, Any], named: str) -> None:
    refused = admin.post("search", json=body)
    error = refused.json()["error"]
    assert refused.status_code == 400
    assert error["code"] in ("invalid_field", "unknown_field")
    assert error["param"].startswith(named)
    assert f"“{named}" in error["message"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b'{"query": NaN}', b'{"query": "\\ud800"}', b'{"query": "\\u0000"}',
     b"\xff", b"[" * 100_000, b'{"query": ' + b"9" * 5000 + b"}"],
)  # fmt: skip
def test_no_body_makes_the_server_fail(admin: httpx2.Client, content: bytes) -> None:
    refused = admin.post("search", content=content, headers={"content-type": "application/json"})
    assert refused.status_code == 400
    assert refused.json()["error"]["code"]


@pytest.mark.slow
def test_the_document_names_each_route_and_the_page_shows_it(
    server: Server, admin: httpx2.Client
) -> None:
    document = admin.get(f"{server.address}/api/openapi.json").json()
    assert document["paths"][f"{API}/search"]["post"]["operationId"] == "search"
    page = admin.get(f"{server.address}/api/docs")
    assert "<script" not in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    for path in document["paths"]:
        assert path in page.text
