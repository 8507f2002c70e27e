"""The chat in a page, as a browser shows it: streamed, cited, inert, and under a strict policy."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.app import Services
from desktop_rag.core.assistant import Assistant
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.widget.widget_routes import chat_script
from tests.browsing.browser import CHROMIUM, Browser, Page
from tests.indexed import OpenIndexed
from tests.integration.serving.conftest import TEXTS, Server
from tests.servers.chat_server import ChatServer
from tests.servers.web_server import Served, WebServer

pytestmark = [pytest.mark.skipif(not CHROMIUM, reason="needs chromium"), pytest.mark.timeout(180)]
QUESTION = "When is the lamp of the lighthouse lit?"
SCRIPT = "text/javascript"
HOSTILE = "<img src=x onerror=alert(1)>"
HOSTILE_ANSWER = f"""The lamp {HOSTILE} is lit at dusk [1].

<script>alert(2)</script> [a](javascript:alert(3)) [b](data:text/html,x) ![c](https://evil.example/c.png)

| {HOSTILE} | x |
|---|---|
| [d](vbscript:x) | y |
"""
FOLLOW_UP = "Who cleans the deck of the ferry?"
# What the page of the test says in short.
_SHORT = """
const root = () => chat.element.shadowRoot;
const one = (selector) => root().querySelector(selector);
const all = (selector) => [...root().querySelectorAll(selector)];
const text = (selector) => one(selector)?.textContent ?? "";
"""
PAGE = (
    '<!doctype html><html lang="en"><head><title>A page of others</title>'
    '<script src="/chat.js" defer></script><script src="/start.js" defer></script></head>'
    '<body><h1>Handbook</h1><div id="chat"></div></body></html>'
)
Embed = Callable[..., Page]


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    """The documents of the room, one of them of somebody who means ill."""
    told = TEXTS["lamp.md"].removeprefix("# The lamp\n\n")
    texts = {name: text for name, text in TEXTS.items() if name != "lamp.md"}
    texts[f"lamp {HOSTILE}.txt"] = f"{told}\n\n{HOSTILE}"
    return open_indexed(texts)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests; each opens pages of its own."""
    with Browser() as running:
        yield running


@pytest.fixture
def site() -> Iterator[WebServer]:
    """The web server of somebody else."""
    with WebServer() as running:
        yield running


@pytest.fixture
def embed(browser: Browser, site: WebServer, server: Server, endpoint: ChatServer) -> Embed:
    """Opens a page of another origin, under a strict policy, with a copy of the chat in it."""
    origin = site.url("/").rstrip("/")

    def opened(*, rate: int = 0, token: str | None = None, size: tuple[int, int] = (700, 900),
               scheme: str = "light", **options: Any) -> Page:  # fmt: skip
        secret = server.token(origins=(origin,), rate=rate) if token is None else token
        given = {"server": server.address, "element": "#chat", "token": secret} | options
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; "
            f"connect-src {server.address}; require-trusted-types-for 'script'"
        )
        headers = {"Content-Security-Policy": policy}
        start = f"globalThis.chat = DesktopRag.init({json.dumps(given)});{_SHORT}"
        site.pages["/page"] = Served(PAGE, headers=headers)
        site.pages["/chat.js"] = Served(chat_script(), SCRIPT)
        site.pages["/start.js"] = Served(start, SCRIPT)
        width, height = size
        return browser.open(site.url("/page"), width=width, height=height, scheme=scheme)

    assert endpoint.models
    return opened


def asked(page: Page, question: str = QUESTION) -> Page:
    """The page after an answer is complete, checked and followed by questions."""
    page.value(f"chat.ask({json.dumps(question)})")
    return page


def strangers(page: Page, *known: str) -> list[str]:
    """The requests that went elsewhere."""
    return [each for each in page.addresses() if not each.startswith((*known, "blob:"))]


def test_an_answer_comes_with_cards_of_its_sources_and_the_check_of_each_sentence(
    embed: Embed, endpoint: ChatServer, server: Server, site: WebServer
) -> None:
    lamp, cheese = "😀 The lamp of the lighthouse is lit at dusk by the keeper", "Cheese is sold"
    endpoint.answer = f"{lamp} [1]. {cheese} on Mondays [1]."
    page = asked(embed())
    assert page.value("all('.cite').map((each) => each.textContent)") == ["1", "1"]
    card = "one('.source')"
    assert HOSTILE in page.value(f"{card}.querySelector('.name').textContent")
    assert "lit at dusk" in page.value(f"{card}.querySelector('blockquote').textContent")
    assert page.value("all('.sign')[0].ariaLabel") == "Backed by sources"
    prose = page.value("one('.text').textContent")
    assert prose == f"{lamp} 1✓. {cheese} on Mondays 1?."
    assert "○" not in page.value("text('.summary')")
    page.value("all('.sign')[1].click()")
    assert cheese in page.value("text('.claim')")
    # The links lead to the marked passage, by the name at which the page reaches the server.
    address = page.value(f"{card}.querySelector('a').href")
    assert address.startswith(f"{server.address}/source/")
    with server.client("") as client:
        assert "<mark>" in client.get(address).text
    assert page.complaints() == []
    assert strangers(page, site.url("/"), server.address) == []


def test_a_reader_without_eyes_or_mouse_is_served(embed: Embed, endpoint: ChatServer) -> None:
    page = embed()
    page.value("one('textarea').focus()")
    page.type(QUESTION)
    page.press("Enter", 13, text="\r")
    page.wait("chat.told.textContent.startsWith('Answer: The lamp')")
    assert page.value("one('[role=log]').ariaLabel") == "Conversation"
    assert page.value("root().activeElement === one('textarea')")
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    named = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in tree
        if not node.get("ignored")
    ]
    wanted = {"button", "textbox", "checkbox", "link", "region"}
    assert [each for each in named if each[0] in wanted and not each[1]] == []
    assert ("textbox", "Ask a question…") in named
    page.value("one('.cite').focus()")
    page.press("Enter", 13, text="\r")
    assert page.value("root().activeElement.classList.contains('source')")
    # The check may have come meanwhile, and made the citation anew.
    page.wait("chat.turns[0].isOver && one('.sign')")
    assert page.value("root().activeElement.classList.contains('source')")
    page.value("one('.back').click()")
    assert page.value("root().activeElement.classList.contains('cite')")
    assert endpoint.chats


def test_foreign_text_stays_text(
    embed: Embed, endpoint: ChatServer, server: Server, site: WebServer
) -> None:
    endpoint.answer = HOSTILE_ANSWER
    page = embed()
    page.value("globalThis.alert = () => violations.push('alert')")
    asked(page, f"When is the lamp lit? {HOSTILE}")
    # Also where the answer is only a part of one.
    endpoint.mode = "cut"
    asked(page)
    assert page.value("text('.text').includes('script>alert(2)')")
    assert page.value("text('.text').includes('javascript:alert(3))')")
    assert page.value("all('script, img, iframe, style, [style], [onerror]').length") == 0
    links = page.value("all('a').map((each) => [each.href, each.rel, each.target])")
    assert links
    for href, rel, target in links:
        assert href.startswith((server.address, "https://evil.example/c.png"))
        assert (rel, target) == ("noopener noreferrer", "_blank")
    assert page.complaints() == []
    assert strangers(page, site.url("/"), server.address) == []


def test_the_next_question_is_offered_and_may_stay_with_the_same_sources(
    embed: Embed, endpoint: ChatServer
) -> None:
    endpoint.first_answers = ["The lamp is lit at dusk [1]."]
    endpoint.answer = FOLLOW_UP
    page = asked(embed())
    page.wait("one('.next')")
    assert page.value("text('.next button')") == FOLLOW_UP
    endpoint.answer = "The lamp is not a deck [1]."
    assert not page.value("one('.same input').checked")
    page.value("one('.same input').click()")
    page.value("one('.next button').click()")
    page.wait("all('.turn').length === 2 && !chat.writing")
    read = page.value("chat.turns[1].sources.map((each) => each.path)")
    assert {path.split("/")[-1] for path in read} == {f"lamp {HOSTILE}.txt"}
    *_, sent = page.sent()
    assert [turn["content"] for turn in sent["history"]] == [
        QUESTION,
        "The lamp is lit at dusk [1].",
    ]
    page.value("chat.clear()")
    assert page.value("all('.turn').length") == 0
    assert page.value("one('.same').hidden")


def test_an_answer_is_stopped_and_asked_again(embed: Embed, endpoint: ChatServer) -> None:
    endpoint.mode = "stall"
    page = embed()
    page.value(f"void chat.ask({json.dumps(QUESTION)})")
    page.wait("text('.text').includes('lamp')")
    assert page.value("one('.send').ariaLabel") == "Stop"
    page.value("one('.send').click()")
    page.wait("one('.box')")
    assert "You stopped the answer" in page.value("text('.answer')")
    assert endpoint.has_lost_client.wait(30), "the model is not left writing"
    endpoint.mode = "answer"
    page.value("one('.box button').click()")
    page.wait("text('.text') && !chat.writing && one('.cite')")
    assert page.value("all('.turn').length") == 1
    assert "You stopped" not in page.value("text('.answer')")


@pytest.mark.everyday
def test_failures_are_told_with_a_way_out(
    embed: Embed, endpoint: ChatServer, server: Server
) -> None:
    page = asked(asked(embed(rate=1)), "And when is it cleaned?")
    assert "Too many questions" in page.value("text('[role=alert]')")
    assert "Ask again in" in page.value("text('[role=alert] button')")
    assert page.value("one('[role=alert] button').disabled")
    page = asked(embed(token="drag-wrong"))
    assert "no access" in page.value("text('[role=alert]')")
    page = asked(embed(userToken="of.nobody.known"))
    assert "no access" in page.value("text('[role=alert]')")
    endpoint.mode = "cut"
    page = asked(embed())
    assert "The answer is not complete." in page.value("text('.answer')")
    assert page.value("one('.box button').textContent") == "Ask again"
    assert page.complaints() == []
    # The token is for another origin than that of the page.
    page = asked(embed(token=server.token(origins=("https://wiki.example",))))
    assert "--origin" in page.value("text('[role=alert]')")
    page = asked(embed(server="http://127.0.0.1:1"))
    assert "can't be reached" in page.value("text('[role=alert]')")


def test_a_page_chooses_language_theme_and_model(embed: Embed, server: Server) -> None:
    server.services.chat.assistants.add(Assistant("", "Ship's Cook", instructions="Be brief."))
    page = embed(language="de-AT", theme="dark", showAdvanced=True)
    page.wait("one('select')")
    assert page.value("one('h2').textContent") == "Die Dokumente fragen"
    assert page.value("chat.element.lang") == "de"
    shade = "getComputedStyle(one('.chat')).backgroundColor"
    assert page.value(shade) == "rgb(21, 24, 30)"
    page.value("chat.element.setAttribute('data-theme', 'auto')")
    assert page.value(shade) == "rgb(251, 251, 252)"
    page.value(
        "one('select').value = 'ship-s-cook', one('select').dispatchEvent(new Event('change'))"
    )
    assert page.value("chat.client.model") == "ship-s-cook"


def test_a_conversation_is_saved(embed: Embed, browser: Browser, tmp_path: Path) -> None:
    page = asked(embed())
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.call("Page.enable")
    page.value("chat.save()")
    page.wait("true")
    browser.until(lambda: list(tmp_path.glob("chat-*.md")))
    [saved] = tmp_path.glob("chat-*.md")
    text = saved.read_text("utf-8")
    assert text.startswith(f"# Ask the documents\n\n## {QUESTION}\n\nThe lamp is lit at dusk [1].")
    assert "- \\[1\\] [lamp \\<img src=x onerror=alert(1)\\>, line 1](http://127.0.0.1" in text, (
        text
    )
    page.value("chat.options.onSave = (it) => { globalThis.handed = it; }, chat.save()")
    assert page.value("handed.markdown") == text
    assert page.value("handed.turns[0].sources[0].n") == 1


@pytest.mark.everyday
def test_what_a_reader_thinks_of_an_answer_is_kept_once(
    embed: Embed, server: Server, browser: Browser
) -> None:
    feedback = server.services.chat.history.feedback.newest_first
    page = asked(embed())
    for name, said in (("like", ["liked"]), ("dislike", ["disliked", "liked"])):
        page.value(f"one('[value={name}]').click()")
        assert page.value(f"one('[value={name}]').ariaPressed") == "true"
        browser.until(lambda said=said: [event.subject for event in feedback()] == said)
        page.wait("chat.turns[0].toldId")
    assert len(server.services.chat.history.programs.of()) == 1
    assert page.complaints() == []


def test_whoever_may_write_puts_a_better_answer(
    embed: Embed, server: Server, site: WebServer
) -> None:
    page = asked(embed())
    assert page.value("text('footer .notes')") == "Answers may be wrong: check their sources."
    pen = '[aria-label="Rewrite the answer"]'
    assert not page.value(f"Boolean(one('button{pen}'))")
    origin = site.url("/").rstrip("/")
    page = asked(embed(token=server.token(TokenScope.ASK, TokenScope.WRITE, origins=(origin,))))
    page.value(f"one('button{pen}').click()")
    assert page.value(f"one('textarea{pen}').value") == "The lamp is lit at dusk [1]."
    page.value(f"one('textarea{pen}').value = 'At dusk, by the keeper.'")
    page.value("one('.claim button').click()")
    page.wait("text('.text') === 'At dusk, by the keeper.'")
    told = server.services.chat.history.feedback.newest_first()
    assert "rewritten" in {event.subject for event in told}
    assert page.complaints() == []


def test_the_chat_opens_in_the_corner_of_a_small_screen(embed: Embed) -> None:
    page = embed(element=None, size=(360, 640))
    assert page.value("one('.chat').hidden")
    page.value("one('.launch').click()")
    asked(page)
    assert page.value("one('.chat').getBoundingClientRect().width") == 360
    assert page.value("one('.log').scrollWidth <= one('.log').clientWidth")
    page.press("Escape", 27)
    assert page.value("one('.chat').hidden && root().activeElement === one('.launch')")


def test_the_demo_page_takes_a_token_and_answers(
    browser: Browser, server: Server, endpoint: ChatServer
) -> None:
    page = browser.open(f"{server.address}/demo")
    page.value("document.getElementById('token').focus()")
    page.type(server.token())
    page.press("Enter", 13, text="\r")
    page.wait("chat")
    page.value(_SHORT + "void chat.ask('When is the lamp lit?')")
    page.wait("text('.text').includes('dusk') && one('.source')")
    assert page.complaints() == []
    assert strangers(page, server.address) == []
    assert [each for each in page.addresses() if "drag-" in each] == []
    assert endpoint.chats
