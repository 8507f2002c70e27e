"""The admin pages in a real browser, under the policy that they set."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.core.conversation import Feedback, Message, Role
from desktop_rag.core.domain import WebLinks
from desktop_rag.features.server.access.access_tokens import TokenScope
from tests.browsing.browser import CHROMIUM, Browser, Page
from tests.integration.serving.conftest import Serve, Server
from tests.servers.chat_server import ChatServer

pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="needs chromium"),
    pytest.mark.needs_wings("web_pages"),
]
# Where pictures are kept to be looked at.
PICTURES = os.environ.get("ADMIN_PICTURES", "")


@pytest.fixture
def page(serve: Serve, endpoint: ChatServer) -> Iterator[tuple[Server, Page]]:
    """A browser that has logged in to a server with something on every page."""
    server = serve(logs_text=True)
    fill(server)
    secret = server.token(TokenScope.ADMIN)
    with Browser() as browser:
        page = browser.open(f"{server.address}/admin/login", width=1280, height=900)
        page.value("document.querySelector('[name=token]').focus()")
        page.type(secret)
        page.press("Enter", 13, text="\r")
        page.wait("document.querySelector('h1')?.textContent === 'Overview'")
        yield server, page


def fill(server: Server) -> None:
    """Questions, refusals, feedback, a crawl, a hostile name."""
    services = server.services
    for secret in (server.token(), server.token(rate=1), "drag-wrong"):
        for question in ("When is the lamp lit?", "<b>Who</b> cleans it?"):
            with server.client(secret) as client:
                asked = {"role": "user", "content": question}
                body = {"model": "desktop-rag", "messages": [asked]}
                client.post("/v1/chat/completions", json=body)
    services.library.sources.add_links(WebLinks(("http://127.0.0.1/harbour",), 5, 24.0))
    services.library.collections.add("<img src=x onerror=alert(1)>")
    chat = services.engine.conversations.add("About the lamp", "")
    answer = Message("m", chat.conversation_id, Role.ASSISTANT, "At dusk.", 1.0, model="a-model")
    services.engine.conversations.add_message(answer)
    services.chat.history.set_feedback("m", Feedback.LIKED)
    services.library.indexing.wait_until_idle(30)


def test_every_page_works_without_a_complaint(page: tuple[Server, Page]) -> None:
    server, tab = page
    overview = tab.value("document.documentElement.outerHTML")
    paths = re.findall(r'<li><a href="(/admin[^"]*)"', overview)
    assert len(paths) >= 10
    (collection, *_) = server.services.library.collections.all()
    document = server.services.library.documents.all()[0]
    (crawl,) = [s for s in server.services.library.sources.all() if s.links]
    more = [f"/admin/collections/{collection.collection_id}", "/admin/prompts/summarise",
            f"/admin/documents/{document.document_id}", "/admin/log?kind=calls",
            f"/admin/crawls/{crawl.source_id}", "/admin/nothing",
            f"/admin/collections/{collection.collection_id}/remove"]  # fmt: skip
    for path in (*paths, *more):
        tab.go(server.address + path)
        assert tab.value("getComputedStyle(document.querySelector('main')).maxWidth") != "none"
        assert tab.value("document.body.scrollWidth <= innerWidth"), f"{path} is too wide"
        complaints = [c for c in tab.complaints() if "404" not in c]
        assert complaints == []
        take(tab, path)
    assert {a for a in tab.addresses() if not a.startswith(server.address)} == set()
    assert tab.value("document.cookie") == "", "no script could read the session"


def test_a_form_of_the_page_is_taken(page: tuple[Server, Page]) -> None:
    server, tab = page
    tab.go(f"{server.address}/admin/tokens")
    tab.value("document.querySelector('main [name=name]').focus()")
    tab.type("Browser")
    tab.press("Enter", 13, text="\r")
    tab.wait("document.querySelector('.secret')")
    assert tab.value("document.querySelector('.secret').textContent.startsWith('drag-')")
    assert tab.complaints() == []
    take(tab, "/admin/tokens/made")


def take(tab: Page, path: str) -> None:
    """Pictures in light, dark, narrow and with text twice as large, where they are wanted."""
    if not PICTURES:
        return
    name = re.sub(r"\W+", "-", path)[:40].strip("-")
    for look, width, height, scheme in (("light", 1280, 900, "light"), ("dark", 1280, 900, "dark"),
                                        ("narrow", 420, 900, "light")):  # fmt: skip
        tab.show(width, height, scheme)
        tab.picture(Path(PICTURES) / f"{name}-{look}.png")
    tab.show(1280, 900, "light")
