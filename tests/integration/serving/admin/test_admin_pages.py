"""What the admin pages show and do."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from desktop_rag.core.domain import DocumentState, WebLinks
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.access_tokens import TokenBook, TokenScope
from desktop_rag.features.server.html_writer import Html, tag
from desktop_rag.features.server.services import ServerSwitch
from tests.indexed import add_texts
from tests.integration.serving.admin.admin_browser import AdminBrowser
from tests.integration.serving.conftest import Serve, Server
from tests.servers.chat_server import ChatServer
from tests.servers.rights_app import PRIVATE, PUBLIC, make_keys
from tests.waiting import until

pytestmark = pytest.mark.usefixtures("one_library")

HOSTILE = "\"><img src=x onerror=alert(1)>&lt;'"


@pytest.fixture
def admin(server: Server) -> Iterator[AdminBrowser]:
    """A browser that has logged in."""
    with AdminBrowser(server) as browser:
        browser.log_in()
        yield browser


def text_of(html: str) -> str:
    """What a page says, without its markup."""
    return unescape(re.sub(r"<[^>]*>", " ", html))


@pytest.mark.slow
def test_every_page_of_the_list_is_shown(admin: AdminBrowser) -> None:
    overview = admin.get("/admin").text
    paths = re.findall(r'<li><a href="(/admin[^"]*)"', overview)
    assert len(paths) >= 10
    for path in paths:
        page = admin.get(path)
        assert page.status_code == 200
        assert f'href="{path}" aria-current="page"' in page.text


@pytest.mark.slow
def test_documents_are_found_by_name_state_and_reason(admin: AdminBrowser) -> None:
    def found(**query: str) -> list[str]:
        page = admin.client.get("/admin/documents", params=query).text
        return re.findall(r'aria-label="Choose ([^"]*)"', page)

    assert found() == ["Care", "Ferry", "The lamp"]
    assert found(name="LAMP") == ["The lamp"]
    assert found(state="FAILED") == []
    assert found(state="SEARCHABLE", name="papers md") == ["Care", "Ferry", "The lamp"]
    assert found(reason="Excluded by you") == []
    assert found(page="7") == []
    assert found(page="x") == found()


@pytest.mark.usefixtures("open_indexed")
@pytest.mark.slow
def test_documents_are_read_again_and_removed_after_a_question(admin: AdminBrowser) -> None:
    library = admin.server.services.library
    ferry = next(d for d in library.documents.all() if d.path.name == "ferry.md")
    admin.get("/admin/documents")
    again = admin.send("/admin/documents/again", {"document": ferry.document_id})
    assert "1 documents are read again" in again.text
    library.indexing.wait_until_idle(30)
    asked = admin.send("/admin/documents/remove", {"document": ferry.document_id})
    assert "Ferry" in asked.text
    document = library.documents.get(ferry.document_id)
    assert document
    assert document.state.is_searchable
    admin.send("/admin/documents/remove", {"document": ferry.document_id, "sure": "yes"})
    document = library.documents.get(ferry.document_id)
    assert document
    assert document.state is DocumentState.SKIPPED
    assert ferry.path.exists(), "the file is the person's"
    assert admin.send("/admin/documents/again").status_code == 400


@pytest.mark.slow
def test_a_token_is_made_shown_once_and_works(admin: AdminBrowser) -> None:
    (collection,) = admin.server.services.library.collections.all()
    admin.get("/admin/tokens")
    made = admin.send("/admin/tokens", {
        "name": "Editor", "scope": ["ask", "read"], "collection": collection.collection_id,
        "origins": "https://a.example\nhttps://b.example", "rate": "7", "days": "2",
    })  # fmt: skip
    found = re.search(r'class="secret">([^<]+)<', made.text)
    assert found
    token = TokenBook(admin.server.services.home.tokens).named("Editor")
    assert token.scopes == {TokenScope.ASK, TokenScope.READ}
    assert token.collection_ids == (collection.collection_id,)
    assert token.origins == ("https://a.example", "https://b.example")
    assert token.requests_per_minute == 7
    assert 1.9 < (token.expires_at - time.time()) / 86_400 < 2.1
    with admin.server.client(found[1]) as client:
        assert client.get("/v1/models").status_code == 200
    listed = admin.get("/admin/tokens")
    assert found[1] not in listed.text
    row = listed.text[listed.text.index("<td>Editor") :]
    assert "never" not in row[: row.index("</tr>")], "it was used"
    admin.send(f"/admin/tokens/{token.token_id}/revoke")
    with admin.server.client(found[1]) as client:
        assert client.get("/v1/models").status_code == 401


@pytest.mark.slow
def test_an_application_is_let_decide_about_readers(admin: AdminBrowser, tmp_path: Path) -> None:
    make_keys(tmp_path)
    rules = AccessRules(admin.server.services.home.access_rules)
    (collection,) = admin.server.services.library.collections.all()
    given = {
        "collection": collection.collection_id, "issuer": "https://wiki.example", "audience": "us",
        "address": "https://wiki.example/rights", "algorithm": ["RS256", "ES256"],
        "key": (tmp_path / PUBLIC).read_text().replace("\n", "\r\n"),
    }  # fmt: skip
    path = f"/admin/users/{collection.collection_id}"
    admin.get("/admin/users")
    for wrong in ({"key": ""}, {"key": (tmp_path / PRIVATE).read_text()}, {"algorithm": "none"},
                  {"address": "http://wiki.example/"}, {"collection": "x"}):  # fmt: skip
        assert admin.send("/admin/users", given | wrong).status_code == 400
    assert rules.all() == ()
    assert "is there for users of https://wiki.example only" in text_of(
        admin.send("/admin/users", given).text
    )
    (rule,) = rules.all()
    assert rule.algorithms == ("RS256", "ES256")
    assert 'value="https://wiki.example"' in admin.get(path).text
    admin.send("/admin/users", given | {"key": "", "audience": "them"})
    assert rules.all() == (replace(rule, audience="them"),)
    admin.send(f"{path}/remove")
    assert rules.all() == ()
    assert admin.get(path).status_code == 404


@pytest.mark.slow
def test_what_can_not_be_is_said_and_changes_nothing(admin: AdminBrowser) -> None:
    admin.get("/admin/tokens")
    before = TokenBook(admin.server.services.home.tokens).all()
    good = {"name": "New", "scope": "ask", "rate": "1", "days": "0"}
    for wrong in ({"rate": "-1"}, {"rate": "9" * 400}, {"days": "1e9"}, {"scope": "root"},
                  {"name": " "}, {"name": before[0].name}):  # fmt: skip
        assert admin.send("/admin/tokens", {**good, **wrong}).status_code == 400
    assert TokenBook(admin.server.services.home.tokens).all() == before
    for page in ("collections/none", "documents/none", "models/none", "prompts/none",
                 "crawls/none", "tokens/none/revoke"):  # fmt: skip
        assert admin.get(f"/admin/{page}").status_code == 404


@pytest.mark.slow
def test_exposure_is_switched_for_a_token(admin: AdminBrowser) -> None:
    secret = admin.server.token()
    token = TokenBook(admin.server.services.home.tokens).all()[-1]
    path = f"/admin/models/{token.token_id}"
    admin.get(path)
    admin.send(path, {"model": ["desktop-rag", "assistant:unknown"]})
    assert TokenBook(admin.server.services.home.tokens).all()[-1].models == ("desktop-rag",)
    with admin.server.client(secret) as client:
        assert "collection:My documents" not in client.get("/v1/models").text
    assert 'value="desktop-rag" checked' in admin.get(path).text
    admin.send(path)
    with admin.server.client(secret) as client:
        assert "collection:My documents" in client.get("/v1/models").text


@pytest.mark.everyday
def test_collections_and_prompts_are_added_changed_and_removed(admin: AdminBrowser) -> None:
    library, prompts = admin.server.services.library, admin.server.services.chat.prompts
    admin.get("/admin/collections")
    admin.send("/admin/collections", {"name": "Harbour"})
    path = f"/admin/collections/{library.collections.find('Harbour').collection_id}"
    admin.send(path, {"name": "Port"})
    assert library.collections.find("Port")
    admin.send(f"{path}/remove")
    assert "Port" not in [c.name for c in library.collections.all()]
    admin.send("/admin/prompts", {"name": "tides", "text": "  When is\r\n{{tide}}?"})
    assert {p.name: p.text for p in prompts.all()}["tides"] == "When is\n{{tide}}?"
    assert "When is\n{{tide}}?</textarea>" in admin.get("/admin/prompts/tides").text
    admin.send("/admin/prompts", {"name": "tide", "former": "tides", "text": "When?"})
    admin.send("/admin/prompts/tide/delete")
    assert not [p for p in prompts.all() if p.name.startswith("tide")]


@pytest.mark.needs_wings("remote_sources")
def test_a_place_on_another_server_is_added(admin: AdminBrowser) -> None:
    library = admin.server.services.library
    admin.send("/admin/collections", {"name": "Papers"})
    papers = library.collections.find("Papers")
    path = f"/admin/collections/{papers.collection_id}"
    page = admin.get(path).text
    for kind in ("webdav", "drive", "github", "gitlab", "jira", "confluence", "zotero"):
        assert f'value="{kind}"' in page
    place = {"kind": "zotero", "address": "http://localhost:23119/", "chosen": "Ships\nBirds\n"}
    sent = admin.send(f"{path}/remote", {**place, "user": "", "password": ""})
    assert sent.status_code == 200, sent.text
    [source] = (s for s in library.sources.all() if s.collection_id == papers.collection_id)
    assert source.links == WebLinks(
        ("http://localhost:23119/",), 100_000, remote="zotero", chosen=("Ships", "Birds")
    )
    assert "zotero (localhost)" in admin.get(path).text
    wrong = {**place, "address": "https://zotero.example/", "user": "", "password": ""}
    assert admin.send(f"{path}/remote", wrong).status_code == 400
    admin.send(f"{path}/remove")


@pytest.mark.needs_wings("web_pages")
def test_folders_and_pages_are_added_and_cut_as_wanted(admin: AdminBrowser, tmp_path: Path) -> None:
    library = admin.server.services.library
    admin.send("/admin/collections", {"name": "Harbour"})
    harbour = library.collections.find("Harbour")
    path = f"/admin/collections/{harbour.collection_id}"
    admin.get(path)
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "pier.md").write_text("The pier is closed in winter.")
    admin.send(f"{path}/folder", {"folder": str(tmp_path / "papers")})
    admin.send(f"{path}/links", {"urls": "http://127.0.0.1:8009/a\n", "pages": "7"})
    folder, links = sorted(
        (s for s in library.sources.all() if s.collection_id == harbour.collection_id),
        key=lambda source: source.links is not None,
    )
    assert folder.path == tmp_path / "papers"
    assert links.links
    assert links.links.page_limit == 7
    fields = {"method": "words", "most": "200", "overlap": "8", "embedder": "bundled:multilingual"}
    admin.send(f"{path}/cutting", fields)
    cut = library.collections.find("Harbour")
    assert (cut.chunking.method, cut.chunking.max_tokens, cut.chunking.overlap_tokens) == (
        "words", 200, 8,
    )  # fmt: skip
    assert cut.embedder == "bundled:multilingual"
    shown = admin.get(path).text
    assert 'value="words" selected' in shown
    for wrong in ({"folder": "papers"}, {"folder": str(tmp_path / "none")}):
        assert admin.send(f"{path}/folder", wrong).status_code == 400
    assert admin.send(f"{path}/cutting", {**fields, "embedder": "/etc"}).status_code == 400
    assert admin.send(f"{path}/links", {"urls": "", "pages": "7"}).status_code == 400
    admin.send(f"{path}/remove")


def test_an_assistant_is_made_changed_and_deleted(admin: AdminBrowser) -> None:
    services = admin.server.services
    papers = services.library.collections.all()[0]
    path = "/admin/assistants"
    admin.get(path)
    fields = {"name": "Keeper", "instructions": "Briefly.\r\nIn English.", "filters": "type:md",
              "collection": papers.collection_id, "answers": "is_open"}  # fmt: skip
    assert "“Keeper” was made." in text_of(admin.send(path, fields).text)
    keeper = services.chat.assistants.find("keeper")
    assert (keeper.instructions, keeper.filters) == ("Briefly.\nIn English.", "type:md")
    assert (keeper.collection_ids, keeper.is_open, keeper.uses_memory) == (
        (papers.collection_id,), True, False,
    )  # fmt: skip
    shown = admin.get(f"{path}/{keeper.assistant_id}").text
    assert "In English.</textarea>" in shown
    assert "“lamps” is not a filter" in text_of(
        admin.send(f"{path}/{keeper.assistant_id}", {"name": "Keeper", "filters": "lamps"}).text
    )
    admin.send(f"{path}/{keeper.assistant_id}", {"name": "Guide"})
    changed = services.chat.assistants.find("guide")
    assert (changed.instructions, changed.collection_ids, changed.is_open) == ("", (), False)
    admin.send(f"{path}/{keeper.assistant_id}/delete")
    assert services.chat.assistants.all() == []
    assert admin.send(path, {"name": ""}).status_code == 400


@pytest.mark.usefixtures("open_indexed")
@pytest.mark.slow
def test_an_endpoint_is_added_tested_used_and_removed(
    admin: AdminBrowser, endpoint: ChatServer
) -> None:
    models = admin.server.services.chat.models
    admin.get("/admin/endpoints")
    secret = "sk-canary-31337"
    with ChatServer() as other:
        other.wanted_key = secret
        added = admin.send("/admin/endpoints", {
            "endpoint": other.base_url, "model": "test-model", "key": secret,
        })  # fmt: skip
        assert other.base_url in added.text
        assert models.endpoint.base_url == endpoint.base_url
        tested = admin.send("/admin/endpoints/test", {"endpoint": other.base_url})
        assert "<code>test-model</code>" in tested.text
        used = admin.send("/admin/endpoints", {"endpoint": other.base_url, "is_used": "yes"})
        assert models.endpoint.base_url == other.base_url
        assert f"test-model at {models.endpoint.label}" in text_of(admin.get("/admin").text)
        asked = admin.send("/admin/endpoints/remove", {"endpoint": other.base_url})
        assert models.endpoint.base_url == other.base_url, "it asks first"
        fields = {"endpoint": other.base_url, "sure": "yes"}
        gone = admin.send("/admin/endpoints/remove", fields)
        assert "and its key were removed" in gone.text
        assert not models.has_key(other.base_url)
    assert all(secret not in page.text for page in (added, tested, used, asked, gone))
    refused = admin.send("/admin/endpoints", {"endpoint": "nobody"})
    assert "There is no provider “nobody”." in refused.text


@pytest.mark.usefixtures("open_indexed")
@pytest.mark.slow
def test_files_are_uploaded(admin: AdminBrowser) -> None:
    library = admin.server.services.library
    (collection,) = library.collections.all()
    path = f"/admin/collections/{collection.collection_id}"
    assert 'enctype="multipart/form-data"' in admin.get(path).text
    files = [("files", ("../tower.md", b"The tower is climbed by the keeper.")),
             ("files", ("well.md", b"The well is deep."))]  # fmt: skip
    sent = admin.client.post(
        f"{path}/upload", data={"form_key": admin.form_key}, files=files,
        headers={"origin": admin.server.address},
    )  # fmt: skip
    assert "2 files are read now" in sent.text
    library.indexing.wait_until_idle(30)
    assert {"tower.md", "well.md"} <= {d.title for d in library.documents.all()}
    with admin.server.client() as client:
        asked = {"question": "By whom is the tower climbed?"}
        answer = client.post("/api/v1/ask", json=asked).json()
    # Not by the name that tells contents apart.
    assert answer["text"].startswith("*tower.md*: ")
    forged = admin.client.post(
        f"{path}/upload", data={"form_key": "guessed"}, files=files,
        headers={"origin": admin.server.address},
    )  # fmt: skip
    assert forged.status_code == 403
    assert admin.send(f"{path}/upload", {"files": ""}).status_code == 200


@pytest.mark.usefixtures("open_indexed")
@pytest.mark.slow
def test_settings_are_changed_while_the_server_runs(admin: AdminBrowser) -> None:
    services, path = admin.server.services, "/admin/settings"
    services.wing(ServerSwitch).hold({"port": 0, "host_names": ("said.example",)})
    shown = admin.get(path).text
    assert "said.example" in shown, "what the command line says"
    assert "server.port" not in shown
    for key, value in (
        ("server.logs_text", "on"),
        ("server.origins", "https://a.example, https://b.example"),
        ("server.host_names", "other.example"),
        ("retrieval.room", "fast"),
    ):
        assert f"{key} is “{value}”" in admin.send(path, {"key": key, "value": value}).text
    settings = services.chat.models.settings
    assert settings.server.logs_text
    assert settings.server.origins == ("https://a.example", "https://b.example")
    assert settings.retrieval.room == "fast"
    assert "other.example" not in admin.client.get(path, params={"words": "host_names"}).text
    for key, value, status in (
        ("server.filters", "no-such-filter", 400),
        ("retrieval.room", "vast", 400),
        ("server.port", "1", 400),
        ("server.is_on", "off", 400),
    ):
        assert admin.send(path, {"key": key, "value": value}).status_code == status
    assert admin.get(path).status_code == 200


@pytest.mark.slow
@pytest.mark.needs_wings("web_pages")
def test_a_crawl_says_when_it_runs_and_what_it_was_refused(admin: AdminBrowser) -> None:
    library = admin.server.services.library
    source = library.sources.add_links(WebLinks(("http://127.0.0.1/harbour",), 5, 0.0))
    library.indexing.wait_until_idle(30)
    admin.get("/admin/crawls")
    page = admin.send(f"/admin/crawls/{source.source_id}/run")
    assert "is fetched now" in page.text
    library.indexing.wait_until_idle(30)
    listed = text_of(admin.get("/admin/crawls").text)
    assert "only on request" in listed
    refused = admin.get(f"/admin/crawls/{source.source_id}").text
    assert "1–1 of 1" in refused
    report = library.sources.crawls()[source.source_id]
    said = text_of(refused)
    assert "Last fetching" in said
    assert report.state.value in said
    assert report.refused
    assert report.refused[0].reason in said
    library.sources.remove(source.source_id)
    library.indexing.wait_until_idle(30)


@pytest.mark.everyday
def test_the_log_is_searched_and_its_text_is_shown_where_it_is_kept(
    serve: Serve, endpoint: ChatServer
) -> None:
    with AdminBrowser(serve(logs_text=True)) as admin:
        check_log(admin)


def check_log(admin: AdminBrowser) -> None:
    asked = {"model": "desktop-rag", "messages": [{"role": "user", "content": HOSTILE + " lamp?"}]}
    for secret in (admin.server.token(), "drag-wrong"):
        with admin.server.client(secret) as client:
            client.post("/v1/chat/completions", json=asked)
    admin.log_in()

    def shown(**query: str) -> str:
        return text_of(admin.client.get("/admin/log", params=query).text)

    whole = shown(kind="answer")
    assert "characters asked" in whole
    assert HOSTILE in whole
    assert "The lamp is lit at dusk" in whole
    assert "401" in shown(kind="refused")
    assert "401" not in shown(kind="answer")
    assert "No request matches." in shown(kind="refused", words="lamp")
    token = TokenBook(admin.server.services.home.tokens).all()[0]
    assert "200" in shown(token=token.token_id)
    assert "No request matches." in shown(page="3")
    assert "test-model" in shown(kind="calls")
    usage = text_of(admin.get("/admin/usage").text)
    assert re.search(r"Token\s+Requests.*token 0\s+1\s+1\s+0\s+0\s+\d", usage, re.DOTALL)
    assert "without a valid token" in usage


@pytest.mark.slow
def test_only_lengths_are_in_the_log_unless_it_is_switched_on(
    admin: AdminBrowser, endpoint: ChatServer
) -> None:
    body = {"model": "desktop-rag", "messages": [{"role": "user", "content": "When is it lit?"}]}
    with admin.server.client() as client:
        client.post("/v1/chat/completions", json=body)
    # A request is written down once its answer is out.
    until(lambda: "15 characters asked" in text_of(admin.get("/admin/log").text))
    assert "When is it lit" not in text_of(admin.get("/admin/log").text)


@pytest.mark.slow
@pytest.mark.needs_wings("web_pages")
def test_an_admin_lets_a_collection_fetch_from_the_local_network(admin: AdminBrowser) -> None:
    library = admin.server.services.library
    (collection,) = library.collections.all()
    path = f"/admin/collections/{collection.collection_id}"
    admin.get(path)
    assert admin.send(f"{path}/hosts", {"hosts": "not a host at all !"}).status_code == 400
    admin.send(f"{path}/hosts", {"hosts": "wiki.example\r\n10.1.0.0/16"})
    assert library.collections.all()[0].intranet_hosts == ("wiki.example", "10.1.0.0/16")


@pytest.mark.usefixtures("open_indexed")
@pytest.mark.slow
def test_foreign_text_stays_text(admin: AdminBrowser, tmp_path: Path) -> None:
    services = admin.server.services
    name = "x<img src=x onerror=alert(1)>.md"
    add_texts(services, tmp_path / "hostile", {name: f"# {HOSTILE}\n\n{HOSTILE}"})
    collection = services.library.collections.add(HOSTILE)
    admin.get("/admin/tokens")
    admin.send("/admin/tokens", {"name": HOSTILE, "scope": "ask", "origins": HOSTILE})
    hostile = next(d for d in services.library.documents.all() if "onerror" in d.path.name)
    shown = 0
    for path in ("documents", f"documents/{hostile.document_id}", "tokens", "models", "collections",
                 f"documents?name={HOSTILE}&state={HOSTILE}",
                 f"collections/{collection.collection_id}"):  # fmt: skip
        page = admin.get(f"/admin/{path}").text
        assert "<img" not in page
        assert not re.search(r"<[^>]*\son\w+=", re.sub(r'"[^"]*"', '""', page))
        shown += HOSTILE in text_of(page)
    assert shown >= 5


@pytest.mark.slow
def test_the_writer_of_pages_lets_nothing_through() -> None:
    assert tag("a", HOSTILE, href="javascript:alert(1)") == f"<a>{tag('b', HOSTILE)[3:-4]}</a>"
    assert "href" not in tag("a", "x", href="//evil.example")
    assert "href" not in tag("a", "x", href="data:text/html,x")
    written = tag("p", "<b>")
    assert tag("p", f"{written}!") == "<p>&lt;p&gt;&amp;lt;b&amp;gt;&lt;/p&gt;!</p>"
    assert not isinstance(written + "<b>", Html)
    for name, attributes in (("script", {}), ("p", {"onclick": "x"}), ("p", {"style": "x"})):
        with pytest.raises(ValueError, match="the pages have no"):
            tag(name, **attributes)


@pytest.mark.slow
def test_only_the_writer_makes_markup() -> None:
    serve = Path(__file__).parents[4] / "desktop_rag" / "features" / "server"
    makers = {p.name for p in serve.rglob("*.py") if re.search(r"\bHtml\(", p.read_text())}
    assert makers == {"html_writer.py"}
