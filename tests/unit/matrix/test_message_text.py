"""Foreign text in messages is text, and only sources are links."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.features.matrix.message_text import (
    LinkedSource,
    answer_text,
    content_of,
    edit_of,
    in_thread,
    message_link,
    plain,
)

SOURCE = LinkedSource(1, "The <lamp>", "page 3", 'https://wiki.example/?a="&b')
HOSTILE = (
    "<img src=x onerror=y>",
    "[a](javascript:alert)",
    "![a](http://evil.example/x.png)",
    "<http://evil.example>",
    "[a]: http://evil.example\n\n[a]",
    "<script>x</script>",
    "[1](http://evil.example)",
)


class Tags(HTMLParser):
    """The tags of a text, and the addresses of its links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: set[str | None] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links |= {value for name, value in attrs if name == "href"}
        assert all(name in ("href", "start", "style", "class") for name, _ in attrs)


ALLOWED = {
    "p", "br", "a", "strong", "em", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "table",
    "thead", "tbody", "tr", "th", "td", "h1", "h2", "h3", "h4", "h5", "h6",
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_of_models_and_documents_stays_text(text: str) -> None:
    source = LinkedSource(1, text, text, SOURCE.address)
    found = Tags(answer_text(f"{text} [1]", [source], [text]).html)
    assert found.tags <= ALLOWED
    assert found.links == {SOURCE.address}


@given(st.text(alphabet='<>[]()!"&`*_#|:/ \nhtp12x', max_size=80))
def test_no_text_makes_another_link(text: str) -> None:
    found = Tags(answer_text(text, [SOURCE]).html)
    assert found.links == {SOURCE.address}
    assert found.tags <= ALLOWED


def test_numbers_are_links_to_their_sources_but_not_in_code() -> None:
    html = answer_text("Lit [1, 2] and `[1]`.", [SOURCE]).html
    assert html.count("<a ") == 2
    assert "[2]" in html
    assert "<code>[1]</code>" in html


def test_a_long_answer_is_cut() -> None:
    content = content_of(answer_text("word " * 20_000, [SOURCE]))
    assert len(content["body"]) < 15_000
    assert "too long" in content["body"]


def test_an_edit_is_no_mention_and_keeps_the_text() -> None:
    content = in_thread(content_of(plain("a\nb <c>")), "$root", "$asked")
    assert content["formatted_body"] == "a<br>b &lt;c&gt;"
    assert content["m.relates_to"]["m.in_reply_to"] == {"event_id": "$asked"}
    edit = edit_of(content_of(plain("new")), "$1")
    assert (edit["body"], edit["m.new_content"]["body"]) == ("* new", "new")
    assert edit["m.mentions"] == edit["m.new_content"]["m.mentions"] == {}


def test_a_link_to_a_message_is_quoted() -> None:
    link = message_link("!a/b:here", "$c#d")
    assert link == "https://matrix.to/#/%21a%2Fb%3Ahere/%24c%23d?via=here"
