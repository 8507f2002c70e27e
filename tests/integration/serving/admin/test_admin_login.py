"""Who gets into the admin page, and what keeps others out."""

import re
from collections.abc import Iterator

import httpx2
import pytest

from desktop_rag.features.server.access.access_tokens import TokenBook, TokenScope, new_token
from desktop_rag.features.server.access.sessions import IDLE_S, Session, Sessions
from desktop_rag.features.server.services import ServerSwitch
from desktop_rag.features.server.values.access_values import TokenWish
from tests.integration.serving.admin.admin_browser import AdminBrowser
from tests.integration.serving.conftest import Serve, Server, local_client

pytestmark = pytest.mark.usefixtures("one_library")

POLICY = (
    "default-src 'none'; style-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
TOKEN, _ = new_token(TokenWish("name", ("admin",)))


@pytest.fixture
def browser(server: Server) -> Iterator[AdminBrowser]:
    """A browser that has not logged in."""
    with AdminBrowser(server) as found:
        yield found


def title_of(answer: httpx2.Response) -> str:
    """The heading of a page."""
    found = re.search(r"<h1>(.*?)</h1>", answer.text)
    assert found
    return found[1]


@pytest.mark.slow
def test_only_an_admin_token_logs_in(browser: AdminBrowser) -> None:
    server = browser.server
    assert title_of(browser.get("/admin/tokens")) == "Log in"
    for secret, status in (("drag-wrong", 401), ("", 401), (server.token(TokenScope.WRITE), 403)):
        refused = browser.log_in(secret)
        assert (refused.status_code, title_of(refused)) == (status, "Log in")
    limited = server.token(TokenScope.ADMIN, collection_ids=("one",))
    assert browser.log_in(limited).status_code == 403
    assert not browser.client.cookies
    assert title_of(browser.log_in()) == "Overview"


@pytest.mark.slow
def test_the_cookie_is_for_this_page_alone_and_tells_nothing(browser: AdminBrowser) -> None:
    secret = browser.server.token(TokenScope.ADMIN)
    browser.client.follow_redirects = False
    answer = browser.log_in(secret)
    flags = {part.strip() for part in answer.headers["set-cookie"].split(";")[1:]}
    assert flags == {"HttpOnly", "Path=/admin", "SameSite=strict"}
    assert secret not in str(answer.headers)
    browser.client.follow_redirects = True
    page = browser.get("/admin")
    assert secret not in page.text
    assert browser.client.cookies
    (name,) = browser.client.cookies
    home = browser.server.services.home.root
    kept = [browser.client.cookies[name].encode(), secret.encode()]
    assert not [
        p for p in home.rglob("*") if p.is_file() and any(k in p.read_bytes() for k in kept)
    ]


@pytest.mark.slow
def test_behind_a_proxy_with_tls_the_cookie_crosses_no_network_in_plain_sight(serve: Serve) -> None:
    server = serve(public_address="https://rag.example")
    sent = {"host": "rag.example", "origin": "https://rag.example"}
    with local_client(
        base_url=f"http://127.0.0.1:{server.services.wing(ServerSwitch).port}"
    ) as page:
        token = {"token": server.token(TokenScope.ADMIN)}
        assert (
            "; Secure" in page.post("/admin/login", data=token, headers=sent).headers["set-cookie"]
        )


@pytest.mark.slow
def test_every_page_says_what_browsers_must_not_do(browser: AdminBrowser) -> None:
    pages = [browser.get("/admin/login"), browser.log_in(), browser.get("/admin/nothing"),
             browser.send("/admin/tokens", {"form_key": "wrong"})]  # fmt: skip
    assert [page.status_code for page in pages] == [200, 200, 404, 403]
    for page in pages:
        assert page.headers["content-security-policy"] == POLICY
        assert page.headers["cache-control"] == "no-store"
        assert "<script" not in page.text
        assert "style=" not in page.text
    assert browser.get("/admin/admin.css").headers["content-type"].startswith("text/css")


@pytest.mark.slow
def test_a_form_needs_its_key_and_the_origin_of_the_server(browser: AdminBrowser) -> None:
    browser.log_in()
    before = len(TokenBook(browser.server.services.home.tokens).all())
    browser.get("/admin/tokens")
    fields = {"name": "mine", "scope": "ask", "rate": "1", "days": "0"}
    assert browser.send("/admin/tokens", fields | {"form_key": ""}).status_code == 403
    assert browser.send("/admin/tokens", fields | {"form_key": "ä"}).status_code == 403
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
        assert browser.send("/admin/tokens", fields, origin=origin).status_code == 403
    without = browser.client.post("/admin/tokens", data=fields | {"form_key": browser.form_key})
    assert without.status_code == 403
    as_json = browser.client.post(
        "/admin/tokens", json=fields, headers={"origin": browser.server.address}
    )
    assert as_json.status_code == 415
    assert len(TokenBook(browser.server.services.home.tokens).all()) == before
    assert browser.send("/admin/tokens", fields).status_code == 200


@pytest.mark.slow
def test_an_origin_that_may_use_the_api_may_not_use_the_pages(browser: AdminBrowser) -> None:
    origin = "https://wiki.example"
    secret = browser.server.token(TokenScope.ADMIN, origins=(origin,))
    assert browser.send("/admin/login", {"token": secret}, origin=origin).status_code == 403
    browser.log_in(secret)
    refused = browser.client.get("/admin/tokens", headers={"origin": origin})
    assert refused.status_code == 403
    assert "access-control-allow-credentials" not in refused.headers


@pytest.mark.slow
def test_a_revoked_token_ends_the_session(browser: AdminBrowser) -> None:
    browser.log_in()
    assert title_of(browser.get("/admin/documents")) == "Documents"
    book = TokenBook(browser.server.services.home.tokens)
    book.revoke(book.all()[0].token_id)
    assert title_of(browser.get("/admin/documents")) == "Log in"
    assert title_of(browser.send("/admin/documents/failed")) == "Log in"


@pytest.mark.slow
def test_logging_out_ends_the_session_for_good(browser: AdminBrowser) -> None:
    browser.log_in()
    (name,) = browser.client.cookies
    kept = browser.client.cookies[name]
    browser.get("/admin")
    assert title_of(browser.send("/admin/logout")) == "Log in"
    assert not browser.client.cookies
    browser.client.cookies.set(name, kept, path="/admin")
    assert title_of(browser.get("/admin")) == "Log in"


@pytest.mark.slow
def test_guessing_is_slowed_down(browser: AdminBrowser) -> None:
    statuses = [browser.log_in(f"drag-{n}").status_code for n in range(30)]
    assert (statuses[0], statuses[-1]) == (401, 429)
    assert title_of(browser.log_in()) == "Overview", "the right token is never locked out"


@pytest.mark.slow
def test_a_session_ends_after_a_rest_and_after_a_day_of_work() -> None:
    now = [0.0]
    sessions = Sessions(lambda _: TOKEN, clock=lambda: now[0])
    session_id = sessions.open(Session(TOKEN))
    session = sessions.find(session_id)
    for _ in range(5):
        now[0] += IDLE_S - 1
        assert sessions.find(session_id) is session
    now[0] += IDLE_S
    assert sessions.find(session_id) is None
    session_id = sessions.open(Session(TOKEN))
    while now[0] < 12 * 3600 and sessions.find(session_id):
        now[0] += IDLE_S / 2
    assert 8 * 3600 <= now[0] < 12 * 3600
    assert sessions.find("unknown") is None


@pytest.mark.slow
def test_the_session_after_many_others_still_opens() -> None:
    sessions = Sessions(lambda _: TOKEN)
    ids = [sessions.open(Session(TOKEN)) for _ in range(1_100)]
    assert sessions.find(ids[-1])
    assert sessions.find(ids[0]) is None
