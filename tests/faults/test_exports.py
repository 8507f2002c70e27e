"""S-11, S-13: exported chats load nothing in any renderer, and show which claims are not backed.

The renderer here has raw HTML switched on and reads tables, as most do.
"""

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from desktop_rag.answer.conversations.conversation_file import export_text
from desktop_rag.core.claims import CheckedClaim, Claim, Verdict
from desktop_rag.core.conversation import (
    Attachment,
    Conversation,
    Message,
    MessageState,
    Role,
    SourceRef,
)
from desktop_rag.core.markup.inert_markdown import inert_file
from desktop_rag.core.parsed import Anchor

U = "http://127.0.0.1:9/a"
LOADING = [
    f"!![x]({U})",
    f"![x]({U})",
    f"\\![x]({U})",
    f"\\\\![x]({U})",
    f"![x][ref]\n\n[ref]: {U}",
    f"![ref]\n\n[ref]: {U}",
    f"![x\n]({U})",
    f"[![x]({U})]({U})",
    f'<img src="{U}">',
    f'\\<img src="{U}">',
    f'<IMG\nSRC="{U}">',
    f'<iframe src="{U}"></iframe>',
    f'<script src="{U}"></script>',
    f'<link rel="stylesheet" href="{U}">',
    f'<style>@import "{U}";</style>',
    f'<video poster="{U}"></video><object data="{U}"></object><embed src="{U}">',
    f'<svg><image href="{U}"/></svg>',
    f'<div style="background:url({U})">x</div>',
    f'<!-- --><img src="{U}">',
    f'<![CDATA[>]]><img src="{U}">',
    f"`` ` ``<img src={U}>`",
    f"- ```\n  <img src={U}>",
    f"> ```\n![x]({U})",
    "```",
    "~~~ x\n````",
    f"```\n```\n![x]({U})\n```",
    f"| a |\n|---|\n| ![x]({U}) |",
    f"    code\n![x]({U})",
    f"# ![x]({U})\n===\n![x]({U})",
    "![[secret.md]]",
    f"![[{U}]]",
]
HARMLESS = {
    *("h1", "h2", "p", "br", "strong", "em", "code", "pre", "ul", "ol", "li", "blockquote", "a"),
    *("table", "thead", "tbody", "tr", "th", "td", "hr", "h3", "h4", "h5", "h6", "s"),
}
TALK = Conversation("c", f"Lamps ![x]({U}) <img src={U}>", "", 5.0)


class Elements(HTMLParser):
    """The names of the elements on a page, their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def rendered(markdown: str) -> Elements:
    renderer = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return Elements(renderer.render(markdown))


def answer(text: str, *claims: Claim) -> Message:
    source = SourceRef(1, "d", f"/![x]({U})", f"<img src={U}>", Anchor(page=3), text, 0.5, text,
                       is_cited=True, query=text)  # fmt: skip
    return Message("a", "c", Role.ASSISTANT, text, 6.0, sources=(source,), model=text,
                   claims=claims, error_title=text, state=MessageState.FAILED)  # fmt: skip


def question(text: str) -> Message:
    return Message("q", "c", Role.USER, text, 5.0, attachments=(Attachment("1", text),))


@pytest.mark.parametrize("evil", LOADING)
def test_s13_markdown_loads_nothing_with_html_on(evil: str) -> None:
    page = rendered(export_text(TALK, [question(evil), answer(evil), answer("At dusk.")], ".md"))
    assert page.names <= HARMLESS
    assert page.attributes <= {"href", "title", "start", "style"}
    assert "At dusk." in page.text


@pytest.mark.parametrize("evil", LOADING)
def test_s13_no_image_or_tag_is_left_outside_fences(evil: str) -> None:
    """For renderers with other rules: embeds, other kinds of HTML, styles of words."""
    outside = re.sub(r"^(`{3,})\n.*?\n\1$", "", inert_file(evil), flags=re.S | re.M)
    assert not re.search(r"!\[|<[A-Za-z/!?]|style=|url\(", outside)


@pytest.mark.parametrize("first", LOADING)
def test_s13_no_answer_opens_the_code_of_the_next(first: str) -> None:
    """An unclosed fence would swallow the next one's opening, and set its content free."""
    second = f"```\n![x]({U}) <img src={U}>\n```"
    page = rendered(export_text(TALK, [answer(first), answer(second)], ".md"))
    assert page.names <= HARMLESS
    assert f"![x]({U}) <img src={U}>" in page.text


pieces = st.sampled_from(
    ["!", "[", "]", f"({U})", f"[r]: {U}", "<img src=x>", "</", "<!--", "-->", "`", "```", "~~~",
     "\n", "\n\n", "    ", "> ", "- ", "1. ", "\\", "|", "---", "#", "*", "x", "&lt;", "\r", "\t"]
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(st.lists(pieces, max_size=12).map("".join), min_size=1, max_size=3))
def test_s13_no_mixture_of_answers_loads_anything(texts: list[str]) -> None:
    page = rendered(export_text(TALK, [answer(text) for text in texts], ".md"))
    assert page.names <= HARMLESS


@pytest.mark.parametrize("evil", LOADING)
def test_s13_html_loads_nothing(evil: str) -> None:
    text = export_text(TALK, [question(evil), answer(evil)], ".html")
    body = Elements(text[text.index("<body>") :])
    assert body.names <= HARMLESS | {"body", "div"}
    assert body.attributes <= {"class", "style", "href", "title", "start"}
    assert "default-src 'none'" in text


def test_s13_code_and_formatting_stay() -> None:
    text = "A **list**:\n\n- `x < y`\n- one\n\n```java\nList<String> a = b![0];\n```\n\nEnd."
    page = rendered(export_text(TALK, [answer(text)], ".md"))
    assert {"strong", "li", "code", "pre"} <= page.names
    assert "List<String> a = b![0];" in page.text
    assert "x < y" in page.text


# --- claims ----------------------------------------------------------------------------------

SAID = "The lamp burns **oil** [1]. It is lit at noon. It has three wicks."


def claim(sentence: str, verdict: Verdict) -> Claim:
    start = SAID.index(sentence)
    checked = CheckedClaim(sentence, verdict, 0.1, None, (), "Nothing says so.")
    return Claim(start, start + len(sentence), checked)


CLAIMS = (
    claim("The lamp burns **oil** [1].", Verdict.SUPPORTED),
    claim("It is lit at noon.", Verdict.CONTRADICTED),
    claim("It has three wicks.", Verdict.NOT_IN_SOURCES),
)


@pytest.mark.parametrize("ending", [".md", ".html"])
def test_s13_claims_without_backing_are_marked(ending: str) -> None:
    text = export_text(TALK, [answer(SAID, *CLAIMS)], ending)
    said = rendered(text).text if ending == ".md" else Elements(text).text
    assert "It is lit at noon (✗ Contradicted by a source)." in said
    assert "It has three wicks (? Not found in the sources)." in said
    assert "burns oil [1]. It" in said


def test_s13_json_has_the_claims_with_their_verdicts() -> None:
    document = json.loads(export_text(TALK, [answer(SAID, *CLAIMS)], ".json"))
    stored = [Claim.from_json(fields) for fields in document["messages"][0]["claims"]]
    assert tuple(stored) == CLAIMS


def test_s13_a_claim_that_ends_with_code_leaves_the_code_whole() -> None:
    text = "It is set so:\n\n```\nwick = 3\n```\n\nEnd."
    end = text.index("\n\nEnd")
    checked = CheckedClaim(text[:end], Verdict.NOT_IN_SOURCES, 0.1, None, (), "")
    page = rendered(export_text(TALK, [answer(text, Claim(0, end, checked))], ".md"))
    assert "It is set so: (? Not found in the sources)" in page.text
    assert "wick = 3\n" in page.text
