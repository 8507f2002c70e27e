"""What the admin page and the doctor say of the database server, if there is one."""

from collections.abc import Callable
from pathlib import Path
from threading import Event
from uuid import uuid4

import pytest

from desktop_rag import app
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.core.store_settings import StoreSettings
from desktop_rag.features.diagnosis.finding import State, subject_of
from desktop_rag.features.diagnosis.library_checks import check_database, check_library
from tests.engines import UNTESTED
from tests.indexed import index_texts
from tests.integration.serving.admin.admin_browser import AdminBrowser
from tests.integration.serving.admin.test_admin_pages import text_of
from tests.integration.serving.conftest import TEXTS, Serve

needs_server = pytest.mark.skipif("postgres" in UNTESTED, reason=UNTESTED.get("postgres", ""))
# The package that brings the server.
pytestmark = [pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR"), pytest.mark.slow]


@pytest.fixture
def is_on_server(request: pytest.FixtureRequest) -> bool:
    return getattr(request, "param", True)


@pytest.fixture
def services(
    home: Home, build_services: Callable[[], app.Services], is_on_server: bool
) -> app.Services:
    """Services over a library on the tests' server, or in a file."""
    if is_on_server:
        from tests.servers.postgres_server import address

        home.create()
        store = StoreSettings("postgres", address(), f"admin_{uuid4().hex[:12]}")
        save_settings(home.settings, Settings(store=store))
    return build_services()


@pytest.fixture
def indexed(services: app.Services, tmp_path: Path) -> app.Services:
    """Three documents, indexed on the server too."""
    return index_texts(services, tmp_path / "papers", TEXTS)


@needs_server
def test_the_page_shows_size_indexes_and_what_is_slow(serve: Serve) -> None:
    server = serve()
    server.services.chat.look_up("what is lit at dusk?", mode="hybrid", limit=5)
    with AdminBrowser(server) as browser:
        browser.log_in()
        assert 'href="/admin/database"' in browser.get("/admin").text
        page = text_of(browser.get("/admin/database").text)
    for said in ("PostgreSQL", "passages", "postings", "vectors", "not needed", "connections"):
        assert said in page
    assert "words" in page.partition("Slow searches")[2]
    assert "dusk" not in page
    assert "shared_preload_libraries = 'pg_stat_statements'" in page


@pytest.mark.parametrize("is_on_server", [False], indirect=True)
def test_a_library_in_a_file_has_no_such_page(serve: Serve) -> None:
    server = serve()
    with AdminBrowser(server) as browser:
        browser.log_in()
        assert 'href="/admin/database"' not in browser.get("/admin").text
        assert browser.get("/admin/database").status_code == 404
    subject = subject_of(server.services)
    assert not list(check_database(subject, Event()))
    assert [f.check for f in check_library(subject, Event())][-1] == "journal"


@needs_server
def test_the_doctor_says_the_same(indexed: app.Services) -> None:
    subject = subject_of(indexed)
    found = {each.check: each for each in check_database(subject, Event())}
    assert found["database"].title.startswith("PostgreSQL ")
    assert "passages" in found["database"].title
    assert "not needed" in found["vector index"].title
    assert found["slow statements"].state is State.NOT_CHECKED
    assert not any(each.needs_attention for each in found.values())
    # The journal beside the library is that of a file.
    assert [f.check for f in check_library(subject, Event())] == ["store", "index", "chats"]
