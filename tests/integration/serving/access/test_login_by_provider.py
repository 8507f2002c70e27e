"""People log in to the server's own pages by a provider that speaks OpenID Connect."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import jwt
import pytest

from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.access_tokens import TokenBook, new_token
from desktop_rag.features.server.services import ServerSwitch
from desktop_rag.features.server.values.access_values import AccessRule, TokenWish
from desktop_rag.models.connection_states import ConnectionState
from tests.browsing.browser import CHROMIUM, Browser
from tests.integration.serving.conftest import Serve, Server, local_client
from tests.servers.login_provider import CLIENT, SECRET, LoginProvider

pytestmark = pytest.mark.usefixtures("one_library")
Browse = Callable[[], httpx2.Client]
# Where the chat of the page is.
_ROOT = "document.querySelector('#chat').firstChild.shadowRoot"
CONFIRMED = {"email": "Ann@Example.org", "email_verified": True}


@pytest.fixture
def provider() -> Iterator[LoginProvider]:
    with LoginProvider() as running:
        yield running


@pytest.fixture
def server(serve: Serve, provider: LoginProvider, tmp_path: Path) -> Server:
    """It knows the provider, and has a token for Ann and one for admins."""
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    found = serve(
        login_issuer=provider.issuer, login_client=CLIENT,
        login_secret_file=str(tmp_path / "secret"),
    )  # fmt: skip
    add(found, "Ann", ("ask", "read"), "ann@example.org")
    add(found, "Admins", ("admin",), "groups=library-admins")
    return found


@pytest.fixture
def browse(server: Server) -> Iterator[Browse]:
    """Opens browsers."""
    opened: list[httpx2.Client] = []

    def begin() -> httpx2.Client:
        opened.append(local_client(base_url=server.address, follow_redirects=True))
        return opened[-1]

    yield begin
    for each in opened:
        each.close()


def add(server: Server, name: str, allows: tuple[str, ...], *logins: str) -> None:
    token, _ = new_token(TokenWish(name, allows, requests_per_minute=0, logins=logins))
    TokenBook(server.services.home.tokens).add(token)


def asked(
    browser: httpx2.Client, server: Server, question: str = "When is the lamp lit?", **headers: str
) -> httpx2.Response:
    """What the chat of the page gets."""
    given = {"origin": server.address} | headers
    body = {"question": question}
    return browser.post("/chat/ask", json=body, headers={k: v for k, v in given.items() if v})


@pytest.mark.slow
def test_a_person_logs_in_and_asks_by_a_cookie_alone(
    server: Server, provider: LoginProvider, browse: Browse
) -> None:
    provider.person = {"sub": "ann"} | CONFIRMED
    browser = browse()
    page = browser.get("/chat")
    assert (page.status_code, page.url.path) == (200, "/chat")
    cookies = [c for each in page.history for c in each.headers.get_list("set-cookie")]
    (kept,) = [c for c in cookies if c.startswith("desktop-rag-") and "Path=/;" in f"{c};"]
    flags = {part.strip() for part in kept.split(";")[1:]}
    assert flags == {"HttpOnly", "Path=/", "SameSite=lax"}
    assert len(browser.cookies) == 1, "nothing of the login itself is left"
    answer = asked(browser, server)
    assert answer.status_code == 200
    assert "lit at dusk" in answer.text
    assert browser.get("/chat/models").status_code == 200
    assert browser.get("/admin").url.path == "/admin/login", "Ann is no admin"
    (form,) = provider.exchanged
    assert SECRET not in json.dumps({k: v for k, v in form.items() if k != "authorization"})
    browser.post("/logout", headers={"origin": server.address})
    assert not browser.cookies
    browser.cookies.set(*kept.partition(";")[0].split("=", 1))
    assert asked(browser, server).status_code == 401, "the session itself has ended"


@pytest.mark.slow
def test_an_admin_is_who_the_provider_says_is_one(
    server: Server, provider: LoginProvider, browse: Browse
) -> None:
    assert "/login?to=admin" in browse().get("/admin").text
    provider.person = {"sub": "eve", "groups": ["staff", "library-admins"]}
    browser = browse()
    page = browser.get("/login?to=admin")
    assert (page.status_code, page.url.path) == (200, "/admin")
    key = page.text.partition('name="form_key" value="')[2].partition('"')[0]
    out = {"form_key": key}
    assert browser.post("/admin/logout", data=out).status_code == 403, "without the origin"
    browser.post("/admin/logout", data=out, headers={"origin": server.address})
    assert not browser.cookies


@pytest.mark.slow
@pytest.mark.parametrize(
    "person",
    [
        {"sub": "bob", "email": "bob@example.org", "email_verified": True},
        {"sub": "ann", "email": "ann@example.org"},
        {"sub": "ann", "email": "ann@example.org", "email_verified": "yes"},
        {"sub": "ann@example.org", "name": "ann@example.org"},
        {"sub": "eve", "groups": "library-admins-not"},
        {"sub": "eve", "groups": [["library-admins"], None]},
    ],
)
def test_nobody_else_gets_in(
    server: Server, provider: LoginProvider, browse: Browse, person: dict[str, object]
) -> None:
    assert server.address
    provider.person = person
    browser = browse()
    page = browser.get("/login?to=admin")
    assert (page.status_code, page.url.path) == (403, "/login/back")
    assert not [name for name in browser.cookies if not name.endswith("-login")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another"},
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"iss": "http://127.0.0.1/realm"},
        {"exp": 1},
        {"exp": None},
        {"sub": ""},
    ],
)
def test_a_token_for_anything_else_is_refused(
    server: Server, provider: LoginProvider, browse: Browse, claims: dict[str, object]
) -> None:
    assert server.address
    provider.person, provider.claims = {"sub": "ann"} | CONFIRMED, claims
    assert browse().get("/chat").status_code == 502


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"state": "another"}, 403),
        ({"state": "ä"}, 403),
        ({"error": "access_denied"}, 403),
        ({"iss": "https://evil.example"}, 502),
        ({"code": "another"}, 502),
    ],
)
def test_an_answer_to_another_login_is_refused(
    server: Server, provider: LoginProvider, browse: Browse, answer: dict[str, str], status: int
) -> None:
    assert server.address
    provider.person, provider.answer = {"sub": "ann"} | CONFIRMED, answer
    assert browse().get("/chat").status_code == status


@pytest.mark.slow
def test_a_login_that_another_browser_began_is_refused(
    server: Server, provider: LoginProvider, browse: Browse
) -> None:
    provider.person = {"sub": "ann"} | CONFIRMED
    first = local_client(base_url=server.address)
    with first:
        begun = first.get("/login")
        link = local_client()
        with link:
            back = link.get(begun.headers["location"]).headers["location"]
    query = parse_qs(urlsplit(begun.headers["location"]).query)
    assert query["redirect_uri"] == [f"{server.address}/login/back"]
    assert query["code_challenge_method"] == ["S256"]
    assert browse().get(back).status_code == 403


@pytest.mark.slow
def test_a_login_leads_to_pages_of_this_server_only(
    server: Server, provider: LoginProvider, browse: Browse
) -> None:
    assert server.address
    provider.person = {"sub": "ann"} | CONFIRMED
    for to in ("https://evil.example", "//evil.example", "/admin", ""):
        assert browse().get("/login", params={"to": to}).url.path == "/chat"


@pytest.mark.slow
def test_the_cookie_is_no_use_to_other_pages(
    server: Server, provider: LoginProvider, browse: Browse
) -> None:
    provider.person = {"sub": "ann"} | CONFIRMED
    browser = browse()
    browser.get("/chat")
    assert asked(browser, server, origin="https://evil.example").status_code == 403
    assert asked(browser, server, origin="").status_code == 401
    assert asked(browser, server, authorization="Bearer drag-wrong").status_code == 401
    assert asked(browser, server).status_code == 200


@pytest.mark.slow
def test_a_revoked_token_ends_the_logins_with_it(
    server: Server, provider: LoginProvider, browse: Browse
) -> None:
    provider.person = {"sub": "ann"} | CONFIRMED
    browser = browse()
    browser.get("/chat")
    book = TokenBook(server.services.home.tokens)
    book.revoke(book.named("Ann").token_id)
    assert asked(browser, server).status_code == 401


@pytest.mark.slow
def test_new_keys_of_the_provider_are_fetched(
    server: Server, provider: LoginProvider, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server.address
    provider.person = {"sub": "ann"} | CONFIRMED
    assert browse().get("/chat").status_code == 200
    provider.new_key()
    assert browse().get("/chat").status_code == 502, "it was asked a moment ago"
    module = "desktop_rag.features.server.access.provider_login"
    monkeypatch.setattr(f"{module}._FRESH_S", 0.0)
    assert browse().get("/chat").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://wiki.example/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"jwks_uri": None},
    ],
)
def test_a_provider_that_can_not_be_trusted_is_not_used(
    server: Server, provider: LoginProvider, browse: Browse, said: dict[str, object]
) -> None:
    assert server.address
    provider.person, provider.said = {"sub": "ann"} | CONFIRMED, said
    # The rest fits what it says of itself.
    provider.answer = provider.claims = {"iss": str(said.get("issuer", provider.issuer))}
    assert browse().get("/chat").status_code == 502


@pytest.mark.slow
def test_the_list_of_connections_says_what_the_command_line_did(
    server: Server, provider: LoginProvider
) -> None:
    said = {each.kind.kind_id: each for each in server.services.connections()}
    assert said["server"].state is ConnectionState.ON
    assert said["login"].addresses == (provider.issuer,)


@pytest.mark.slow
def test_without_a_provider_nobody_logs_in(serve: Serve) -> None:
    server = serve()
    with local_client(base_url=server.address, follow_redirects=True) as browser:
        assert browser.get("/chat").status_code == 404
        assert "/login?" not in browser.get("/admin").text


@pytest.mark.slow
def test_who_logs_in_reads_what_an_application_lets_its_user_read(
    server: Server, provider: LoginProvider, browse: Browse, tmp_path: Path
) -> None:
    services = server.services
    (collection,) = services.library.collections.all()
    key = jwt.get_algorithm_by_name("RS256").to_jwk(provider.key.public_key(), as_dict=True)
    (tmp_path / "keys").write_text(json.dumps({"keys": [key]}))
    rule = AccessRule(
        collection.collection_id, str(tmp_path / "keys"), ("RS256",), provider.issuer, CLIENT,
        f"{provider.issuer}/rights",
    )  # fmt: skip
    rules = AccessRules(services.home.access_rules)
    rules.set(rule)
    provider.person, provider.readable = {"sub": "ann"} | CONFIRMED, "lamp.md"
    browser = browse()
    browser.get("/chat")
    assert "lit at dusk" in asked(browser, server).text
    assert "leaves at noon" not in asked(browser, server, "When does the ferry leave?").text
    rules.set(replace(rule, issuer="https://wiki.example"))
    answer = asked(browser, server)
    assert "lit at dusk" not in answer.text, "no user of the wiki"
    assert answer.status_code != 401, "the login itself holds"


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="needs chromium")
def test_a_browser_logs_in_asks_and_logs_out(server: Server, provider: LoginProvider) -> None:
    provider.person = {"sub": "ann"} | CONFIRMED
    with Browser() as browser:
        page = browser.open(f"{server.address}/chat", width=900, height=700)
        page.wait("document.querySelector('#chat')?.firstChild?.shadowRoot !== undefined")
        page.value(f"{_ROOT}.querySelector('textarea').focus()")
        page.type("When is the lamp lit?")
        page.press("Enter", 13, text="\r")
        page.wait(f"{_ROOT}.textContent.includes('lit at dusk')")
        page.value("document.querySelector('form button').click()")
        page.wait("document.querySelector('h1')?.textContent === 'desktop-rag'")
        assert page.complaints() == []


@pytest.mark.slow
def test_behind_a_proxy_with_tls_people_come_back_by_https(
    serve: Serve, provider: LoginProvider
) -> None:
    server = serve(
        login_issuer=provider.issuer, login_client=CLIENT, public_address="https://rag.example"
    )
    port = server.services.wing(ServerSwitch).port
    with local_client(base_url=f"http://127.0.0.1:{port}") as browser:
        begun = browser.get("/login", headers={"host": "rag.example"})
    query = parse_qs(urlsplit(begun.headers["location"]).query)
    assert query["redirect_uri"] == ["https://rag.example/login/back"]
    assert "; Secure" in begun.headers["set-cookie"]
